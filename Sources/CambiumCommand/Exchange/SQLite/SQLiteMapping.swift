import Cambium

/// How the tables of a SQLite database become records of a store: tables become records, foreign keys references, and tables
/// that hold nothing but pairs of keys lists of references.
struct SQLiteMapping {
  var records: [Record] = []
  /// Everything that is not in the store as it was in the database, in words.
  private(set) var notes: [String] = []

  struct Record {
    let table: SQLiteTable
    let name: String
    let profile: SQLiteProfile
    var fields: [Field]
    var lists: [List] = []
    /// The names of the fields of the primary key.
    let key: [String]
    var inverses: [Inverse] = []
    var indexes: [Index] = []
    /// Each after its parent.
    var kinds: [SQLiteTable.Kind] = []
  }

  struct Field {
    let name: String
    /// The place of the kind that has it; nil for a field of all records.
    var kind: Int? = nil
    /// The column's name; nil for SQLite's own key of a row.
    let column: String?
    /// The expression for it in a query of its table.
    let expression: String
    var type: ScalarType
    var isOptional: Bool
    /// True for long values, which are kept outside of the rows.
    var isExternal: Bool
    /// The reading of the column's values that the caller chooses.
    var reading: ColumnReading?
    var destination: Destination?
    /// The value of the field's type that the column declares as its default.
    var defaultValue: FieldValue?
  }

  /// A list of references, from the rows of a table that links two others.
  struct List {
    let name: String
    /// The place of the kind that has it; nil for a list of all records.
    let kind: Int?
    let table: String
    let source: String
    let target: String
    /// The column with the order of the elements; nil for none.
    let order: String?
    /// The name of the record or kind that it leads to.
    let destination: String
    /// The reading of the target's values that the caller chooses.
    let reading: ColumnReading?
    /// The rule for the deletion of the record that has the list.
    let deleteRule: DeleteRule
  }

  struct Destination {
    /// The name of the record, or of its kind.
    let record: String
    /// False if the database has rows that lead nowhere.
    let isChecked: Bool
  }

  struct Inverse {
    let name: String
    /// The place of the kind to which the reference leads; nil for all records.
    let kind: Int?
    let related: String
    /// The name of the field, with those of the kinds that it is in.
    let reference: String
    let deleteRule: DeleteRule
  }

  struct Index {
    /// Nil for the one that is made of its fields' names.
    let name: String?
    let parts: [KeyField]
    var isUnique: Bool
    /// The place of the kind whose records are in it; nil for all records.
    let kind: Int?
  }

  let database: SQLiteDatabase
  /// By table. Tables that link two others have none.
  var places: [String: Int] = [:]
  private var recordNames: Set<String> = []
}

extension SQLiteMapping {
  /// Reads the tables of a database, and all of their rows, to find the types of their values.
  ///
  /// - Parameters:
  ///   - tables: The tables to take along; nil for all.
  ///   - choices: The types, names and keys that the caller chooses for them.
  ///   - progress: Called with the table and the number of rows that were read, now and then.
  /// - Throws: `CommandFailure` if there is nothing to import, or no such table, or if a choice cannot be followed.
  init(
    _ database: SQLiteDatabase, tables wanted: [String]?, _ choices: ImportChoices,
    progress: (String, Int) throws -> Void
  ) throws {
    self.database = database
    let (all, left) = try database.tableNames()
    for name in wanted ?? [] where !all.contains(where: { $0.isName(name) }) {
      throw CommandFailure(
        .notFound, "The database has no table \(name), but \(all.joined(separator: ", ")).")
    }
    notes = left.map { "not imported: \($0)" }
    let taken = all.filter { table in wanted?.contains { $0.isName(table) } ?? true }
    let declared = try taken.map { try SQLiteTable($0, of: database) }
    for table in declared {
      for difference in try SQLiteDifferences(table.name, of: database).notes {
        note(
          ([table.name] + [difference.column].compactMap(\.self)).joined(separator: "."),
          difference.text)
      }
    }
    let coreData = try CoreDataTables(declared, of: database)
    notes += coreData?.notes ?? []
    var tables = coreData?.tables ?? declared
    try choices.apply(to: &tables)
    let numbersAreDates = try database.isOfCoreData()
    let known = KnownTables(tables)
    let declaredLinks = tables.filter { isLink($0, among: known) }
    let linkNames = Set(declaredLinks.map(\.name))
    let others = tables.filter { !linkNames.contains($0.name) }
    try ImportChoices.checkNames(
      others.map { ($0.name, $0.chosenName) }, "tables", of: "The database")
    recordNames = Set(others.compactMap(\.chosenName))
    func read(_ table: SQLiteTable) throws -> SQLiteProfile {
      try SQLiteProfile(table, of: database, numbersAreDates: numbersAreDates) {
        try progress(table.name, $0)
      }
    }
    for table in others { try add(table, try read(table)) }
    // The keys of the records are known now.
    var links: [SQLiteTable] = []
    for link in declaredLinks {
      let profile = try read(link)
      if try isList(link, profile) {
        links.append(link)
      } else {
        try add(link, profile)
      }
    }
    guard !records.isEmpty else {
      throw CommandFailure(.invalid, "There is nothing to import: the database has no tables.")
    }
    for place in records.indices { try addReferences(to: place) }
    for link in links { try addList(link) }
    for place in records.indices { addIndexes(to: place) }
    for table in declared { try addDefaults(of: table) }
  }

  mutating func note(_ place: String, _ text: String) { notes.append("\(place): \(text)") }
}

// MARK: - Records and fields

extension SQLiteMapping {
  private mutating func add(_ table: SQLiteTable, _ profile: SQLiteProfile) throws {
    var fields: [Field] = []
    let longestInRow = Self.longestInRow(of: profile)
    var names = Set(table.columns.compactMap(\.chosenName))
    for (place, (column, values)) in zip(table.columns, profile.columns).enumerated() {
      let (type, change) = values.type(
        declared: column.declaredType, isKey: table.primaryKey.contains(place))
      let name = column.chosenName ?? column.name.asFieldName(besides: names)
      names.insert(name)
      let field = Field(
        name: name, kind: column.kind, column: column.name, expression: column.name.sqlName,
        type: type, isOptional: !column.isRequired || values.nulls > 0,
        isExternal: values.longest > longestInRow && (type == .string || type == .binaryData),
        reading: column.reading)
      let text = "\(table.name).\(column.name)"
      if let change { note(text, change) }
      if field.name != column.name { note(text, "it is called \(field.name) in the store") }
      fields.append(field)
    }
    let key = try chosenKey(of: table, profile, fields) ?? declaredKey(of: table, profile, fields)
    if let key {
      for place in key {
        fields[place].isOptional = false
        fields[place].isExternal = false
      }
    } else {
      let name = "rowid".asFieldName(besides: names)
      let (expression, isNumber) = table.rowKey(in: database)
      fields.insert(
        Field(
          name: name, column: nil, expression: expression, type: .int64, isOptional: false,
          isExternal: false), at: 0)
      note(
        table.name,
        isNumber
          ? "its key cannot be one here, and it has no rowid: \(name) is the number of the row"
          : "its key is SQLite's rowid")
    }
    let name = table.chosenName ?? table.name.asFieldName(besides: recordNames)
    if table.chosenName != nil, let other = records.first(where: { $0.name == name }) {
      // A table that was to be a list, and is none.
      try ImportChoices.checkNames(
        [(other.table.name, other.name), (table.name, name)], "tables", of: "The database")
    }
    recordNames.insert(name)
    if name != table.name { note(table.name, "it is called \(name) in the store") }
    let kinds = namedKinds(of: table, fields)
    places[table.name.sqlFolded] = records.count
    records.append(
      Record(
        table: table, name: name, profile: profile,
        fields: fields, key: key.map { $0.map { fields[$0].name } } ?? [fields[0].name],
        kinds: kinds))
  }

  /// Returns the kinds of a table with names that no record, field or other kind has.
  private mutating func namedKinds(
    of table: SQLiteTable, _ fields: [Field]
  ) -> [SQLiteTable.Kind] {
    // A kind without fields has one of this name.
    let taken = Set(fields.map(\.name) + [SQLiteMapping.markerName])
    return table.kinds.map { kind in
      let name = kind.name.asFieldName(besides: taken.union(recordNames))
      recordNames.insert(name)
      if name != kind.name {
        note("\(table.name).\(kind.name)", "it is called \(name) in the store")
      }
      return SQLiteTable.Kind(name: name, parent: kind.parent)
    }
  }

  /// The bytes of the name of a field in kinds, with their names. Indexes add words to it.
  static let longestName = StoreError.Limit.nameLength.bound - 32

  /// The field that a kind without others has.
  static let markerName = "is"

  /// The places of the fields that can be the primary key as the table declares it; nil if they cannot.
  private func declaredKey(
    of table: SQLiteTable, _ profile: SQLiteProfile, _ fields: [Field]
  ) -> [Int]? {
    let key = table.primaryKey
    return key.isEmpty || fault(ofKey: key, in: table, profile, fields) != nil ? nil : key
  }

  /// The places of the fields of the primary key that the caller chooses; nil if there is none.
  ///
  /// - Throws: `CommandFailure` if they cannot be.
  private func chosenKey(
    of table: SQLiteTable, _ profile: SQLiteProfile, _ fields: [Field]
  ) throws -> [Int]? {
    guard let key = table.chosenKey else { return nil }
    guard
      let fault = try fault(ofKey: key, in: table, profile, fields)
        ?? repeatedValues(of: key, in: table).map({ "several rows have \($0)" })
    else { return key }
    let names = key.map { table.columns[$0].name }.joined(separator: ", ")
    throw CommandFailure(
      .invalid,
      "\(table.name): its key cannot be \(names): \(fault). Nothing was imported. Choose other columns, or omit --key."
    )
  }

  /// Returns why some columns cannot be the primary key, in words; nil if they can, or if rows have the same values.
  private func fault(
    ofKey key: [Int], in table: SQLiteTable, _ profile: SQLiteProfile, _ fields: [Field]
  ) -> String? {
    for place in key {
      let (name, values) = (table.columns[place].name, profile.columns[place])
      guard values.nulls == 0 else {
        return
          "\(Figures.count(values.nulls, "row")) \(values.nulls == 1 ? "has" : "have") no \(name)"
      }
      // Values that become equal when their types are made equal are not keys any more.
      guard values.values == 0 || values.spelling(as: fields[place].type) != nil else {
        return "values of \(name) are of several types, or spelled in several ways"
      }
    }
    let length = key.reduce(0) { length, place in
      length + profile.columns[place].longestKey(isAlone: key.count == 1)
    }
    return length > Self.longestKey ? "its values are longer than keys can be" : nil
  }

  /// Returns the values of some columns that several rows have, as SQLite writes them; nil if no two rows have the same.
  private func repeatedValues(of key: [Int], in table: SQLiteTable) throws -> String? {
    let columns = key.map { table.columns[$0].name.sqlName }
    let query = try database.query(
      "SELECT \(columns.map { "quote(\($0))" }.joined(separator: ", ")) FROM \(table.name.sqlName)"
        + " GROUP BY \(columns.map { "\($0) COLLATE BINARY" }.joined(separator: ", "))"
        + " HAVING count(*) > 1 LIMIT 1")
    guard try query.next() else { return nil }
    return key.indices.map { query.string($0).cut }.joined(separator: ", ")
  }

  /// Longer values are kept outside of the rows, in bytes.
  private static let longestInRow = 64 << 10
  /// Of a field outside of the rows, values up to this length are within.
  static let threshold = 4 << 10
  /// The bytes that all strings and data of a row may have together: the rest is for other values.
  private static let longestRow = StoreError.Limit.valueLength.bound - (1 << 20)

  /// The length of the longest values that are kept in the rows of a table: shorter if many columns would make a row too long.
  private static func longestInRow(of profile: SQLiteProfile) -> Int {
    var longest = longestInRow
    func rowLength() -> Int {
      profile.columns.reduce(0) { $0 + ($1.longest > longest ? threshold : $1.longest) }
    }
    while longest > threshold, rowLength() > longestRow { longest /= 2 }
    return longest
  }

  /// Keys of a store are up to 1,024 bytes long, with the separators of their parts.
  private static let longestKey = 960
}

extension String {
  /// A name for a field or record: without dots, and another than those that exist.
  func asFieldName(besides others: [String]) -> String {
    asFieldName(besides: Set(others))
  }

  func asFieldName(besides others: Set<String>) -> String {
    let plain = replacing(".", with: "_").cut
    let base = plain.isEmpty ? "unnamed" : plain
    var (name, number) = (base, 2)
    while others.contains(name) {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// The beginning of the name, if it is longer than names can be with a suffix.
  var cut: String {
    var name = self
    while name.utf8.count > 200 { name.removeLast() }
    return name
  }
}
