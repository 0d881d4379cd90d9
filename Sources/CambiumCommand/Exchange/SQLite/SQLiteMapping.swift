import Cambium

/// How the tables of a SQLite database become records of a store: tables become records, foreign keys references, and tables
/// that hold nothing but pairs of keys lists of references.
struct SQLiteMapping {
  /// Destinations of references before the records that lead to them, as far as there are no circles.
  private(set) var records: [Record] = []
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
  }

  struct Field {
    let name: String
    /// The column's name, or that of SQLite's own key of a row.
    let column: String
    var type: ScalarType
    let isOptional: Bool
    /// True for long values, which are kept outside of the rows.
    let isExternal: Bool
    var destination: Destination?
  }

  /// A list of references, from the rows of a table that links two others.
  struct List {
    let name: String
    let table: String
    let source: String
    let target: String
    /// The column with the order of the elements; nil for none.
    let order: String?
    let destination: String
    /// What the list means for the deletion of its record.
    let deleteRule: DeleteRule
  }

  struct Destination {
    let record: String
    /// False if the database has rows that lead nowhere.
    let isChecked: Bool
  }

  struct Inverse {
    let name: String
    let related: String
    let reference: String
    let deleteRule: DeleteRule
  }

  struct Index {
    let parts: [KeyField]
    let isUnique: Bool
  }

  private let database: SQLiteDatabase
  /// By table. Tables that link two others have none.
  private var places: [String: Int] = [:]
  private var recordNames: Set<String> = []
  private var links: [SQLiteTable] = []
}

extension SQLiteMapping {
  /// Reads the tables of a database, and all of their rows, to find out what they hold.
  ///
  /// - Parameters:
  ///   - tables: The tables to take along; nil for all.
  ///   - progress: Called with the table and the number of rows that were read, now and then.
  /// - Throws: `CommandFailure` if there is nothing to import, or no such table.
  init(
    _ database: SQLiteDatabase, tables wanted: [String]?,
    progress: (String, Int) throws -> Void
  ) throws {
    self.database = database
    let (all, left) = try database.tableNames()
    for name in wanted ?? [] where !all.contains(name) {
      throw CommandFailure(
        .notFound, "The database has no table \(name), but \(all.joined(separator: ", ")).")
    }
    notes = left.map { "not imported: \($0)" }
    let declared = try all.filter { wanted?.contains($0) ?? true }.map {
      try SQLiteTable($0, of: database)
    }
    for table in declared {
      for difference in try SQLiteDifferences(table.name, of: database).notes {
        note(
          ([table.name] + [difference.column].compactMap(\.self)).joined(separator: "."),
          difference.text)
      }
    }
    let coreData = try CoreDataTables(declared, of: database)
    notes += coreData?.notes ?? []
    let tables = coreData?.tables ?? declared
    let numbersAreDates = try database.isOfCoreData()
    let known = KnownTables(tables)
    links = try tables.filter { try isLink($0, among: known) }
    let linkNames = Set(links.map(\.name))
    for table in tables where !linkNames.contains(table.name) {
      let profile = try SQLiteProfile(table, of: database, numbersAreDates: numbersAreDates) {
        try progress(table.name, $0)
      }
      add(table, profile)
    }
    guard !records.isEmpty else {
      throw CommandFailure(.invalid, "There is nothing to import: the database has no tables.")
    }
    for place in records.indices { try addReferences(to: place) }
    for link in links { try addList(link) }
    for place in records.indices { addIndexes(to: place) }
    sort()
  }

  private mutating func note(_ place: String, _ text: String) { notes.append("\(place): \(text)") }
}

// MARK: - Records and fields

extension SQLiteMapping {
  private mutating func add(_ table: SQLiteTable, _ profile: SQLiteProfile) {
    var fields: [Field] = []
    for (column, values) in zip(table.columns, profile.columns) {
      let (type, change) = values.type(declared: column.declaredType)
      let field = Field(
        name: column.name.asFieldName(besides: fields.map(\.name)), column: column.name,
        type: type, isOptional: !column.isRequired || values.nulls > 0,
        isExternal: values.longest > Self.longestInRow && (type == .string || type == .binaryData))
      let place = "\(table.name).\(column.name)"
      if let change { note(place, change) }
      if values.malformed > 0 {
        note(place, "\(values.malformed) strings are not UTF-8; their bad bytes are replaced")
      }
      if field.name != column.name { note(place, "it is called \(field.name) in the store") }
      fields.append(field)
    }
    let key = declaredKey(of: table, profile, fields)
    if let key {
      for place in key {
        let field = fields[place]
        fields[place] = Field(
          name: field.name, column: field.column, type: field.type, isOptional: false,
          isExternal: false)
      }
    } else {
      let name = "rowid".asFieldName(besides: fields.map(\.name))
      fields.insert(
        Field(name: name, column: "rowid", type: .int64, isOptional: false, isExternal: false),
        at: 0)
      note(table.name, "its key is SQLite's rowid")
    }
    let name = table.name.asFieldName(besides: recordNames)
    recordNames.insert(name)
    if name != table.name { note(table.name, "it is called \(name) in the store") }
    places[table.name.lowercased()] = records.count
    records.append(
      Record(
        table: table, name: name, profile: profile,
        fields: fields, key: key.map { $0.map { fields[$0].name } } ?? [fields[0].name]))
  }

  /// The places of the fields that can be the primary key as the table declares it; nil if they cannot.
  private func declaredKey(
    of table: SQLiteTable, _ profile: SQLiteProfile, _ fields: [Field]
  ) -> [Int]? {
    let isKey = table.primaryKey.allSatisfy { place in
      let values = profile.columns[place]
      // Values that become equal when their types are made equal are not keys any more.
      return values.nulls == 0 && values.malformed == 0
        && values.type(declared: table.columns[place].declaredType).note == nil
    }
    let length = table.primaryKey.reduce(0) { $0 + profile.columns[$1].longest + 16 }
    return isKey && !table.primaryKey.isEmpty && length <= Self.longestKey
      ? table.primaryKey : nil
  }

  /// Longer values are kept outside of the rows, in bytes.
  private static let longestInRow = 64 << 10
  /// Keys of a store are up to 1,024 bytes long, with what separates their parts.
  private static let longestKey = 960
}

extension String {
  /// A name for a field or record: without dots, and another than those that exist.
  fileprivate func asFieldName(besides others: [String]) -> String {
    asFieldName(besides: Set(others))
  }

  fileprivate func asFieldName(besides others: Set<String>) -> String {
    let plain = replacing(".", with: "_")
    let base = plain.isEmpty ? "unnamed" : plain
    var (name, number) = (base, 2)
    while others.contains(name) {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }
}

// MARK: - References

extension SQLiteMapping {
  private mutating func addReferences(to place: Int) throws {
    let record = records[place]
    for key in record.table.foreignKeys {
      let text = "\(record.table.name).\(key.columns.joined(separator: ", "))"
      guard let target = places[key.table.lowercased()] else {
        note(text, "it leads to \(key.table), which is no record; it is a plain field")
        continue
      }
      guard key.columns.count == 1, records[target].key.count == 1, leads(key, toKeyOf: target)
      else {
        note(text, "it does not lead to a primary key of one field; it is no reference")
        continue
      }
      guard
        let field = record.fields.firstIndex(where: { $0.column.isColumn(key.columns[0]) }),
        record.fields[field].destination == nil
      else { continue }
      try addReference(key, field, of: place, to: target, text)
    }
  }

  private func leads(_ key: SQLiteTable.ForeignKey, toKeyOf target: Int) -> Bool {
    guard let stated = key.destinations.first else { return true }
    let field = records[target].fields.first { $0.name == records[target].key[0] }
    return field?.column.isColumn(stated) ?? false
  }

  private mutating func addReference(
    _ key: SQLiteTable.ForeignKey, _ place: Int, of record: Int, to target: Int, _ text: String
  ) throws {
    let field = records[record].fields[place]
    guard
      let destination = records[target].fields.first(where: { $0.name == records[target].key[0] })
    else { return }
    if field.type != destination.type {
      let isEmpty = records[record].profile.columns.indices.contains { column in
        records[record].table.columns[column].name == field.column
          && records[record].profile.columns[column].values == 0
      }
      guard isEmpty else {
        return note(
          text,
          "its values are \(field.type), the key that it leads to is \(destination.type);"
            + " it is a plain field")
      }
      records[record].fields[place].type = destination.type
    }
    if let fault = fault(ofReference: field, of: record, to: target, destination) {
      return note(text, "\(fault); it is a plain field")
    }
    let missing = try countMissing(
      field.column, of: records[record].table.name, in: records[target].table.name,
      destination.column)
    records[record].fields[place].destination = Destination(
      record: records[target].name, isChecked: missing == 0)
    if missing > 0 {
      return note(
        text,
        "the destination of \(Figures.count(missing, "row")) does not exist; the reference is not checked"
      )
    }
    addInverse(
      of: records[record].name, field.name, to: target,
      rule(key, isRequired: !field.isOptional, text))
  }

  /// Returns why there is no such reference in Swift; nil if there can be.
  private func fault(
    ofReference field: Field, of record: Int, to target: Int, _ key: Field
  ) -> String? {
    if key.type == .double || key.type == .boolean {
      return "it leads to a key that is \(key.type), which no reference can be"
    }
    guard records[record].key == [field.name] else { return nil }
    // The key of a record whose key is a reference is that of its destination, and that must end.
    var place = target
    while place != record {
      guard records[place].key.count == 1,
        let key = records[place].fields.first(where: { $0.name == records[place].key[0] }),
        let next = key.destination,
        let index = records.firstIndex(where: { $0.name == next.record })
      else { return nil }
      place = index
    }
    return "it is a key that leads to itself"
  }

  /// Counts the rows whose value in a column is not found in another table's.
  private func countMissing(
    _ column: String, of table: String, in target: String, _ key: String
  ) throws -> Int {
    try database.number(
      """
      SELECT count(*) FROM \(table.sqlName) AS a WHERE a.\(column.sqlName) IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM \(target.sqlName) AS b WHERE b.\(key.sqlName) = a.\(column.sqlName))
      """)
  }

  private mutating func rule(
    _ key: SQLiteTable.ForeignKey, isRequired: Bool, _ place: String
  ) -> DeleteRule {
    switch key.deletion {
    case "CASCADE": return .cascade
    case "SET NULL" where !isRequired: return .nullify
    case "SET NULL", "SET DEFAULT":
      note(place, "a deletion that would do \(key.deletion) is refused")
      return .deny
    default: return .deny
    }
  }

  private mutating func addInverse(
    of related: String, _ reference: String, to target: Int, _ rule: DeleteRule
  ) {
    let taken = records[target].names
    let name = taken.contains(related) ? "\(related)_\(reference)" : related
    records[target].inverses.append(
      Inverse(
        name: name.asFieldName(besides: taken), related: related, reference: reference,
        deleteRule: rule))
  }
}

extension SQLiteMapping.Record {
  /// The names of everything in it that has one.
  fileprivate var names: [String] {
    fields.map(\.name) + lists.map(\.name) + inverses.map(\.name)
  }
}

extension String {
  /// SQLite's names are equal without regard to the case of their ASCII letters.
  fileprivate func isColumn(_ other: String) -> Bool { lowercased() == other.lowercased() }
}

// MARK: - Lists

extension SQLiteMapping {
  /// Returns true for a table that holds nothing but pairs of keys of two others, each pair once.
  private func isLink(_ table: SQLiteTable, among tables: KnownTables) throws -> Bool {
    guard table.columns.count == (table.list?.order == nil ? 2 : 3), table.foreignKeys.count == 2,
      let pair = table.linkColumns, Set(pair.map { $0.lowercased() }).count == 2,
      !tables.destinations.contains(table.name.lowercased()),
      table.indexes.allSatisfy({ !$0.isUnique || $0.parts?.count == 2 })
    else { return false }
    for key in table.foreignKeys {
      guard key.columns.count == 1, !key.table.isColumn(table.name),
        let target = tables.byName[key.table.lowercased()],
        target.primaryKey.count == 1,
        let place = target.primaryKey.first,
        key.destinations.first.map({ target.columns[place].name.isColumn($0) }) ?? true,
        try countNulls(key.columns[0], of: table.name) == 0,
        try countMissing(
          key.columns[0], of: table.name, in: target.name, target.columns[place].name)
          == 0
      else { return false }
    }
    return try longestList(of: table.name, pair[0]) <= Self.longestList
  }

  private func countNulls(_ column: String, of table: String) throws -> Int {
    try database.number(
      "SELECT count(*) FROM \(table.sqlName) WHERE \(column.sqlName) IS NULL")
  }

  private func longestList(of table: String, _ column: String) throws -> Int {
    try database.number(
      "SELECT max(n) FROM (SELECT count(*) AS n FROM \(table.sqlName) GROUP BY \(column.sqlName))")
  }

  /// A record that leads to more others is rewritten too often as a list: it stays a record of its own.
  private static let longestList = 1_000

  private mutating func addList(_ table: SQLiteTable) throws {
    guard let pair = table.linkColumns,
      let source = table.foreignKeys.first(where: { $0.columns[0].isColumn(pair[0]) }),
      let target = table.foreignKeys.first(where: { $0.columns[0].isColumn(pair[1]) }),
      let owner = places[source.table.lowercased()],
      let destination = places[target.table.lowercased()],
      records[owner].key.count == 1, records[destination].key.count == 1
    else { return }
    let taken = records[owner].names
    let name = records[destination].name
    let wanted = table.list?.name ?? (taken.contains(name) ? table.name : name)
    let list = List(
      name: wanted.asFieldName(besides: taken), table: table.name, source: pair[0],
      target: pair[1], order: table.list?.order, destination: name,
      deleteRule: Self.rule(ofLink: source))
    records[owner].lists.append(list)
    addInverse(of: records[owner].name, list.name, to: destination, Self.rule(ofLink: target))
  }

  /// Returns the rule for the record that a foreign key of a link table leads to: its deletion deletes the rows of the
  /// table, or is refused as long as there are any.
  private static func rule(ofLink key: SQLiteTable.ForeignKey) -> DeleteRule {
    ["CASCADE", "SET NULL"].contains(key.deletion) ? .nullify : .deny
  }
}

/// The tables of a database, found by their names.
private struct KnownTables {
  /// By names in lowercase; of several, the first.
  let byName: [String: SQLiteTable]
  /// The names in lowercase of tables to which others lead.
  let destinations: Set<String>

  init(_ tables: [SQLiteTable]) {
    byName = Dictionary(tables.map { ($0.name.lowercased(), $0) }) { first, _ in first }
    destinations = Set(tables.flatMap { $0.foreignKeys.map { $0.table.lowercased() } })
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

// MARK: - Indexes

extension SQLiteMapping {
  private mutating func addIndexes(to place: Int) {
    let record = records[place]
    var seen: Set<[KeyField]> = [record.key.map { .ascending($0) }]
    for index in record.table.indexes {
      guard !index.isPartial, let parts = index.parts else {
        let kind = index.isPartial ? "of some of the rows" : "of expressions"
        note(record.table.name, "the index \(index.name) \(kind) is left out")
        continue
      }
      let fields = parts.compactMap { part in
        record.fields.first { $0.column.isColumn(part.column) }.map { (part, $0) }
      }
      guard fields.count == parts.count, !fields.contains(where: { $0.1.isExternal }) else {
        note(record.table.name, "the index \(index.name) is left out: its values are too long")
        continue
      }
      let key = fields.map { part, field in part.keyField(field) }
      // A reference that is checked has an index of its own.
      let isOfReference =
        fields.count == 1 && !index.isUnique && fields[0].1.destination?.isChecked == true
      guard !isOfReference, seen.insert(key).inserted else { continue }
      records[place].indexes.append(Index(parts: key, isUnique: index.isUnique))
    }
  }
}

extension SQLiteTable.Index.Part {
  fileprivate func keyField(_ field: SQLiteMapping.Field) -> KeyField {
    if isCaseInsensitive, field.type == .string {
      return .caseInsensitive(field.name, descending: isDescending)
    }
    return isDescending ? .descending(field.name) : .ascending(field.name)
  }
}

// MARK: - Order and description

extension SQLiteMapping {
  private mutating func sort() {
    let places = Dictionary(uniqueKeysWithValues: zip(records.map(\.name), records.indices))
    var sorted: [Record] = []
    // True for those that are sorted, or whose destinations are being sorted: in a circle, one of them comes first.
    var isDone = [Bool](repeating: false, count: records.count)
    for start in records.indices where !isDone[start] {
      isDone[start] = true
      var path = [(place: start, destinations: records[start].destinations[...])]
      while let last = path.last {
        if let name = last.destinations.first {
          path[path.count - 1].destinations.removeFirst()
          guard let place = places[name], !isDone[place] else { continue }
          isDone[place] = true
          path.append((place, records[place].destinations[...]))
        } else {
          sorted.append(records[last.place])
          path.removeLast()
        }
      }
    }
  }

  /// The model of the store.
  var model: StoreModel {
    let descriptions = Dictionary(
      records.map { ($0.name, $0.description) }, uniquingKeysWith: { first, _ in first })
    return StoreModel([ModelVersion(1, describing: descriptions)])
  }
}

extension SQLiteMapping.Record {
  fileprivate var destinations: [String] {
    fields.compactMap(\.destination?.record) + lists.map(\.destination)
  }

  @RecordDescription.ResultBuilder
  fileprivate var description: RecordDescription {
    for field in fields {
      Field(
        name: field.name, type: field.fieldType,
        storage: field.isExternal ? .external() : .inline, optional: field.isOptional)
    }
    for list in lists {
      Field(
        name: list.name,
        type: .references(to: list.destination, deleteRule: list.deleteRule))
    }
    RecordDescription.PrimaryKey(fields: key.map { .ascending($0) })
    for index in indexes {
      if index.isUnique {
        RecordDescription.Unique(fields: index.parts)
      } else {
        RecordDescription.Index(fields: index.parts)
      }
    }
    for inverse in inverses {
      UntypedInverse(
        inverse.name, of: inverse.reference, in: inverse.related, deleteRule: inverse.deleteRule)
    }
  }
}

extension SQLiteMapping.Field {
  fileprivate var fieldType: FieldType {
    if let destination {
      return .reference(to: destination.record, checked: destination.isChecked)
    }
    return switch type {
    case .boolean: .boolean
    case .double: .double
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .binaryData: .binaryData
    default: .integer
    }
  }
}
