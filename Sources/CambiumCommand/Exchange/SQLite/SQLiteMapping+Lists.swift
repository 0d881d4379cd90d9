import Cambium

extension SQLiteMapping {
  /// Returns true for a table that is declared to hold nothing but pairs of keys of two others, each pair once. One with a key
  /// or fields that the caller chooses is a record.
  func isLink(_ table: SQLiteTable, among tables: KnownTables) -> Bool {
    guard table.chosenKey == nil, table.columns.allSatisfy({ $0.chosenName == nil }),
      table.columns.count == (table.list?.order == nil ? 2 : 3), table.foreignKeys.count == 2,
      let pair = table.linkColumns, !table.hasForeignCollation,
      !tables.destinations.contains(table.name.sqlFolded),
      table.indexes.allSatisfy({ !$0.isUnique || $0.parts?.count == 2 })
    else { return false }
    let columns = Set(table.foreignKeys.flatMap { $0.columns.map(\.sqlFolded) })
    return columns.count == 2 && columns == Set(pair.map(\.sqlFolded))
      && table.foreignKeys.allSatisfy { key in
        key.columns.count == 1 && !key.table.isName(table.name)
          && tables.byName[key.table.sqlFolded] != nil
      }
  }

  /// Returns true if each row of a table that is declared as a link leads to records at both ends.
  func isList(_ table: SQLiteTable, _ profile: SQLiteProfile) throws -> Bool {
    for key in table.foreignKeys {
      guard let target = places[key.table.sqlFolded],
        let destination = self.key(of: target, named: key),
        let place = table.column(named: key.columns[0]), profile.columns[place].nulls == 0
      else { return false }
      let (column, values) = (table.columns[place], profile.columns[place])
      let type = values.type(
        declared: column.declaredType, isKey: table.primaryKey.contains(place)
      ).type
      guard
        case .missing(0) = try match(values, type, column.name, of: table, target, destination)
      else { return false }
    }
    guard let first = table.linkColumns?.first else { return false }
    return try longestList(of: table.name, first) <= Self.longestList
  }

  private func longestList(of table: String, _ column: String) throws -> Int {
    try database.number(
      "SELECT max(n) FROM (SELECT count(*) AS n FROM \(table.sqlName) GROUP BY \(column.sqlName))")
  }

  /// A record that leads to more others is rewritten too often as a list: it stays a record of its own.
  private static let longestList = 1_000

  /// Adds the list that a link is.
  ///
  /// - Throws: `CommandFailure` if the name that the caller chooses for it is taken.
  mutating func addList(_ table: SQLiteTable) throws {
    guard let pair = table.linkColumns,
      let source = table.foreignKeys.first(where: { $0.columns[0].isName(pair[0]) }),
      let target = table.foreignKeys.first(where: { $0.columns[0].isName(pair[1]) }),
      let owner = places[source.table.sqlFolded],
      let destination = places[target.table.sqlFolded]
    else { return }
    let taken = records[owner].names + [Self.markerName]
    let name = records[destination].name(of: target.kind)
    let wanted = table.list?.name ?? (taken.contains(name) ? table.name : name)
    if let chosen = table.chosenName, taken.contains(chosen) {
      throw CommandFailure(
        .usage,
        "\(table.name) becomes a list of \(records[owner].name), which cannot be called \(chosen)."
          + " Its names are \(taken.joined(separator: ", ")).")
    }
    let listName = table.chosenName ?? wanted.asFieldName(besides: taken)
    let isLong =
      listName.utf8.count + records[owner].prefix(of: source.kind).utf8.count > Self.longestName
    let reading = table.column(named: pair[1]).flatMap { table.columns[$0].reading }
    let list = List(
      name: listName, kind: isLong ? nil : source.kind, table: table.name, source: pair[0],
      target: pair[1], order: table.list?.order, destination: name, reading: reading,
      deleteRule: Self.rule(ofLink: source))
    records[owner].lists.append(list)
    addInverse(
      of: owner, (list.name, list.kind), to: destination, target.kind, Self.rule(ofLink: target))
  }

  /// Returns the rule for the record that a foreign key of a link table leads to: its deletion deletes the rows of the
  /// table, or is refused as long as there are any.
  private static func rule(ofLink key: SQLiteTable.ForeignKey) -> DeleteRule {
    ["CASCADE", "SET NULL"].contains(key.deletion) ? .nullify : .deny
  }
}

/// The tables of a database, found by their names.
struct KnownTables {
  /// By names in lowercase; of several, the first.
  let byName: [String: SQLiteTable]
  /// The names in lowercase of tables to which others lead.
  let destinations: Set<String>

  init(_ tables: [SQLiteTable]) {
    byName = Dictionary(tables.map { ($0.name.sqlFolded, $0) }) { first, _ in first }
    destinations = Set(tables.flatMap { $0.foreignKeys.map(\.table.sqlFolded) })
  }
}

extension SQLiteTable {
  /// The two columns that identify a row together, in the order of an index of them.
  fileprivate var linkColumns: [String]? {
    if primaryKey.count == 2 { return primaryKey.map { columns[$0].name } }
    return indexes.first { $0.isUnique && !$0.isPartial && $0.parts?.count == 2 }?
      .parts?.map(\.column)
  }
}
