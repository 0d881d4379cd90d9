/// The tables of a file of Core Data, with what it does not declare: the names of the entities, and the references and lists
/// that their relations are.
///
///     ZDEPARTMENT, ZPERSON …        tables of entities: `Z_PK` is the key, `Z_ENT` the entity of a row
///     ZPERSON.ZDEPARTMENT           the key of the destination of a relation to one
///     ZPERSON.Z3_OWNER              beside ZOWNER, the entity of the destination, where it may be of several
///     Z_2PROJECTS                   the relation `projects` of entity 2 to many, with the keys of both ends
///     Z_FOK_…                       the order of an ordered relation
///
/// The tables of entities are read through temporary views, which have the names that the records and fields have.
struct CoreDataTables {
  private let database: SQLiteDatabase
  private let entities: CoreDataEntities
  /// The tables of entities, by the numbers of their roots.
  private var homes: [Int64: Home] = [:]
  private(set) var tables: [SQLiteTable] = []
  /// Notes on differences from the file.
  private(set) var notes: [String] = []

  /// A table with the rows of a root and of all entities that inherit from it.
  private struct Home {
    let table: SQLiteTable
    let root: CoreDataEntities.Entity
    let members: [CoreDataEntities.Entity]
    /// The name of the view.
    let name: String
  }

  /// A relation to one.
  private struct Reference {
    let home: Home
    /// The column with the entity of the destination, which the destination knows as well.
    let entityColumn: String?
  }

  /// An expression with one case for each entity has no more.
  private static let membersMax = 500

  /// - Parameter declared: The tables of the file, as SQLite declares them.
  /// - Returns: nil if Core Data did not make the file.
  init?(_ declared: [SQLiteTable], of database: SQLiteDatabase) throws {
    guard let entities = try CoreDataEntities(database) else { return nil }
    self.database = database
    self.entities = entities
    findHomes(among: declared)
    guard !homes.isEmpty else {
      tables = declared
      return
    }
    let places = Dictionary(
      homes.map { ($0.value.table.name, $0.key) }, uniquingKeysWith: { first, _ in first })
    for table in declared {
      if let home = places[table.name].flatMap({ homes[$0] }) {
        let view = try declare(home)
        tables.append(view)
      } else {
        tables.append(link(table) ?? table)
      }
    }
    notes.append(
      "Core Data: fields are called as its columns, without Z and in lowercase, and Z_PK is id;"
        + " Z_OPT, which counts the changes of a row, is left out")
    notes.append(
      "Core Data: the file does not state its delete rules; a deletion sets references to it to null"
    )
  }

  private mutating func note(_ place: String, _ text: String) { notes.append("\(place): \(text)") }

  private mutating func findHomes(among declared: [SQLiteTable]) {
    let byName = Dictionary(
      declared.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    var taken = Set(byName.keys)
    var used: Set<String> = []
    for root in entities.roots {
      guard let table = byName["z" + root.name.lowercased()], table.isOfEntity,
        used.insert(table.name).inserted
      else { continue }
      let members = entities.members(of: root)
      guard members.count <= Self.membersMax else { continue }
      // A view with the name of another table would hide that, and SQLite keeps some names for itself.
      let isFree =
        !root.name.lowercased().hasPrefix("sqlite_")
        && taken.insert(root.name.lowercased()).inserted
      let name = isFree ? root.name : table.name
      homes[root.number] = Home(table: table, root: root, members: members, name: name)
    }
  }
}

extension SQLiteTable {
  /// True if it has the columns that Core Data gives the rows of entities.
  fileprivate var isOfEntity: Bool {
    guard let key = column(named: "Z_PK"), column(named: "Z_ENT") != nil else { return false }
    return primaryKey == [key] && columns[key].declaredType == "INTEGER"
  }
}

// MARK: - Entities

extension CoreDataTables {
  /// Makes the view of a table of entities.
  private mutating func declare(_ home: Home) throws -> SQLiteTable {
    var references: [String: Reference] = [:]
    for column in home.table.columns {
      references[column.name] = try reference(of: column, in: home)
    }
    var left = Set(references.values.compactMap { $0.entityColumn?.uppercased() })
    left.insert("Z_OPT")
    if home.table.name != home.name { note(home.table.name, "it is called \(home.name)") }
    let isMixed = try isMixed(home)
    if isMixed {
      note(
        home.table.name,
        "it has rows of \(home.members.map(\.name).joined(separator: ", "));"
          + " the field entity says which one a row is of")
    } else {
      left.insert("Z_ENT")
    }
    var view = View(home.table, named: home.name)
    view.reserve(["id"] + (isMixed ? ["entity"] : []))
    for column in home.table.columns where !left.contains(column.name.uppercased()) {
      switch column.name.uppercased() {
      case "Z_PK": view.add(column, as: "id")
      case "Z_ENT": view.add(column, as: "entity", home.members.nameByNumber)
      default:
        let name = view.add(column)
        guard let reference = references[column.name] else { continue }
        view.table.foreignKeys.append(
          SQLiteTable.ForeignKey(
            columns: [name], table: reference.home.name, destinations: [], deletion: "SET NULL"))
      }
    }
    view.renameKeys()
    try database.execute(view.statement)
    return view.table
  }

  /// Returns true if the entity of a row does not follow from its table.
  private func isMixed(_ home: Home) throws -> Bool {
    guard home.members.count == 1 else { return true }
    return try database.number(
      "SELECT count(*) FROM main.\(home.table.name.sqlName) WHERE Z_ENT IS NOT \(home.root.number)")
      > 0
  }
}

extension [CoreDataEntities.Entity] {
  /// The name of an entity by the number that a row has. A number of none stays one.
  fileprivate var nameByNumber: String {
    let cases = map { "WHEN \($0.number) THEN '\($0.name.replacing("'", with: "''"))'" }
    return "CASE Z_ENT \(cases.joined(separator: " ")) ELSE CAST(Z_ENT AS TEXT) END"
  }
}

/// A view of a table with other names.
private struct View {
  /// The view, described as a table for the import.
  var table: SQLiteTable
  private let original: SQLiteTable
  private var names: Set<String> = []
  private var columns: [String] = []
  /// The names of columns by those that the table has, in lowercase.
  private var renamed: [String: String] = [:]

  init(_ original: SQLiteTable, named name: String) {
    self.original = original
    table = original
    table.name = name
    table.columns = []
    table.foreignKeys = []
  }

  /// Keeps names for columns that come later.
  mutating func reserve(_ names: [String]) { self.names.formUnion(names) }

  /// Adds a column. Returns its name.
  @discardableResult
  mutating func add(_ column: SQLiteTable.Column) -> String {
    let base = column.name.coreDataName
    var (name, number) = (base, 2)
    while !names.insert(name).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    add(column, as: name)
    return name
  }

  /// Adds a column with a name that was reserved.
  mutating func add(_ column: SQLiteTable.Column, as name: String, _ expression: String? = nil) {
    columns.append("\(expression ?? column.name.sqlName) AS \(name.sqlName)")
    renamed[column.name.lowercased()] = name
    table.columns.append(column)
    table.columns[table.columns.count - 1].name = name
    if expression != nil { table.columns[table.columns.count - 1].declaredType = "VARCHAR" }
  }

  /// Renames the columns of the key and of the indexes. Indexes of columns that are left out are left out, too.
  mutating func renameKeys() {
    table.primaryKey = table.columns.indices.filter { table.columns[$0].name == "id" }
    table.indexes = original.indexes.compactMap { index in
      guard let parts = index.parts else { return index }
      var new = index
      new.parts = parts.compactMap { part in
        guard let name = renamed[part.column.lowercased()] else { return nil }
        var part = part
        part.column = name
        return part
      }
      return new.parts?.count == parts.count ? new : nil
    }
  }

  var statement: String {
    "CREATE TEMP VIEW \(table.name.sqlName) AS SELECT \(columns.joined(separator: ", "))"
      + " FROM main.\(original.name.sqlName)"
  }
}

extension String {
  /// The name of an attribute or relation whose column is called so, as far as it is known: in lowercase.
  fileprivate var coreDataName: String {
    let rest = hasPrefix("Z_") ? dropFirst(2) : hasPrefix("Z") ? dropFirst() : self[...]
    let isName = rest.first?.isLetter ?? false
    return (isName ? String(rest) : self).lowercased()
  }
}

// MARK: - References

extension CoreDataTables {
  /// Returns the relation that a column is; nil if it is an attribute.
  ///
  /// The file states the destination only if it may be of several entities. Else the column has an index, which
  /// Core Data makes for each relation, is called like an entity, and leads to nothing but rows of that.
  private mutating func reference(
    of column: SQLiteTable.Column, in home: Home
  ) throws -> Reference? {
    guard column.declaredType == "INTEGER", column.name.hasPrefix("Z"),
      !column.name.hasPrefix("Z_")
    else { return nil }
    let name = String(column.name.dropFirst())
    if let stated = home.table.columns.lazy.compactMap({ $0.name.entityColumn(of: name) }).first {
      return try reference(of: column.name, stated, in: home)
    }
    guard home.table.hasIndex(ofRelation: column.name) else { return nil }
    let place = "\(home.table.name).\(column.name)"
    guard let entity = entities.namesake(of: name),
      let destination = entities.root(of: entity.number).flatMap({ homes[$0.number] })
    else {
      note(place, "if it is a relation, the file does not say to what; it is a plain field")
      return nil
    }
    let kinds = entities.kinds(of: entity).map { String($0.number) }.joined(separator: ", ")
    let missing = try count(
      column.name, in: home, without: "Z_ENT IN (\(kinds))", in: destination)
    guard missing == 0 else {
      note(
        place,
        "\(Figures.count(missing, "row")) \(missing == 1 ? "leads" : "lead") to no \(entity.name);"
          + " it is a plain field")
      return nil
    }
    note(place, "it is taken for a reference to \(entity.name) by its name, index and values")
    return Reference(home: destination, entityColumn: nil)
  }

  /// Returns the relation of a column beside which another has the entities of the destinations.
  private mutating func reference(
    of column: String, _ stated: (column: String, number: Int64), in home: Home
  ) throws -> Reference? {
    let table = "main.\(home.table.name.sqlName)"
    let (key, entity) = (column.sqlName, stated.column.sqlName)
    var roots: Set<Int64> = []
    var isKnown = true
    try database.forEach("SELECT DISTINCT \(entity) FROM \(table) WHERE \(key) IS NOT NULL") {
      row in
      guard row.type(0) == .integer, let root = entities.root(of: row.integer(0)) else {
        isKnown = false
        return
      }
      roots.insert(root.number)
    }
    if roots.isEmpty, let root = entities.root(of: stated.number) { roots = [root.number] }
    guard isKnown, roots.count == 1, let destination = roots.first.flatMap({ homes[$0] }) else {
      note(
        "\(home.table.name).\(column)",
        "it leads to rows of several tables or of none; it is a plain field")
      return nil
    }
    let odd =
      try database.number(
        "SELECT count(*) FROM \(table) WHERE \(key) IS NULL AND \(entity) IS NOT NULL")
      + count(column, in: home, without: "Z_ENT = a.\(entity)", in: destination)
    return Reference(home: destination, entityColumn: odd == 0 ? stated.column : nil)
  }

  /// Counts the rows whose value leads to no row that meets a condition.
  private func count(
    _ column: String, in home: Home, without condition: String, in destination: Home
  ) throws -> Int {
    let column = "a.\(column.sqlName)"
    return try database.number(
      """
      SELECT count(*) FROM main.\(home.table.name.sqlName) AS a WHERE \(column) IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM main.\(destination.table.name.sqlName) AS b
      WHERE b.Z_PK = \(column) AND b.\(condition))
      """)
  }
}

extension SQLiteTable {
  /// Returns true if a column has an index with the name that Core Data gives those of relations.
  fileprivate func hasIndex(ofRelation column: String) -> Bool {
    indexes.contains { index in
      index.name.uppercased() == "\(name)_\(column)_INDEX".uppercased()
        && index.parts?.map(\.column) == [column]
    }
  }
}

extension String {
  /// The number in the name of a column that has the entities of a relation's destinations: 3 in `Z3_OWNER`.
  fileprivate func entityColumn(of relation: String) -> (column: String, number: Int64)? {
    guard hasPrefix("Z"), hasSuffix("_" + relation) else { return nil }
    let digits = dropFirst().dropLast(relation.count + 1)
    guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int64(digits) else {
      return nil
    }
    return (self, number)
  }

  /// The number of an entity and the name of a relation, in a name such as `Z_2PROJECTS`.
  fileprivate var relation: (entity: Int64, name: Substring)? {
    guard hasPrefix("Z_") else { return nil }
    let digits = dropFirst(2).prefix { ("0"..."9").contains($0) }
    let name = dropFirst(2 + digits.count)
    guard !name.isEmpty, let number = Int64(digits) else { return nil }
    return (number, name)
  }
}

// MARK: - Lists

extension CoreDataTables {
  /// Returns a table that links entities with its foreign keys; nil for any other table.
  private func link(_ table: SQLiteTable) -> SQLiteTable? {
    guard let relation = table.name.relation else { return nil }
    let ends = table.columns.indices.filter {
      table.columns[$0].name.relation != nil || table.columns[$0].name == "REFLEXIVE"
    }
    let names = table.columns.map(\.name)
    let orders = names.filter { $0.hasPrefix("Z_FOK_") }
    guard ends.count == 2, names.count == ends.count + orders.count,
      Set(table.primaryKey) == Set(ends)
    else { return nil }
    // The order is called as the column that it is of; if there is none, the table is called as the relation.
    let ordered = ends.first { end in
      guard let ending = orders.first?.dropFirst("Z_FOK_".count) else { return false }
      return ending == names[end].dropFirst(2) || ending == names[end].relation?.name
    }
    let target =
      ordered ?? ends.first { names[$0].relation?.name == relation.name } ?? ends[1]
    let owner = target == ends[0] ? ends[1] : ends[0]
    let number = relation.entity
    guard let source = entities.root(of: names[owner].relation?.entity ?? number),
      let destination = entities.root(of: names[target].relation?.entity ?? number),
      let sources = homes[source.number], let destinations = homes[destination.number]
    else { return nil }
    var link = table
    link.primaryKey = [owner, target]
    link.foreignKeys = [(owner, sources), (target, destinations)].map { place, home in
      SQLiteTable.ForeignKey(
        columns: [names[place]], table: home.name, destinations: [], deletion: "CASCADE")
    }
    // If both ends have an order, or it is of neither, the table stays one, so that none is lost.
    if orders.isEmpty || orders.count == 1 && ordered != nil {
      let name = names[target].relation?.name ?? relation.name
      link.list = SQLiteTable.ListDeclaration(name: name.lowercased(), order: orders.first)
    }
    return link
  }
}
