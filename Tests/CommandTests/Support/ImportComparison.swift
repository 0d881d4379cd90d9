import Cambium
import FoundationEssentials

/// Compares a store with the database of which it was made, value by value and reference by reference.
struct ImportComparison {
  /// The values that are not as in the database, and not named by a note either.
  private(set) var differences: [String] = []
  private let database: RandomDatabase
  private let store: PersistentStore
  private let schema: Schema
  private let notes: [String]
  /// By table: the cells of each row.
  private var rows: [[[Cell]]]
  /// By table and foreign key: the numbers of a row and of the row that it leads to.
  private var links: [String: Set<Pair>] = [:]
  /// By the names of records.
  private var records: [String: [DynamicRecord]] = [:]

  private struct Pair: Hashable {
    let source: Int64
    let destination: Int64
  }

  /// A value as SQLite has it.
  fileprivate struct Cell {
    let type: Substring
    let text: Substring
  }

  /// - Parameter dump: The output of the database's `dump`.
  init(
    _ database: RandomDatabase, _ dump: String, _ store: PersistentStore, _ notes: [String]
  ) throws {
    self.database = database
    self.store = store
    self.notes = notes
    schema = store.schema
    rows = database.tables.map { _ in [] }
    for line in dump.split(separator: "\n") {
      let parts = line.split(separator: "|", omittingEmptySubsequences: false)
      if let table = Int(parts[0]) {
        rows[table].append(
          parts.dropFirst().map { part in
            let end = part.firstIndex(of: ":") ?? part.endIndex
            return Cell(type: part[..<end], text: part[end...].dropFirst())
          })
      } else if let source = Int64(parts[1]), let destination = Int64(parts[2]) {
        let pair = Pair(source: source, destination: destination)
        links[String(parts[0]), default: []].insert(pair)
      }
    }
    for record in schema.records { records[record.name] = try store.fetch(record: record.name) }
  }

  mutating func run() throws {
    for (place, table) in database.tables.enumerated() {
      if let record = record(of: table) {
        if table.isLink {
          compareLinks(place, record)
        } else {
          compare(place, record)
        }
      } else if table.isLink {
        compareList(place)
      } else {
        differences.append("\(table.name) is no record, and no note says so")
      }
    }
  }
}

// MARK: - Names

extension ImportComparison {
  private func isNoted(_ place: String) -> Bool {
    notes.contains {
      $0.hasPrefix(place + ":") && !$0.contains("called") && !$0.hasSuffix("stay as they are")
    }
  }

  /// The name in the store: the one that a note says, or the same.
  private func name(of original: String, _ place: String, among names: [String]) -> String? {
    let told = notes.filter { $0.hasPrefix(place + ": ") && $0.contains("called") }
    for note in told {
      let text = note.dropFirst(place.count + 2)
      if let name = names.filter({ text.contains($0) }).max(by: { $0.count < $1.count }) {
        return name
      }
    }
    return names.contains(original) ? original : nil
  }

  private func record(of table: RandomDatabase.Table) -> RecordSchema? {
    name(of: table.name, table.name, among: schema.records.map(\.name))
      .flatMap { schema.record(named: $0) }
  }

  private func field(
    of column: RandomDatabase.Column, in record: RecordSchema, _ table: RandomDatabase.Table
  ) -> FieldSchema? {
    name(of: column.name, "\(table.name).\(column.name)", among: record.fields.map(\.name))
      .flatMap { record.field(named: $0) }
  }
}

// MARK: - Values

extension ImportComparison {
  private mutating func compare(_ place: Int, _ record: RecordSchema) {
    let table = database.tables[place]
    guard let number = table.columns.firstIndex(where: { $0.name == RandomDatabase.Column.number })
    else { return }
    let found = Dictionary(
      (records[record.name] ?? []).map { ($0[RandomDatabase.Column.number], $0) },
      uniquingKeysWith: { first, _ in first })
    if found.count != rows[place].count || records[record.name]?.count != rows[place].count {
      differences.append("\(table.name) has \(rows[place].count) rows, not \(found.count)")
    }
    for (column, declared) in table.columns.enumerated() {
      let name = "\(table.name).\(declared.name)"
      guard let field = field(of: declared, in: record, table) else {
        if !isNoted(name) { differences.append("\(name) is no field") }
        continue
      }
      for row in rows[place] {
        guard let stored = found[.integer(Int64(row[number].text) ?? 0)] else { continue }
        let (cell, value) = (row[column], stored[field.name])
        guard !cell.isSame(value) else { continue }
        // A note explains other values, not that there is none.
        guard isNoted(name), (cell.type == "null") == (value == .null) else {
          differences.append(
            "\(name) of \(row[number].text): \(cell.type):\(cell.text) is \(value)")
          continue
        }
      }
    }
    for (number, key) in table.foreignKeys.enumerated() {
      compareReferences(place, number, key, record)
    }
  }

  private mutating func compareReferences(
    _ place: Int, _ number: Int, _ key: RandomDatabase.ForeignKey, _ record: RecordSchema
  ) {
    let table = database.tables[place]
    let column = table.columns[key.column]
    let name = "\(table.name).\(column.name)"
    guard let field = field(of: column, in: record, table), let reference = field.reference else {
      if !isNoted(name) { differences.append("\(name) is no reference") }
      return
    }
    guard reference.destination == self.record(of: database.tables[key.table])?.name else {
      differences.append("\(name) leads to \(reference.destination)")
      return
    }
    let numbers = numbers(of: reference.destination)
    let stored = (records[record.name] ?? []).compactMap { source -> Pair? in
      guard let destination = numbers[source[field.name]],
        case .integer(let number) = source[RandomDatabase.Column.number]
      else { return nil }
      return Pair(source: number, destination: destination)
    }
    if Set(stored) != links["\(place)@\(number)"] ?? [] {
      differences.append("\(name) leads to other rows: \(stored)")
    }
  }

  /// The numbers of rows by the keys of their records.
  private func numbers(of name: String) -> [FieldValue: Int64] {
    guard let record = schema.record(named: name), let part = record.primaryKey.first,
      let key = record.fields.first(where: { $0.number == part.field })
    else { return [:] }
    var numbers: [FieldValue: Int64] = [:]
    for stored in records[name] ?? [] {
      guard case .integer(let number) = stored[RandomDatabase.Column.number] else { continue }
      numbers[stored[key.name]] = number
    }
    return numbers
  }
}

// MARK: - Links

extension ImportComparison {
  /// Compares a list with the rows of the table that it was.
  private mutating func compareList(_ place: Int) {
    let table = database.tables[place]
    let expected = links["\(place)@0"] ?? []
    let ends = table.foreignKeys.map { record(of: database.tables[$0.table]) }
    guard let source = ends[0], let destination = ends[1] else {
      differences.append("\(table.name) is no record, and an end of it is none either")
      return
    }
    for (owner, other, isTurned) in [(source, destination, false), (destination, source, true)] {
      for field in owner.fields where field.reference?.destination == other.name {
        guard case .array = field.type else { continue }
        let stored = pairs(of: field, of: owner, to: other, isTurned: isTurned)
        if Set(stored) == expected, stored.count == rows[place].count { return }
      }
    }
    differences.append("\(table.name) is no record, and no list has its rows")
  }

  private func pairs(
    of field: FieldSchema, of owner: RecordSchema, to other: RecordSchema, isTurned: Bool
  ) -> [Pair] {
    let numbers = numbers(of: other.name)
    var pairs: [Pair] = []
    for record in records[owner.name] ?? [] {
      guard case .integer(let number) = record[RandomDatabase.Column.number],
        case .array(let elements) = record[field.name]
      else { continue }
      for element in elements {
        let destination = numbers[element] ?? -1
        pairs.append(
          isTurned
            ? Pair(source: destination, destination: number)
            : Pair(source: number, destination: destination))
      }
    }
    return pairs
  }

  /// Compares the records of a table that links others, but did not become a list.
  private mutating func compareLinks(_ place: Int, _ record: RecordSchema) {
    let table = database.tables[place]
    var stored = records[record.name] ?? []
    if stored.count != rows[place].count {
      differences.append("\(table.name) has \(rows[place].count) rows, not \(stored.count)")
    }
    let fields = table.columns.map { field(of: $0, in: record, table) }
    let areNoted = table.columns.map { isNoted("\(table.name).\($0.name)") }
    for row in rows[place] {
      let found = stored.firstIndex { candidate in
        row.indices.allSatisfy { column in
          guard let field = fields[column] else { return areNoted[column] }
          return areNoted[column] || row[column].isSame(candidate[field.name])
        }
      }
      if let found {
        stored.remove(at: found)
      } else {
        differences.append("\(table.name) lacks \(row.map { "\($0.type):\($0.text)" })")
      }
    }
  }
}

// MARK: - Equal values

extension ImportComparison.Cell {
  /// Returns true if a value of a store is exactly this one.
  fileprivate func isSame(_ value: FieldValue) -> Bool {
    switch type {
    case "null": value == .null
    case "integer": Int64(text).map { $0.isSame(value) } ?? false
    case "real": UInt64(text, radix: 16).map { Double(bitPattern: $0).isSame(value) } ?? false
    case "text": isSameText(value)
    default: isSameBytes(value)
    }
  }

  private var bytes: [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
  }

  private func isSameText(_ value: FieldValue) -> Bool {
    guard let string = String(validating: bytes, as: UTF8.self) else { return false }
    switch value {
    case .string(let other): return Array(other.utf8) == bytes
    // A spelling is a part of the value: 3 o'clock in the time zone of two hours, and lowercase digits.
    case .uuid(let uuid): return uuid.uuidString == string
    case .date(let date):
      return RandomDatabase.dates[string] == date.timeIntervalSinceReferenceDate
        && !string.contains("+") || isDayOfKey(string, date)
    default: return false
    }
  }

  /// Days in keys are 2020-01-01 and those after it.
  private func isDayOfKey(_ string: String, _ date: Date) -> Bool {
    guard string.hasPrefix("2020-01-0"), let day = Double(string.dropFirst(9).prefix(1)),
      string.count == 10 || string.hasSuffix("T00:00:00Z")
    else { return false }
    return date.timeIntervalSinceReferenceDate == 599_529_600 + (day - 1) * 86_400
  }

  private func isSameBytes(_ value: FieldValue) -> Bool {
    switch value {
    case .data(let data): Array(data) == bytes
    case .uuid(let uuid):
      bytes.count == 16
        && uuid.uuidString.filter { $0 != "-" } == String(text).uppercased()
    default: false
    }
  }
}

extension Int64 {
  fileprivate func isSame(_ value: FieldValue) -> Bool {
    switch value {
    case .integer(let other): other == self
    case .boolean(let isTrue): self == (isTrue ? 1 : 0)
    case .double(let other): Int64(exactly: other) == self
    default: false
    }
  }
}

extension Double {
  fileprivate func isSame(_ value: FieldValue) -> Bool {
    switch value {
    case .double(let other): other == self
    case .integer(let other): Int64(exactly: self) == other
    default: false
    }
  }
}
