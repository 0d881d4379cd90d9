/// The entities of a file of Core Data, as its table `Z_PRIMARYKEY` names them.
///
/// The rows of an entity are in the table of the root of its hierarchy, which is called `Z` and the root's name in capitals.
/// The names of attributes and the destinations of relations are only in the compiled model, which is not read.
struct CoreDataEntities {
  /// By their numbers.
  private var all: [Int64: Entity] = [:]
  /// The numbers of all entities of a hierarchy by that of its root, each in ascending order.
  private var members: [Int64: [Int64]] = [:]
  /// The entities whose names end with some words, by these in capitals: `MESSAGE` and `KIKMESSAGE` of `KikMessage`.
  private var namesakes: [String: [Int64]] = [:]

  struct Entity {
    let number: Int64
    let name: String
    /// The number of the entity that it inherits from; 0 for none.
    let parent: Int64
  }

  /// No model has hierarchies as deep; in a damaged file, they may be rings.
  private static let depthMax = 64
  /// The letters that a name has in common with an entity's at least.
  private static let namesakeMin = 3
  /// The bytes of the longest name.
  private static let nameMax = 200

  /// - Returns: nil if Core Data did not make the file.
  init?(_ database: SQLiteDatabase) throws {
    guard try database.isOfCoreData() else { return nil }
    let table = try SQLiteTable("Z_PRIMARYKEY", of: database)
    guard ["Z_ENT", "Z_NAME", "Z_SUPER"].allSatisfy({ table.column(named: $0) != nil }) else {
      return nil
    }
    try database.forEach("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
      let name = row.string(1)
      guard row.type(0) == .integer, (1...Self.nameMax).contains(name.utf8.count),
        !name.utf8.contains(0)
      else { return }
      let number = row.integer(0)
      all[number] = all[number] ?? Entity(number: number, name: name, parent: row.integer(2))
    }
    for number in all.keys.sorted() {
      guard let entity = all[number] else { continue }
      let root = root(of: number)?.number ?? number
      members[root, default: []].append(number)
      for ending in entity.name.wordEndings { namesakes[ending, default: []].append(number) }
    }
  }

  /// The entities that inherit from none, in the order of their numbers.
  var roots: [Entity] {
    members.keys.sorted().compactMap { all[$0] }
  }

  /// Returns the root of an entity's hierarchy; nil if there is no such entity.
  func root(of number: Int64) -> Entity? { chain(from: number).last }

  /// All entities of a root's hierarchy.
  func members(of root: Entity) -> [Entity] {
    (members[root.number] ?? []).compactMap { all[$0] }
  }

  /// The entity and all that inherit from it.
  func kinds(of entity: Entity) -> [Entity] {
    guard let root = root(of: entity.number) else { return [] }
    return members(of: root).filter { member in
      chain(from: member.number).contains { $0.number == entity.number }
    }
  }

  /// The entity and those that it inherits from, the root last.
  private func chain(from number: Int64) -> [Entity] {
    var chain: [Entity] = []
    var next = all[number]
    while let entity = next, chain.count < Self.depthMax {
      chain.append(entity)
      next = all[entity.parent]
    }
    return chain
  }

  /// Returns the one entity that a column is called like: `LASTMESSAGE` leads to a `KikMessage`. If the other end is a
  /// relation to many without an inverse, the number of its entity comes first: `4MEMBERS` leads to entity 4.
  ///
  /// - Returns: nil if there is none, or more than one.
  func namesake(of column: String) -> Entity? {
    guard column.utf8.count <= Self.nameMax else { return nil }
    let digits = column.prefix { ("0"..."9").contains($0) }
    if !digits.isEmpty { return Int64(digits).flatMap { all[$0] } }
    var ending = column[...]
    while ending.count >= Self.namesakeMin {
      if let numbers = namesakes[String(ending)] {
        let found = numbers.compactMap { all[$0] }
        let equal = found.filter { $0.name.uppercased() == ending }
        let best = equal.isEmpty ? found : equal
        return best.count == 1 ? best[0] : nil
      }
      ending = ending.dropFirst()
    }
    return nil
  }
}

extension String {
  /// The name, and its suffixes without the first words, in capitals.
  fileprivate var wordEndings: [String] {
    let letters = Array(self)
    var starts = [0]
    for place in letters.indices.dropFirst() {
      let isInCapitals = letters[place - 1].isUppercase
      let endsCapitals =
        isInCapitals && place + 1 < letters.count && letters[place + 1].isLowercase
      if letters[place].isUppercase, !isInCapitals || endsCapitals { starts.append(place) }
    }
    return starts.map { String(letters[$0...]).uppercased() }
  }
}
