import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes the rows of a database as the records that a mapping makes of them.
struct SQLiteImport {
  private let database: SQLiteDatabase
  private let mapping: SQLiteMapping
  private let bar: ProgressBar
  private let total: Int

  init(_ database: SQLiteDatabase, _ mapping: SQLiteMapping, _ bar: ProgressBar) {
    self.database = database
    self.mapping = mapping
    self.bar = bar
    total = mapping.records.reduce(0) { $0 + $1.profile.count }
  }

  /// Fills a new store, in one commit.
  ///
  /// - Returns: The number of records.
  func run(into store: PersistentStore) throws -> Int {
    try store.write { transaction in
      var count = 0
      for record in mapping.records { try write(record, &transaction, &count) }
      return count
    }
  }

  private func write(
    _ record: SQLiteMapping.Record, _ transaction: inout WriteTransaction, _ count: inout Int
  ) throws {
    let key = record.fields.firstIndex { $0.name == record.key[0] } ?? 0
    let kinds = KindRow(record)
    let kindColumn = kinds == nil ? [] : [SQLiteTable.kindColumn.sqlName]
    let rows = try database.query(
      "SELECT \((record.fields.map(\.expression) + kindColumn).joined(separator: ", "))"
        + " FROM \(record.table.name.sqlName)")
    let lists = try record.lists.map { list in
      (
        query: try database.query(list.query),
        conversion: SQLiteConversion(
          type: type(ofKeyOf: list.destination), reading: list.reading)
      )
    }
    var conversions = record.fields.map { SQLiteConversion(type: $0.type, reading: $0.reading) }
    if kinds != nil { conversions.append(SQLiteConversion(type: .int64, reading: nil)) }
    // Lists are queried for each row, by the same thread as the rows.
    let isLarge = record.profile.count >= SQLiteRowsAhead.countMin
    let ahead = isLarge && lists.isEmpty ? try SQLiteRowsAhead(rows, conversions) : nil
    defer { ahead?.end() }
    do {
      _ = try transaction.load(
        record: record.name,
        fields: kinds?.fields ?? record.fields.map(\.name) + record.lists.map(\.name),
        expecting: record.profile.count
      ) { values in
        func set(_ column: Int, _ value: FieldValue) {
          if let kinds { kinds[column] = value } else { values[column] = value }
        }
        if let ahead {
          guard try ahead.next() else { return false }
          for column in conversions.indices { set(column, ahead.value(column)) }
        } else {
          guard try rows.next() else { return false }
          for column in conversions.indices { set(column, rows.value(column, conversions[column])) }
        }
        for (place, list) in lists.enumerated() {
          try list.query.restart(with: key, of: rows)
          set(conversions.count + place, .array(try list.query.values(list.conversion)))
        }
        kinds?.give(to: &values)
        count += 1
        if count & 0xfff == 0 { try show(count) }
        return true
      }
    } catch let error as StoreError {
      // The import may begin again without the constraint.
      if case .uniqueConflict = error { throw error }
      guard ExitStatus(of: error) == .invalid else { throw error }
      throw CommandFailure(.invalid, "table \(record.table.name): \(error)")
    }
  }

  private func show(_ count: Int) throws {
    try Interruption.check("The import was interrupted; there is no store.")
    bar.show(Double(count) / Double(max(1, total)), "\(Figures.count(count)) records")
  }

  private func type(ofKeyOf name: String) -> ScalarType {
    let record = mapping.records.first { record in
      record.name == name || record.kinds.contains { $0.name == name }
    }
    guard let record else { return .int64 }
    return record.fields.first { $0.name == record.key[0] }?.type ?? .int64
  }
}

/// The values of a row of a table with kinds: those that the record has, and those that are in the composites of its kinds.
private final class KindRow {
  private typealias Part = (place: Int, name: String)

  /// The names of the record's fields, and of the outermost kinds.
  let fields: [String]
  private let kinds: [SQLiteTable.Kind]
  /// The places of the values that the record has, with their names.
  private let own: [Part]
  /// In step with the kinds: the places of the values that each has.
  private let parts: [[Part]]
  /// In step with the kinds: the places of the outermost ones among the fields.
  private let places: [Int?]
  /// The place of the value that says which kind a row is of.
  private let kindPlace: Int
  private var values: [FieldValue]

  /// - Returns: nil for a record without kinds.
  init?(_ record: SQLiteMapping.Record) {
    if record.kinds.isEmpty { return nil }
    var own: [Part] = []
    var parts: [[Part]] = record.kinds.map { _ in [] }
    func add(_ name: String, at place: Int, to kind: Int?) {
      if let kind { parts[kind].append((place, name)) } else { own.append((place, name)) }
    }
    let kindPlace = record.fields.count
    for (place, field) in record.fields.enumerated() { add(field.name, at: place, to: field.kind) }
    for (place, list) in record.lists.enumerated() {
      add(list.name, at: kindPlace + 1 + place, to: list.kind)
    }
    var fields = own.map(\.name)
    places = record.kinds.map { kind in
      guard kind.parent == nil else { return nil }
      fields.append(kind.name)
      return fields.count - 1
    }
    kinds = record.kinds
    values = Array(repeating: .null, count: kindPlace + 1 + record.lists.count)
    self.fields = fields
    self.own = own
    self.parts = parts
    self.kindPlace = kindPlace
  }

  /// A value by its column in the query: first the record's fields, then the kind, then the lists.
  subscript(column: Int) -> FieldValue {
    get { values[column] }
    set { values[column] = newValue }
  }

  func give(to loaded: inout LoadedValues) {
    for (field, part) in own.enumerated() { loaded[field] = values[part.place] }
    for place in places { if let place { loaded[place] = .null } }
    guard case .integer(let number) = values[kindPlace],
      var kind = Int(exactly: number), kinds.indices.contains(kind)
    else { return }
    var composite = composite(of: kind)
    while let parent = kinds[kind].parent {
      var outer = self.composite(of: parent)
      outer[kinds[kind].name] = .composite(composite)
      (composite, kind) = (outer, parent)
    }
    if let place = places[kind] { loaded[place] = .composite(composite) }
  }

  /// The fields that a kind declares itself.
  private func composite(of kind: Int) -> [String: FieldValue] {
    if parts[kind].isEmpty { return [SQLiteMapping.markerName: .boolean(true)] }
    return Dictionary(
      parts[kind].map { ($0.name, values[$0.place]) }, uniquingKeysWith: { first, _ in first })
  }
}

/// How the values of a column become those of a field.
struct SQLiteConversion {
  let type: ScalarType
  /// Nil if the caller has not chosen one.
  let reading: ColumnReading?
}

extension SQLiteMapping.List {
  /// The keys that a record leads to, whose key is the parameter.
  fileprivate var query: String {
    // The index of a column without regard to case finds more than the key itself.
    "SELECT \(target.sqlName) FROM \(table.sqlName) WHERE \(source.sqlName) = ?1"
      + " AND \(source.sqlName) = ?1 COLLATE BINARY"
      + (order.map { " ORDER BY \($0.sqlName)" } ?? "")
  }
}

extension SQLiteQuery {
  /// The first columns of the remaining rows.
  fileprivate func values(_ conversion: SQLiteConversion) throws -> [FieldValue] {
    var values: [FieldValue] = []
    while try next() { values.append(value(0, conversion)) }
    return values
  }

  /// A value as one of a type that was found to hold all values of the column, or as the caller chooses.
  func value(_ column: Int, _ conversion: SQLiteConversion) -> FieldValue {
    if let reading = conversion.reading { return reading.read(value(column, for: reading)).value }
    return switch (type(column), conversion.type) {
    case (.null, _): .null
    case (.integer, .boolean): .boolean(integer(column) != 0)
    case (_, .int64): .integer(integer(column))
    case (_, .double): .double(double(column))
    case (.text, .date): Date(iso: string(column)).map { .date($0) } ?? .null
    case (_, .date): .date(Date(timeIntervalSinceReferenceDate: double(column)))
    case (.text, .uuid): UUID(uuidString: string(column)).map { .uuid($0) } ?? .null
    case (.blob, .uuid): UUID(data(column)).map { .uuid($0) } ?? .null
    case (.blob, .binaryData), (.text, .binaryData): .data(data(column))
    case (_, .binaryData): .data(Data(text(column).utf8))
    default: .string(text(column))
    }
  }

  /// A string, or the shortest text of a number of which it can be made again: SQLite's own has 15 digits.
  private func text(_ column: Int) -> String {
    type(column) == .real ? "\(double(column))" : string(column)
  }
}
