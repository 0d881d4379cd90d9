/// The tables of a file of Core Data, with the parts that it does not declare: the names of the entities, and the
/// references and lists that their relations are.
///
///     ZDEPARTMENT, ZPERSON …        tables of entities: `Z_PK` is the key, `Z_ENT` the entity of a row
///     ZPERSON.ZBUDGET               of all entities of the table: null in rows of those without such an attribute
///     ZPERSON.ZDEPARTMENT           the key of the destination of a relation to one
///     ZPERSON.Z4MEMBERS             the same, if entity 4 has a relation to many without an inverse
///     ZPERSON.Z3_OWNER              beside ZOWNER, the entity of the destination, where it may be of several
///     Z_2PROJECTS                   the relation `projects` of entity 2 to many, with the keys of both ends
///     Z_FOK_…                       the order of an ordered relation
///
/// The tables of entities are read through temporary views, which have the names that the records and fields have.
struct CoreDataTables {
  private let database: SQLiteDatabase
  private let entities: CoreDataEntities
  /// The tables of entities, by the numbers of their roots.
  private var homes: [Int64: CoreDataHome] = [:]
  private(set) var tables: [SQLiteTable] = []
  /// Notes on differences from the file.
  private(set) var notes: [String] = []

  /// A relation to one.
  private struct Reference {
    let home: CoreDataHome
    /// The place of the kind that it leads to; nil for all rows.
    let kind: Int?
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
        tables.append(try link(table) ?? table)
      }
    }
    notes.append(
      "Core Data: fields are called as its columns, without Z and in lowercase, and Z_PK is id, since only the compiled"
        + " model has their names as they were written, and it is not read;"
        + " Z_OPT, which counts the changes of a row, is left out")
    notes.append(
      "Core Data: the file does not state its delete rules; a deletion sets references to it to null"
    )
    if homes.values.contains(where: { !$0.kinds.isEmpty }) {
      notes.append(
        "Core Data: the file does not state which entities are abstract; records of each can be saved"
      )
    }
  }

  private mutating func note(_ place: String, _ text: String) { notes.append("\(place): \(text)") }

  private mutating func findHomes(among declared: [SQLiteTable]) {
    let byName = Dictionary(
      declared.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    var taken = Set(byName.keys)
    var used: Set<String> = []
    for root in entities.roots {
      guard let table = byName["z" + root.name.lowercased()], table.isOfEntity,
        used.insert(table.name).inserted, entities.members(of: root).count <= Self.membersMax
      else { continue }
      // A view with the name of another table would hide that, and SQLite keeps some names for itself.
      let isFree =
        !root.name.lowercased().hasPrefix("sqlite_")
        && taken.insert(root.name.lowercased()).inserted
      let name = isFree ? root.name : table.name
      var home = CoreDataHome(table: table, root: root, name: name)
      home.add(entities.members(of: root))
      if home.longestName > SQLiteMapping.longestName {
        let names = home.kinds.map { "\($0.entity.number) is \($0.entity.name)" }
        note(
          table.name,
          "its entities become no kinds, since their names together are too long: \(names.joined(separator: ", "))"
        )
        home.kinds = []
      }
      homes[root.number] = home
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
  private mutating func declare(_ home: CoreDataHome) throws -> SQLiteTable {
    var references: [String: Reference] = [:]
    for column in home.table.columns {
      references[column.name] = try reference(of: column, in: home)
    }
    var left = Set(references.values.compactMap { $0.entityColumn?.uppercased() })
    left.insert("Z_OPT")
    if home.table.name != home.name { note(home.table.name, "it is called \(home.name)") }
    let others = try otherCount(home)
    if others == 0 { left.insert("Z_ENT") }
    let columns = home.table.columns.filter { !left.contains($0.name.uppercased()) }
    let kinds = try home.kinds(
      ofColumns: columns.map(\.name).filter { !["Z_PK", "Z_ENT"].contains($0.uppercased()) },
      in: database)
    var view = CoreDataView(home.table, named: home.name)
    // A kind without fields has one that is called so.
    view.reserve(["id", SQLiteMapping.markerName, SQLiteTable.kindColumn.lowercased()])
    for column in columns {
      if column.name.uppercased() == "Z_PK" {
        view.add(column, as: "id")
        continue
      }
      let name = view.add(column, of: kinds[column.name])
      if column.name.uppercased() == "Z_ENT" {
        note(
          home.table.name,
          "\(Figures.count(others, "row")) \(others == 1 ? "is" : "are") of no entity of this table;"
            + " \(others == 1 ? "it is a plain record" : "they are plain records"), and the field \(name) has Z_ENT"
        )
      }
      guard let reference = references[column.name] else { continue }
      view.table.foreignKeys.append(
        SQLiteTable.ForeignKey(
          columns: [name], table: reference.home.name, kind: reference.kind, destinations: [],
          deletion: "SET NULL"))
    }
    view.renameKeys()
    if !home.kinds.isEmpty { view.addKinds(home.kinds, home.kindExpression) }
    noteKinds(home, kinds)
    try database.execute(view.statement)
    return view.table
  }

  /// Counts the rows that are neither of the root nor of an entity that becomes a kind of it.
  private func otherCount(_ home: CoreDataHome) throws -> Int {
    let known = [home.root.number] + home.kinds.map(\.entity.number)
    return try database.number(
      "SELECT count(*) FROM main.\(home.table.name.sqlName) WHERE Z_ENT IS NULL"
        + " OR Z_ENT NOT IN (\(known.map { "\($0)" }.joined(separator: ", ")))")
  }

  private mutating func noteKinds(_ home: CoreDataHome, _ columns: [String: Int]) {
    guard !home.kinds.isEmpty else { return }
    let names = home.kinds.map { kind in
      "\(kind.entity.name) of \(kind.parent.map { home.kinds[$0].entity.name } ?? home.root.name)"
    }
    note(home.table.name, "its entities become kinds: \(names.joined(separator: ", "))")
    for (place, kind) in home.kinds.enumerated() {
      let own = home.table.columns.map(\.name).filter { columns[$0] == place }
      guard !own.isEmpty else { continue }
      note(
        home.table.name,
        "\(own.joined(separator: ", ")) \(own.count == 1 ? "is" : "are") of \(kind.entity.name), since no other rows have"
          + " values there")
    }
  }
}

// MARK: - References

extension CoreDataTables {
  /// Returns the relation that a column is; nil if it is an attribute.
  ///
  /// The file states the destination only if it may be of several entities. Else the column has an index, which
  /// Core Data makes for each relation, is called like an entity, and leads to nothing but rows of that.
  private mutating func reference(
    of column: SQLiteTable.Column, in home: CoreDataHome
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
    let kind = destination.place(of: entity.number)
    let numbers =
      kind.map { destination.numbers(of: $0) } ?? entities.kinds(of: entity).map(\.number)
    let missing = try count(
      column.name, in: home.table, without: numbers.entityCondition, in: destination)
    guard missing == 0 else {
      note(
        place,
        "\(Figures.count(missing, "row")) \(missing == 1 ? "leads" : "lead") to no \(entity.name);"
          + " it is a plain field")
      return nil
    }
    note(place, "it is taken for a reference to \(entity.name) by its name, index and values")
    return Reference(home: destination, kind: kind, entityColumn: nil)
  }

  /// Returns the relation of a column beside which another has the entities of the destinations.
  private mutating func reference(
    of column: String, _ stated: (column: String, number: Int64), in home: CoreDataHome
  ) throws -> Reference? {
    let table = "main.\(home.table.name.sqlName)"
    let (key, entity) = (column.sqlName, stated.column.sqlName)
    var roots: Set<Int64> = []
    var found: Set<Int64> = []
    var isKnown = true
    try database.forEach("SELECT DISTINCT \(entity) FROM \(table) WHERE \(key) IS NOT NULL") {
      row in
      guard row.type(0) == .integer, let root = entities.root(of: row.integer(0)) else {
        isKnown = false
        return
      }
      roots.insert(root.number)
      found.insert(row.integer(0))
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
      + count(column, in: home.table, without: "Z_ENT = a.\(entity)", in: destination)
    guard odd == 0 else { return Reference(home: destination, kind: nil, entityColumn: nil) }
    let kind = destination.place(of: stated.number).flatMap { kind in
      found.isSubset(of: destination.numbers(of: kind)) ? kind : nil
    }
    return Reference(home: destination, kind: kind, entityColumn: stated.column)
  }

  /// Counts the rows whose value leads to no row that meets a condition.
  private func count(
    _ column: String, in table: SQLiteTable, without condition: String, in destination: CoreDataHome
  ) throws -> Int {
    let column = "a.\(column.sqlName)"
    return try database.number(
      """
      SELECT count(*) FROM main.\(table.name.sqlName) AS a WHERE \(column) IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM main.\(destination.table.name.sqlName) AS b
      WHERE b.Z_PK = \(column) AND b.\(condition))
      """)
  }
}

extension [Int64] {
  /// The condition that a row is of one of the entities with these numbers.
  fileprivate var entityCondition: String {
    "Z_ENT IN (\(map { "\($0)" }.joined(separator: ", ")))"
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
  private func link(_ table: SQLiteTable) throws -> SQLiteTable? {
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
    var link = table
    link.primaryKey = [owner, target]
    link.foreignKeys = []
    for place in [owner, target] {
      let entity = names[place].relation?.entity ?? relation.entity
      guard let home = entities.root(of: entity).flatMap({ homes[$0.number] }) else { return nil }
      var kind = home.place(of: entity)
      if let known = kind,
        try count(
          names[place], in: table, without: home.numbers(of: known).entityCondition, in: home) > 0
      {
        kind = nil
      }
      link.foreignKeys.append(
        SQLiteTable.ForeignKey(
          columns: [names[place]], table: home.name, kind: kind, destinations: [],
          deletion: "CASCADE"))
    }
    // If both ends have an order, or it is of neither, the table stays one, so that none is lost.
    if orders.isEmpty || orders.count == 1 && ordered != nil {
      let name = names[target].relation?.name ?? relation.name
      link.list = SQLiteTable.ListDeclaration(name: name.lowercased(), order: orders.first)
    }
    return link
  }
}
