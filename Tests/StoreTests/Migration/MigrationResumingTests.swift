import CambiumTesting
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// An interrupted migration is resumed by the same definitions only.
@Suite struct MigrationResumingTests {
  /// The parts of a program's description of version 2 that may differ between two runs.
  struct Definition: CustomTestStringConvertible, Sendable {
    let name: String
    var added: Int64 = 0
    var replaced: Int64 = 0
    var computed: Int64 = 0
    var revision = 0
    /// The default of a field to which an emitted record gives no value.
    var emitted: Int64 = 0
    var stated: Int64 = 0

    var testDescription: String { name }

    var model: StoreModel {
      let (added, emitted) = (added, emitted)
      return StoreModel(
        version: 2,
        untyped: [
          RemovedRecord("R") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "text", type: version == 1 ? .string : .integer)
            if version == 2 {
              Field(
                name: "added", type: .integer, migrationInfo: .init(default: .integer(added)))
              Field(name: "computed", type: .integer)
              Field(name: "stated", type: .integer)
            }
          },
          RemovedRecord("S") { version in
            Field(primaryKey: true, name: "id", type: .integer)
            if version == 2 {
              Field(
                name: "emitted", type: .integer, migrationInfo: .init(default: .integer(emitted)))
            }
          },
        ])
    }

    func steps(_ row: @escaping @Sendable () -> Void) -> [MigrationStep] {
      let (replaced, computed, stated) = (replaced, computed, stated)
      return [
        MigrationStep(to: 2, revision: revision) {
          UpdateRecord("R") {
            UpdateField("text", converting: .replace(.integer(replaced)))
            UpdateField("stated", value: .integer(stated))
            UpdateField(
              "computed",
              from: { _ in
                row()
                return computed
              })
          }
          TransformRecords("S", into: "S") { old, emit in try emit(old) }
        }
      ]
    }
  }

  private static let count = 300
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
    let store = try PersistentStore(
      at: path, model: Definition(name: "").model.dynamic(version: 1))
    try store.write { transaction in
      for id in 0..<Self.count {
        try transaction.save(
          DynamicRecord("R", ["id": .integer(Int64(id)), "text": "none"]))
        try transaction.save(DynamicRecord("S", ["id": .integer(Int64(id))]))
      }
    }
    try store.close()
  }

  private func migration(
    _ definition: Definition, _ options: StoreOptions = StoreOptions(),
    _ row: @escaping @Sendable () -> Void
  ) throws -> Migration {
    var options = options
    options.migration.sliceCount = 10
    return try PersistentStore.migration(
      at: path, to: definition.model, steps: definition.steps(row), options: options)
  }

  /// Runs it and cancels it in the middle.
  private func interrupt(_ definition: Definition) throws {
    let running = Guarded<Migration?>(nil)
    let seen = Atomic(0)
    let migration = try migration(definition) {
      if seen.add(1, ordering: .relaxed).newValue == Self.count / 2 {
        running.withLock { $0 }?.cancel()
      }
    }
    running.withLock { $0 = migration }
    #expect(storeError { try migration.run() } == .migrationCancelled(from: 1, to: 2))
    running.withLock { $0 = nil }
  }

  private static let changed = [
    Definition(name: "another default", added: 1),
    Definition(name: "another conversion", replaced: 1),
    Definition(name: "another closure, and revision", computed: 1, revision: 1),
    Definition(name: "another default of what is emitted", emitted: 1),
    Definition(name: "another value that the step states", stated: 1),
  ]

  @Test(arguments: changed)
  func `another definition begins again, and says so`(definition: Definition) throws {
    try interrupt(Definition(name: "first"))
    let lines = KeptLog.Lines()
    var options = StoreOptions()
    options.logger = Logger(label: "test") { _ in KeptLog(lines: lines) }
    let seen = Atomic(0)
    let report = try migration(definition, options) { seen.add(1, ordering: .relaxed) }.run()
    #expect(report.startedOver && "\(report)".contains("begun again"))
    #expect(
      lines.all.withLock { $0 }.contains { $0.hasPrefix("warning: An interrupted migration had") })
    #expect(seen.load(ordering: .relaxed) >= Self.count)
    let store = try PersistentStore(at: path, model: definition.model)
    for record in try store.allRecords() where record.name == "R" {
      #expect(record["added"] == .integer(definition.added))
      #expect(record["text"] == .integer(definition.replaced))
      #expect(record["computed"] == .integer(definition.computed))
      #expect(record["stated"] == .integer(definition.stated))
    }
    for record in try store.allRecords() where record.name == "S" {
      #expect(record["emitted"] == .integer(definition.emitted))
    }
    try store.expectSound()
    try store.close()
  }

  @Test func `the same definition is resumed`() throws {
    try interrupt(Definition(name: "first"))
    let seen = Atomic(0)
    let again = try migration(Definition(name: "first")) { seen.add(1, ordering: .relaxed) }
    #expect(try !again.run().startedOver)
    #expect(seen.load(ordering: .relaxed) < Self.count * 3 / 4)
  }
}
