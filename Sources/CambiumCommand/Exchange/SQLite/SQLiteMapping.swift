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
    /// The column's name; nil for SQLite's own key of a row.
    let column: String?
    /// What it is in a query of its table.
    let expression: String
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
    /// Nil for the one that is made of its fields' names.
    let name: String?
    let parts: [KeyField]
    var isUnique: Bool
  }

  private let database: SQLiteDatabase
  /// By table. Tables that link two others have none.
  private var places: [String: Int] = [:]
  private var recordNames: Set<String> = []
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
    let tables = coreData?.tables ?? declared
    let numbersAreDates = try database.isOfCoreData()
    let known = KnownTables(tables)
    let declaredLinks = tables.filter { isLink($0, among: known) }
    let linkNames = Set(declaredLinks.map(\.name))
    func read(_ table: SQLiteTable) throws -> SQLiteProfile {
      try SQLiteProfile(table, of: database, numbersAreDates: numbersAreDates) {
        try progress(table.name, $0)
      }
    }
    for table in tables where !linkNames.contains(table.name) {
      add(table, try read(table))
    }
    // Which keys the records have is known now.
    var links: [SQLiteTable] = []
    for link in declaredLinks {
      let profile = try read(link)
      if try isList(link, profile) {
        links.append(link)
      } else {
        add(link, profile)
      }
    }
    guard !records.isEmpty else {
      throw CommandFailure(.invalid, "There is nothing to import: the database has no tables.")
    }
    for place in records.indices { try addReferences(to: place) }
    for link in links { addList(link) }
    for place in records.indices { addIndexes(to: place) }
    sort()
  }

  private mutating func note(_ place: String, _ text: String) { notes.append("\(place): \(text)") }
}

// MARK: - Records and fields

extension SQLiteMapping {
  private mutating func add(_ table: SQLiteTable, _ profile: SQLiteProfile) {
    var fields: [Field] = []
    for (place, (column, values)) in zip(table.columns, profile.columns).enumerated() {
      let (type, change) = values.type(
        declared: column.declaredType, isKey: table.primaryKey.contains(place))
      let field = Field(
        name: column.name.asFieldName(besides: fields.map(\.name)), column: column.name,
        expression: column.name.sqlName, type: type,
        isOptional: !column.isRequired || values.nulls > 0,
        isExternal: values.longest > Self.longestInRow && (type == .string || type == .binaryData))
      let text = "\(table.name).\(column.name)"
      if let change { note(text, change) }
      if field.name != column.name { note(text, "it is called \(field.name) in the store") }
      fields.append(field)
    }
    let key = declaredKey(of: table, profile, fields)
    if let key {
      for place in key {
        let field = fields[place]
        fields[place] = Field(
          name: field.name, column: field.column, expression: field.expression, type: field.type,
          isOptional: false, isExternal: false)
      }
    } else {
      let name = "rowid".asFieldName(besides: fields.map(\.name))
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
    let name = table.name.asFieldName(besides: recordNames)
    recordNames.insert(name)
    if name != table.name { note(table.name, "it is called \(name) in the store") }
    places[table.name.sqlFolded] = records.count
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
      return values.nulls == 0
        && (values.values == 0 || values.spelling(as: fields[place].type) != nil)
    }
    let isAlone = table.primaryKey.count == 1
    let length = table.primaryKey.reduce(0) { length, place in
      length + profile.columns[place].longestKey(isAlone: isAlone)
    }
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
    let plain = replacing(".", with: "_").cut
    let base = plain.isEmpty ? "unnamed" : plain
    var (name, number) = (base, 2)
    while others.contains(name) {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// The beginning of the name, if it is longer than names can be with what may be added.
  fileprivate var cut: String {
    var name = self
    while name.utf8.count > 200 { name.removeLast() }
    return name
  }
}

// MARK: - References

extension SQLiteMapping {
  private mutating func addReferences(to place: Int) throws {
    let table = records[place].table
    for key in table.foreignKeys {
      let text = "\(table.name).\(key.columns.joined(separator: ", "))"
      guard let target = places[key.table.sqlFolded] else {
        note(text, "it leads to \(key.table), which is no record; it is a plain field")
        continue
      }
      guard let destination = self.key(of: target, named: key) else {
        note(text, "it does not lead to a primary key of one field; it is no reference")
        continue
      }
      guard let field = records[place].fields.firstIndex(where: { $0.isOf(key.columns[0]) })
      else { continue }
      if let known = records[place].fields[field].destination {
        // Some state the same key twice.
        if known.record != records[target].name {
          note(text, "it leads to \(key.table), too; it is a reference to \(known.record) only")
        }
        continue
      }
      try addReference(key, field, of: place, to: target, destination, text)
    }
  }

  /// Returns the field that is the primary key of a record, if a foreign key leads to just that; nil otherwise.
  private func key(of target: Int, named key: SQLiteTable.ForeignKey) -> Field? {
    let record = records[target]
    guard key.columns.count == 1, record.key.count == 1,
      let field = record.fields.first(where: { $0.name == record.key[0] }),
      let column = field.column, key.destinations.first?.isName(column) ?? true
    else { return nil }
    return field
  }

  private mutating func addReference(
    _ key: SQLiteTable.ForeignKey, _ place: Int, of record: Int, to target: Int,
    _ destination: Field, _ text: String
  ) throws {
    let field = records[record].fields[place]
    let table = records[record].table
    guard let column = field.column, let number = table.column(named: column) else { return }
    let values = records[record].profile.columns[number]
    if let fault = fault(ofReference: field, of: record, to: target) {
      return note(text, "\(fault); it is a plain field")
    }
    let missing: Int
    switch try match(values, field.type, column, of: table, target, destination) {
    case .fault(let fault): return note(text, "\(fault); it is a plain field")
    case .missing(let count): missing = count
    }
    if values.values == 0 { records[record].fields[place].type = destination.type }
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

  /// How the values of a column fit the keys of a record.
  private enum Match {
    /// Why they cannot lead to it, in words.
    case fault(String)
    /// They can, and lead to the rows that they lead to in the database, but for some that lead nowhere.
    case missing(Int)
  }

  /// Compares the values of a column with the keys that they lead to: both must have the type that references have, and
  /// find the same rows by its bytes as SQLite does by its own rules.
  private func match(
    _ values: SQLiteProfile.Column, _ type: ScalarType, _ column: String, of table: SQLiteTable,
    _ target: Int, _ key: Field
  ) throws -> Match {
    if key.type == .double || key.type == .boolean {
      return .fault("it leads to a key that is \(key.type), which no reference can be")
    }
    guard values.values > 0 else { return .missing(0) }
    guard type == key.type else {
      return .fault("its values are \(type), the key that it leads to is \(key.type)")
    }
    let destination = records[target]
    guard let name = key.column, let place = destination.table.column(named: name) else {
      return .fault("it leads to no column")
    }
    guard !destination.table.hasForeignCollation else {
      return .fault("it leads to a key that the program compares by a collation of its own")
    }
    let keys = destination.profile.columns[place]
    guard let spelling = values.spelling(as: type),
      keys.values == 0 || keys.spelling(as: key.type) == spelling
    else {
      return .fault("its values are written otherwise than the keys that it leads to")
    }
    let condition = "b.\(name.sqlName) = a.\(column.sqlName)"
    let isSame =
      " AND \(condition) COLLATE BINARY"
      + " AND typeof(b.\(name.sqlName)) = typeof(a.\(column.sqlName))"
    func countMissing(_ condition: String) throws -> Int {
      try database.number(
        """
        SELECT count(*) FROM \(table.name.sqlName) AS a WHERE a.\(column.sqlName) IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM \(destination.table.name.sqlName) AS b WHERE \(condition))
        """)
    }
    let missing = try countMissing(condition + isSame)
    guard missing > 0 else { return .missing(0) }
    let different = try missing - countMissing(condition)
    guard different == 0 else {
      return .fault(
        "\(Figures.count(different, "row")) \(different == 1 ? "leads" : "lead") to keys that are spelled otherwise"
      )
    }
    return .missing(missing)
  }

  /// Returns why there is no such reference in Swift; nil if there can be.
  private func fault(ofReference field: Field, of record: Int, to target: Int) -> String? {
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

extension SQLiteMapping.Field {
  /// Returns true for the field of a column.
  fileprivate func isOf(_ name: String) -> Bool { column?.isName(name) ?? false }
}

// MARK: - Lists

extension SQLiteMapping {
  /// Returns true for a table that is declared to hold nothing but pairs of keys of two others, each pair once.
  private func isLink(_ table: SQLiteTable, among tables: KnownTables) -> Bool {
    guard table.columns.count == (table.list?.order == nil ? 2 : 3), table.foreignKeys.count == 2,
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
  private func isList(_ table: SQLiteTable, _ profile: SQLiteProfile) throws -> Bool {
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
  private mutating func addList(_ table: SQLiteTable) {
    guard let pair = table.linkColumns,
      let source = table.foreignKeys.first(where: { $0.columns[0].isName(pair[0]) }),
      let target = table.foreignKeys.first(where: { $0.columns[0].isName(pair[1]) }),
      let owner = places[source.table.sqlFolded],
      let destination = places[target.table.sqlFolded]
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
        record.fields.first { $0.isOf(part.column) }.map { (part, $0) }
      }
      guard fields.count == parts.count, !fields.contains(where: { $0.1.isExternal }) else {
        note(record.table.name, "the index \(index.name) is left out: its values are too long")
        continue
      }
      guard Set(fields.map(\.1.name)).count == fields.count else {
        note(record.table.name, "the index \(index.name) is left out: a column is in it twice")
        continue
      }
      let key = fields.map { part, field in part.keyField(field) }
      // A reference that is checked has an index of its own.
      let isOfReference =
        fields.count == 1 && !index.isUnique && fields[0].1.destination?.isChecked == true
      guard !isOfReference else { continue }
      guard seen.insert(key).inserted else {
        let known = records[place].indexes.firstIndex { $0.parts == key }
        if let known, index.isUnique { records[place].indexes[known].isUnique = true }
        continue
      }
      let isLong = key.text.utf8.count > StoreError.Limit.nameLength.bound
      records[place].indexes.append(
        Index(name: isLong ? index.name.cut : nil, parts: key, isUnique: index.isUnique))
    }
  }
}

extension SQLiteMapping {
  /// Makes a unique constraint one of the rows that may be equal: those of the database break it by the rules of a store.
  ///
  /// - Parameters:
  ///   - constraint: Its name in errors.
  ///   - record: The name of its record.
  /// - Returns: False if there is none.
  mutating func leaveOut(_ constraint: String, of record: String) -> Bool {
    guard let place = records.firstIndex(where: { $0.name == record }),
      let number = records[place].indexes.firstIndex(where: {
        $0.isUnique && ($0.name ?? $0.parts.text) == constraint
      })
    else { return false }
    records[place].indexes[number].isUnique = false
    note(
      records[place].table.name,
      "UNIQUE of \(constraint) is left out, and an index kept: rows that differ in SQLite are equal here"
    )
    return true
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
        RecordDescription.Unique(fields: index.parts, named: index.name)
      } else {
        RecordDescription.Index(fields: index.parts, named: index.name)
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
