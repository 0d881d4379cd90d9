import Cambium

/// The first line of an export: the description of the new store.
struct ImportHeader {
  let fingerprint: String
  let model: StoreModel
  /// By name.
  let shapes: [String: RecordShape]
  /// The records that there are to be.
  let recordCount: Int

  init(_ lines: LineInput) throws {
    guard let line = try lines.next() else {
      throw CommandFailure(.invalid, "There is nothing to import: the export is empty.")
    }
    let json = try JSONParser.parse(line)
    guard let format = json[ExchangeFormat.name]?.integer else {
      throw CommandFailure(
        .invalid,
        "It does not begin as an export does: with a line that has “\(ExchangeFormat.name)”.")
    }
    guard format <= ExchangeFormat.number else {
      throw CommandFailure(
        .newerFormat,
        "The export has form \(format), and this command knows form \(ExchangeFormat.number).")
    }
    guard let text = json["schema"]?.text, let fingerprint = json["fingerprint"]?.text else {
      throw CommandFailure(.invalid, "The export's first line has no schema.")
    }
    model = try StoreModel(try SchemaLock(parsing: text))
    guard let schema = try model.schemas().last, "\(schema.fingerprint)" == fingerprint else {
      throw CommandFailure(
        .invalid, "The export's schema has another fingerprint than the export says.")
    }
    self.fingerprint = fingerprint
    shapes = Dictionary(
      schema.records.map { ($0.name, RecordShape($0)) }, uniquingKeysWith: { one, _ in one })
    var count = 0
    if case .object(let counts) = json["records"] ?? .null {
      for member in counts { count = max(count, count &+ max(0, member.value.integer ?? 0)) }
    }
    recordCount = count
  }
}

/// Reads the other lines of an export.
struct ImportReader {
  private let lines: LineInput
  private let header: ImportHeader
  private let bar: ProgressBar
  private var count = 0

  init(_ lines: LineInput, _ header: ImportHeader, _ bar: ProgressBar) {
    self.lines = lines
    self.header = header
    self.bar = bar
  }

  /// - Returns: how many records were written.
  /// - Throws: if a line is wrong, or the last one is missing.
  consuming func run(into transaction: inout WriteTransaction) throws -> Int {
    while let line = try lines.next() {
      try Interruption.check("The import was interrupted; nothing of it is there.")
      let isLast: Bool
      do {
        isLast = try take(line, &transaction)
      } catch let fault as JSONFault {
        throw JSONFault(line: lines.number, reason: fault.reason)
      } catch let error as StoreError {
        guard ExitStatus(of: error) == .invalid else { throw error }
        throw CommandFailure(.invalid, "line \(lines.number): \(error)")
      }
      if isLast { return count }
    }
    throw CommandFailure(
      .invalid, "The export was cut off: its last line is missing. Nothing was imported.")
  }

  /// - Returns: True if it was the last line.
  private mutating func take(
    _ line: [UInt8], _ transaction: inout WriteTransaction
  ) throws -> Bool {
    let json = try JSONParser.parse(line)
    if let name = json["record"]?.text {
      try transaction.save(try record(named: name, json["fields"] ?? .null))
      count += 1
      bar.show(
        Double(count) / Double(max(1, header.recordCount)), "\(Figures.count(count)) records")
      return false
    }
    if let name = json["metadata"]?.text {
      try transaction.setMetadata(json["value"] ?? .null, for: name)
      return false
    }
    guard let end = json["end"]?.integer else {
      throw JSONFault(reason: "the line has no record, metadata or end")
    }
    guard end == count else {
      throw JSONFault(reason: "the export had \(end) records, and \(count) were read")
    }
    return true
  }

  private func record(named name: String, _ json: JSONValue) throws(JSONFault) -> DynamicRecord {
    guard let shape = header.shapes[name] else {
      throw JSONFault(reason: "the schema has no record \(name)")
    }
    return DynamicRecord(
      name, RecordFields(try FieldValue.parts(json, of: shape.fields, in: name)))
  }
}
