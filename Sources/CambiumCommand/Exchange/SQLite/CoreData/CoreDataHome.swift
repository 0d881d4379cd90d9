/// A table with the rows of a root and of all entities that inherit from it.
struct CoreDataHome {
  let table: SQLiteTable
  let root: CoreDataEntities.Entity
  /// The entities that inherit from the root, each after its parent, which become its kinds.
  var kinds: [(entity: CoreDataEntities.Entity, parent: Int?)] = []
  /// The name of the view.
  let name: String
}

extension CoreDataHome {
  /// Adds the entities that inherit from the root, and from those.
  mutating func add(_ members: [CoreDataEntities.Entity]) {
    let children = Dictionary(grouping: members, by: \.parent)
    var left = [(entity: root, place: Int?.none)]
    // In a damaged file, entities may inherit from each other in a ring.
    var known: Set<Int64> = [root.number]
    while let parent = left.popLast() {
      for entity in children[parent.entity.number] ?? [] where known.insert(entity.number).inserted
      {
        left.append((entity, kinds.count))
        kinds.append((entity, parent.place))
      }
    }
  }

  /// Returns the places of a kind and of those that it is in, the outermost last; none for no kind.
  func line(of kind: Int?) -> [Int] {
    kind.map { Array(sequence(first: $0) { kinds[$0].parent }) } ?? []
  }

  /// The place of the kind that an entity is; nil for the root.
  func place(of entity: Int64) -> Int? { kinds.firstIndex { $0.entity.number == entity } }

  /// The numbers of the entities whose rows are of a kind.
  func numbers(of kind: Int) -> [Int64] {
    kinds.indices.filter { line(of: $0).contains(kind) }.map { kinds[$0].entity.number }
  }

  /// The place of a row's kind; null for a row of none.
  var kindExpression: String {
    let cases = kinds.enumerated().map { "WHEN \($0.element.entity.number) THEN \($0.offset)" }
    return "CASE Z_ENT \(cases.joined(separator: " ")) END"
  }

  /// The bytes that the longest name of a field in kinds may have.
  var longestName: Int {
    let column = table.columns.map(\.name.utf8.count).max() ?? 0
    let names = kinds.indices.map { place in
      // A name may get a number, so that no other has it.
      line(of: place).reduce(0) { $0 + kinds[$1].entity.name.utf8.count + "_100.".utf8.count }
    }
    return names.max().map { $0 + column } ?? 0
  }
}

// MARK: - Columns

extension CoreDataHome {
  /// Returns the kinds that have columns as their fields: the innermost one with all rows that have a value, if there are rows
  /// beside them, which have none.
  ///
  /// - Returns: The places of kinds by the columns' names. A column of all rows is not among them.
  func kinds(ofColumns columns: [String], in database: SQLiteDatabase) throws -> [String: Int] {
    guard !kinds.isEmpty, !columns.isEmpty else { return [:] }
    // The rows of each kind; the last number is that of all rows.
    var counts = [Int](repeating: 0, count: kinds.count + 1)
    // The kinds that all rows with a value have in common, the innermost first.
    var common: [[Int]?] = columns.map { _ in nil }
    let lines = kinds.indices.map { line(of: $0) }
    let values = columns.map { "\($0.sqlName) IS NOT NULL" }.joined(separator: ", ")
    try database.forEach("SELECT \(kindExpression), \(values) FROM main.\(table.name.sqlName)") {
      row in
      let line = row.type(0) == .null ? [] : lines[Int(row.integer(0))]
      for kind in line { counts[kind] += 1 }
      counts[kinds.count] += 1
      for place in columns.indices where row.integer(place + 1) != 0 && common[place] != line {
        common[place] = common[place].map { $0.filter { line.contains($0) } } ?? line
      }
    }
    var found: [String: Int] = [:]
    for (column, line) in zip(columns, common) {
      found[column] = line?.first { counts[$0] < counts[kinds[$0].parent ?? kinds.count] }
    }
    return found
  }
}
