import Cambium

/// The format of a file of records.
enum SourceFormat: String, CaseIterable, Sendable {
  case csv, json, jsonl

  /// By the ending of a file's name; nil if that says nothing.
  init?(of path: String) {
    switch path.split(separator: ".").last?.lowercased() {
    case "csv"?, "tsv"?: self = .csv
    case "json"?: self = .json
    case "jsonl"?, "ndjson"?: self = .jsonl
    default: return nil
    }
  }

  /// By how a file begins.
  init(beginning byte: UInt8?) {
    switch byte {
    case UInt8(ascii: "["): self = .json
    case UInt8(ascii: "{"): self = .jsonl
    default: self = .csv
    }
  }
}

/// A record as a file has it: its fields' values, or its fault.
struct SourceRecord {
  let line: Int
  /// As it stands in the file.
  let bytes: [UInt8]
  let fields: Result<[String: FieldValue], JSONFault>
}

/// Reads the records of a file, one after the other.
struct SourceReader {
  private let lines: LineInput
  private let shape: RecordShape
  private let mapping: ColumnMapping
  private let format: SourceFormat
  private let csv: CSVReader
  /// The columns of comma-separated values: their names, and the fields that they are for.
  private var columns: [(name: String, path: [FieldShape])] = []
  /// The header of the file, for records that are set aside.
  private(set) var header: [UInt8] = []
  private var divider = JSONDivider()
  private var chunk: ArraySlice<UInt8> = []
  private var isAtEnd = false

  init(
    _ lines: LineInput, _ format: SourceFormat, separator: UInt8, _ shape: RecordShape,
    _ mapping: ColumnMapping
  ) throws {
    self.lines = lines
    self.format = format
    self.shape = shape
    self.mapping = mapping
    csv = CSVReader(lines, separator: separator)
    if format == .csv {
      try lines.findEnd()
      try readHeader(separator)
    }
  }

  mutating func next() throws -> SourceRecord? {
    switch format {
    case .csv: try nextRow()
    case .jsonl: try nextLine()
    case .json: try nextElement()
    }
  }

  // MARK: Comma-separated values

  private mutating func readHeader(_ separator: UInt8) throws {
    guard let entry = try csv.next() else {
      throw CommandFailure(.invalid, "There is nothing to import: the file has no header.")
    }
    let hint = Self.hint(atSeparatorOf: entry.bytes, without: separator)
    do {
      let names = try entry.record.get().cells.map(\.text)
      if let name = mapping.missing(from: names) {
        throw CommandFailure(.notFound, "The file has no column \(name), but it is mapped\(hint).")
      }
      columns = try names.map { name throws(JSONFault) in (name, try mapping.path(of: name)) }
    } catch let fault as JSONFault {
      throw JSONFault(line: entry.line, reason: fault.reason + hint)
    }
    let paths = columns.map { $0.path.map(\.name) }.filter { !$0.isEmpty }
    guard Set(paths).count == paths.count else {
      throw JSONFault(line: entry.line, reason: "two columns are for the same field")
    }
    header = entry.bytes
  }

  /// Returns advice to append to an error in the header, if another common separator occurs in it more often.
  private static func hint(atSeparatorOf header: [UInt8], without separator: UInt8) -> String {
    let others: [(sign: UInt8, text: String)] = [
      (0x3b, ";"), (0x09, "\\t"), (0x7c, "|"), (0x2c, ","),
    ]
    func count(_ sign: UInt8) -> Int { header.count { $0 == sign } }
    guard let other = others.first(where: { count($0.sign) > count(separator) }) else { return "" }
    return "; if \(other.text) is between the cells, say --separator '\(other.text)'"
  }

  private mutating func nextRow() throws -> SourceRecord? {
    guard let entry = try csv.next() else { return nil }
    let fields: Result<[String: FieldValue], JSONFault>
    do throws(JSONFault) {
      fields = .success(try self.fields(of: try entry.record.get()))
    } catch {
      fields = .failure(error)
    }
    return SourceRecord(line: entry.line, bytes: entry.bytes, fields: fields)
  }

  private func fields(of record: CSVRecord) throws(JSONFault) -> [String: FieldValue] {
    guard record.cells.count == columns.count else {
      throw JSONFault(
        reason:
          "it has \(Figures.count(record.cells.count, "cell")), and the header has \(columns.count)"
      )
    }
    var fields: [String: FieldValue] = [:]
    for (cell, column) in zip(record.cells, columns) {
      guard let field = column.path.last else { continue }
      let isNull = cell.text.isEmpty && !cell.isQuoted && field.isOptional
      let value: FieldValue
      if !isNull, let date = try mapping.date(of: cell.text, in: column.name) {
        value = date
      } else {
        value = try FieldValue(cell, of: field)
      }
      Self.set(value, at: column.path[...], in: &fields)
    }
    return fields
  }

  private static func set(
    _ value: FieldValue, at path: ArraySlice<FieldShape>, in fields: inout [String: FieldValue]
  ) {
    guard let field = path.first else { return }
    if path.count == 1 {
      fields[field.name] = value
      return
    }
    var parts: [String: FieldValue] = [:]
    if case .composite(let known)? = fields[field.name] { parts = known }
    set(value, at: path.dropFirst(), in: &parts)
    fields[field.name] = .composite(parts)
  }

  // MARK: JSON

  private mutating func nextLine() throws -> SourceRecord? {
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || (0x09...0x0d).contains($0) }) { continue }
      return record(line, line: lines.number)
    }
    return nil
  }

  /// The next element of an array, whose brackets and commas have to be right.
  private mutating func nextElement() throws -> SourceRecord? {
    while true {
      while let byte = chunk.popFirst() {
        if let value = try divider.take(byte) { return record(value, line: divider.valueLine) }
      }
      if isAtEnd { return nil }
      guard let more = try lines.nextChunk() else {
        isAtEnd = true
        return try divider.end().map { record($0, line: divider.valueLine) }
      }
      chunk = more[...]
    }
  }

  private func record(_ bytes: [UInt8], line: Int) -> SourceRecord {
    let fields: Result<[String: FieldValue], JSONFault>
    do throws(JSONFault) {
      fields = .success(try self.fields(of: try JSONParser.parse(bytes)))
    } catch {
      fields = .failure(error)
    }
    return SourceRecord(line: line, bytes: bytes, fields: fields)
  }

  private func fields(of json: JSONValue) throws(JSONFault) -> [String: FieldValue] {
    guard case .object(let members) = json else { throw JSONFault(reason: "it is no object") }
    var fields: [String: FieldValue] = [:]
    for member in members {
      let path = try mapping.path(of: member.name)
      guard let field = path.last else { continue }
      Self.set(try value(of: member, field), at: path[...], in: &fields)
    }
    return fields
  }

  private func value(
    of member: JSONValue.Member, _ field: FieldShape
  ) throws(JSONFault) -> FieldValue {
    switch member.value {
    case .number(let text), .string(let text):
      if let date = try mapping.date(of: text, in: member.name) { return date }
    default: break
    }
    return try FieldValue(member.value, of: field)
  }
}
