import Logging
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Traced: Record {
  var id: Int
  var more: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "size", type: version < 2 ? .int32 : .int64)
    if version > 1 { Field(name: "more", type: .integer, migrationInfo: .init(default: 7)) }
  }
}

private struct TracedFirst: Record {
  var id: Int
  var size: Int32

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Traced")
    Traced.recordDescription(for: version)
  }
}

/// Keeps what is logged.
struct KeptLog: LogHandler {
  final class Lines: Sendable {
    let all = Guarded<[String]>([])
  }

  let lines: Lines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.debug

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let fields = (event.metadata ?? [:]).keys.sorted().joined(separator: " ")
    lines.all.withLock { $0.append("\(event.level): \(event.message) [\(fields)]") }
  }
}

@Suite struct MigrationTraceTests {
  @Test func `a logger is told of each part of a migration, and of what ends it, S2`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try PersistentStore(
      at: path, model: StoreModel(version: 1, records: [TracedFirst.self]))
    try first.insert(TracedFirst(id: 1, size: 2))
    try first.close()
    let lines = KeptLog.Lines()
    var options = StoreOptions()
    options.logger = Logger(label: "test") { _ in KeptLog(lines: lines) }
    let model = StoreModel(version: 2, label: "two", records: [Traced.self])
    let refused = [
      MigrationStep(to: 2) {
        CheckRecords("all is well") { _ in throw StoreError.closed(path: "x") }
      }
    ]
    #expect(
      storeError {
        try PersistentStore.migration(at: path, to: model, steps: refused, options: options).run()
      } != nil)
    try PersistentStore.migration(at: path, to: model, options: options).run()
    let expected = [
      "info: Migrating from version 1 to 2 [parts]",
      "debug: Step 1 to 2 [label]",
      "debug: Done: arranging trees [elapsed records]",
      "debug: Done: converting Traced [elapsed records]",
    ]
    let all = lines.all.withLock { $0 }
    #expect(Array(all.prefix(4)) == expected)
    #expect(
      all.count == 10 && all[4].hasPrefix("error: The migration ended: The step to version 2"))
    #expect(Array(all[5..<9]) == expected)
    #expect(all.last == "info: Migrated to version 2 [elapsed records]")
  }
}
