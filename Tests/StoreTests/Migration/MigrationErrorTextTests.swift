import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct OldThing: Record, Equatable {
  var id: Int
  var name: String?

  static func recordDescription(for version: Int) -> RecordDescription {
    Things.description(version)
  }
}

private struct NewThing: Record {
  var id: Int
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Things.description(version)
  }
}

private struct Label: Record {
  var id: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    if version > 1 { Field(primaryKey: true, name: "id", type: .integer) }
  }
}

private enum Things {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Thing")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, optional: version == 1)
  }
}

/// What a migration that fails says: which step, which record, which field, and what to write.
@Suite struct MigrationErrorTextTests {
  private struct Refused: Error {}

  private static let failures: [(String, MigrationStep, [String])] = [
    (
      "null without a default", MigrationStep(to: 2),
      ["Thing.name", "record 7", "MigrationInfo(default:)"]
    ),
    (
      "a record that is not said to be made",
      MigrationStep(to: 2) {
        TransformRecords("Thing", into: "Thing") { _, emit in
          try emit(DynamicRecord("Label", ["id": 1]))
        }
      }, ["step to version 2", "Label", "add it to `into:`"]
    ),
    (
      "a Swift type that is not said to be made",
      MigrationStep(to: 2) {
        TransformRecords(OldThing.self, into: NewThing.self) { _, emit in try emit(Label(id: 1)) }
      }, ["step to version 2", "Label", "`into:`"]
    ),
    (
      "a Swift type that is not named before a step",
      MigrationStep(to: 2) { RunBefore { try $0.deleteAll(OldThing.self) } },
      ["step to version 2", "OldThing", "RunBefore(OldThing.self)"]
    ),
    (
      "a closure that throws before a step",
      MigrationStep(to: 2) { RunBefore { _ in throw Refused() } },
      ["step to version 2 failed at running what comes before version 2", "Refused"]
    ),
  ]

  @Test(arguments: failures.map(\.0))
  func `a migration that fails says where, and what to do`(_ name: String) throws {
    let (_, step, parts) = try #require(Self.failures.first { $0.0 == name })
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let old = StoreModel(records: [OldThing.self])
    let thing = OldThing(id: 7, name: nil)
    let store = try PersistentStore(at: path, model: old)
    try store.save(thing)
    try store.close()
    let new = StoreModel(version: 2, records: [NewThing.self, Label.self])
    let error = storeError { try PersistentStore(at: path, model: new, steps: [step]) }
    let text = error?.description ?? ""
    for part in parts + ["othing was changed"] { #expect(text.contains(part), "\(text)") }
    let unchanged = try PersistentStore(at: path, model: old)
    #expect(try unchanged.fetch(OldThing.self) == [thing])
    try unchanged.close()
  }
}
