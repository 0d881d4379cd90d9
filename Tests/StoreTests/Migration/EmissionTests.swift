import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A note, as it was and as it is.
private enum Notes {
  struct First: Record {
    var id: Int
    var text: String
    static func recordDescription(for version: Int) -> RecordDescription { Notes.note(version) }
  }

  struct Second: Record, Equatable {
    var id: Int
    var body: String
    var state: String
    var size: Int
    var hint: String?
    static func recordDescription(for version: Int) -> RecordDescription { Notes.note(version) }
  }

  @RecordDescription.ResultBuilder
  static func note(_ version: Int) -> RecordDescription {
    RecordName("Note")
    Field(primaryKey: true, name: "id", type: .integer)
    if version < 2 {
      Field(name: "text", type: .string)
    } else {
      Field(name: "body", type: .string, migrationInfo: .init(renamingID: "text"))
      Field(name: "state", type: .string, migrationInfo: .init(default: "open"))
      Field(name: "size", type: .integer, default: 7)
      Field(name: "hint", type: .string, optional: true, migrationInfo: .init(default: "none"))
    }
  }
}

@Suite struct EmissionTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
    let store = try PersistentStore(at: path, model: StoreModel(records: [Notes.First.self]))
    try store.write {
      try $0.insert(contentsOf: (0..<3).map { Notes.First(id: $0, text: "t\($0)") })
    }
    try store.close()
  }

  /// The notes of version 2 that a closure makes.
  private func migrated(
    by body: @escaping @Sendable (OldRecord, RecordEmitter) throws -> Void
  ) throws -> [Notes.Second] {
    let step = MigrationStep(to: 2) { TransformRecords("Note", by: body) }
    let model = StoreModel(version: 2, records: [Notes.Second.self])
    let store = try PersistentStore(at: path, model: model, steps: [step])
    let notes = try store.fetch(Notes.Second.self)
    try store.close()
    return notes
  }

  private static func note(_ old: OldRecord) throws -> DynamicRecord {
    try DynamicRecord(name: "Note", fields: ["id": old["id"], "body": old["text"]])
  }

  private static func expected(hint: String?) -> [Notes.Second] {
    (0..<3).map { Notes.Second(id: $0, body: "t\($0)", state: "open", size: 7, hint: hint) }
  }

  @Test func `a field that an emitted record does not name has its default`() throws {
    #expect(try migrated { old, emit in try emit(Self.note(old)) } == Self.expected(hint: "none"))
  }

  @Test func `so has one of a record that is merged`() throws {
    let notes = try migrated { old, emit in
      try emit.upsert(Self.note(old))
      try emit.upsert(Self.note(old)) { _, new in try Self.note(old) }
    }
    #expect(notes == Self.expected(hint: "none"))
  }

  @Test func `null is no value where there has to be one, and one where there has not`() throws {
    let notes = try migrated { old, emit in
      var note = try Self.note(old)
      for field in ["state", "size", "hint"] { note[field] = .null }
      try emit(note)
    }
    #expect(notes == Self.expected(hint: nil))
  }

  @Test func `an old name is refused, with the new ones`() throws {
    let error = storeError { try migrated { old, emit in try emit(old) } }
    guard case .stepFailed(2, "Note.text of Note 0", let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("body, hint, id, size, state"), "\(reason)")
  }
}
