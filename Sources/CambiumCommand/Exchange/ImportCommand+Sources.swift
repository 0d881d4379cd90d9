import ArgumentParser
import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Records of a type, out of a file that others have written.

extension ImportCommand {
  /// Imports the records of a file into a store that is there already.
  func importRecords(of name: String, from path: String) throws {
    let store = try arguments.openKeepingHistory()
    do {
      let run = try SourceImport(self, into: store, record: name, from: path)
      Interruption.begin()
      try run.run()
      try store.close()
      say(run, name)
    } catch {
      try? store.close()
      throw error
    }
  }

  /// The character between cells.
  func separatorByte(_ path: String) throws -> UInt8 {
    guard let separator else { return UInt8(ascii: path.hasSuffix(".tsv") ? "\t" : ",") }
    let bytes = Array((separator == "\\t" ? "\t" : separator).utf8)
    guard bytes.count == 1, bytes[0] < 0x80, ![0x22, 0x0a, 0x0d].contains(bytes[0]) else {
      throw CommandFailure(.usage, "\(separator) cannot part cells.")
    }
    return bytes[0]
  }

  private func say(_ run: SourceImport, _ name: String) {
    let report = run.report
    if arguments.json {
      let json: JSONValue = [
        "inserted": JSONValue(report.inserted), "updated": JSONValue(report.updated),
        "unchanged": JSONValue(report.unchanged), "rejected": JSONValue(run.rejectedCount),
      ]
      return StandardOutput.line("\(json)")
    }
    let counts = [(report.inserted, "inserted"), (report.updated, "updated")].map {
      "\(Figures.count($0.0)) \($0.1)"
    }
    StandardOutput.line(
      "\(counts.joined(separator: ", ")) and \(Figures.count(report.unchanged)) left as they are, of \(name) in \(arguments.store)."
    )
    if run.rejectedCount > 0 {
      StandardOutput.line(
        "\(Figures.count(run.rejectedCount, "record")) could not be imported and are in \(rejects ?? "")."
      )
    }
  }
}

/// The import of a file: batches of its records, in one transaction or in several.
final class SourceImport {
  private let store: PersistentStore
  private let name: String
  private let id: String?
  private let batch: Int?
  private let lines: LineInput
  private var source: SourceReader
  private let rejectsPath: String?
  private var rejects: FileOutput?
  private let bar = ProgressBar()
  private(set) var report = ImportReport()
  private(set) var rejectedCount = 0
  private var committedCount = 0

  /// The number of records that are found together.
  private static let chunkSize = 4096
  /// The number of records of which it is said what is wrong with them.
  private static let saidMax = 20

  init(
    _ command: ImportCommand, into store: PersistentStore, record name: String, from path: String
  ) throws {
    let type = try store.schema.type(named: name)
    let shape = RecordShape(type)
    if let rejects = command.rejects, NewName.isTaken(rejects) {
      throw CommandFailure(.refused, "\(rejects) is there already.")
    }
    let lines = try LineInput(path)
    let format =
      command.format ?? SourceFormat(of: path) ?? SourceFormat(beginning: lines.firstByte())
    let mapping = try ColumnMapping(command.map, ImportChoices(command.choices), of: shape)
    source = try SourceReader(
      lines, format, separator: try command.separatorByte(path), shape, mapping)
    if let id = command.id, !shape.fields.contains(where: { $0.name == id }) {
      throw CommandFailure.unknown("field", id, in: name, known: shape.fields.map(\.name))
    }
    id = command.id
    batch = command.batch
    rejectsPath = command.rejects
    self.lines = lines
    self.store = store
    self.name = name
  }

  func run() throws {
    defer { bar.end() }
    var isWhole = false
    repeat {
      do {
        try store.write { transaction in
          isWhole = try importBatch(into: &transaction)
          // Records that are set aside are on the disk before the others are committed.
          if isWhole { try rejects?.close() } else { try rejects?.flush() }
        }
        committedCount += 1
      } catch {
        try? leaveRejects(isClosed: isWhole)
        throw naming(error)
      }
    } while !isWhole
  }

  /// Keeps the file of records that were set aside only if the others were imported.
  private func leaveRejects(isClosed: Bool) throws {
    guard let rejects, let rejectsPath else { return }
    if committedCount > 0 {
      if !isClosed { try rejects.close() }
    } else if isClosed {
      _ = unsafe unlink(rejectsPath)
    }
  }

  /// - Returns: True if it was the last.
  private func importBatch(into transaction: inout WriteTransaction) throws -> Bool {
    var left = batch ?? .max
    while left > 0 {
      try Interruption.check("The import was interrupted; \(outcome)")
      let size = min(left, Self.chunkSize)
      let records = try nextRecords(size)
      try write(records, into: &transaction)
      left -= size
      bar.show(
        lines.fraction,
        "\(Figures.count(report.inserted + report.updated + report.unchanged)) records")
      if records.isAtEnd { return true }
    }
    return false
  }

  private func nextRecords(_ count: Int) throws -> (list: [SourceRecord], isAtEnd: Bool) {
    var list: [SourceRecord] = []
    for _ in 0..<count {
      guard let record = try source.next() else { return (list, true) }
      list.append(record)
    }
    return (list, false)
  }

  private func write(
    _ records: (list: [SourceRecord], isAtEnd: Bool), into transaction: inout WriteTransaction
  ) throws {
    var (fields, numbers): ([[String: FieldValue]], [Int]) = ([], [])
    for (number, record) in records.list.enumerated() {
      switch record.fields {
      case .success(let values):
        fields.append(values)
        numbers.append(number)
      case .failure(let fault): try reject(record, fault.reason)
      }
    }
    report += try transaction.importRecords(record: name, from: fields, uniqueID: id) {
      number, error in
      guard [.invalid, .usage].contains(ExitStatus(of: error)) else { throw error }
      try reject(records.list[numbers[number]], "\(error)")
    }
  }

  /// Sets a record aside, or refuses all of them.
  private func reject(_ record: SourceRecord, _ reason: String) throws {
    guard let rejectsPath else {
      throw CommandFailure(
        .invalid, "line \(record.line): \(reason)\(reason.hasSuffix(".") ? "" : ".") \(outcome)")
    }
    if rejects == nil {
      rejects = try FileOutput.create(rejectsPath, of: store.path, overwriting: false)
      if !source.header.isEmpty { try rejects?.write(source.header + [0x0a]) }
    }
    try rejects?.write(record.bytes + [0x0a])
    rejectedCount += 1
    bar.end()
    if rejectedCount <= Self.saidMax {
      StandardError.line("cambium: line \(record.line): \(reason)")
    } else if rejectedCount == Self.saidMax + 1 {
      StandardError.line("cambium: and others")
    }
  }

  /// The message about what is left of an import that failed.
  private var outcome: String {
    committedCount == 0
      ? "Nothing was imported." : "The batches before it were imported."
  }

  private func naming(_ error: any Error) -> any Error {
    if let error = error as? JSONFault {
      return CommandFailure(.invalid, "\(error). \(outcome)", ErrorDetail(of: error))
    }
    if let error = error as? StoreError, ExitStatus(of: error) == .invalid {
      return CommandFailure(.invalid, "\(error) \(outcome)", ErrorDetail(of: error))
    }
    return error
  }
}

extension SourceFormat: ExpressibleByArgument {}
