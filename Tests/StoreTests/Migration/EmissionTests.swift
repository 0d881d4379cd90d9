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
    try DynamicRecord("Note", ["id": old["id"], "body": old["text"]])
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

  @RecordDescription.ResultBuilder
  private static func place(_ version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    if version > 1 {
      Field(
        name: "home",
        type: .composite {
          Field(name: "city", type: .string, default: "Rome")
          Field(name: "floor", type: .integer, migrationInfo: .init(default: 3))
          Field(name: "note", type: .string, optional: true)
          Field(
            name: "door", type: .composite { Field(name: "number", type: .integer, default: 9) })
        })
    }
  }

  @Test func `so has a part of a composite that it does not name, or that is null`() throws {
    let path = directory.path + "/places"
    let versions = (1...2).map { ModelVersion($0, describing: ["Place": Self.place($0)]) }
    let first = try PersistentStore(at: path, model: StoreModel([versions[0]]))
    let homes: [FieldValue?] = [
      nil, .composite([:]), .composite(["floor": 1]),
      .composite(["city": nil, "floor": nil, "door": .composite(["number": nil])]),
      .composite(["city": "Oslo", "door": .composite([:])]),
    ]
    try first.write { transaction in
      for id in homes.indices {
        try transaction.save(DynamicRecord("Place", ["id": .integer(Int64(id))]))
      }
    }
    try first.close()
    let step = MigrationStep(to: 2) {
      TransformRecords("Place") { old, emit in
        var place = try DynamicRecord("Place", ["id": old["id"]])
        if let home = homes[try old["id", as: Int.self]] { place["home"] = home }
        try emit(place)
      }
    }
    let store = try PersistentStore(at: path, model: StoreModel(versions), steps: [step])
    let found = try store.fetch(record: "Place").map { place in
      let city = try place["home.city", as: String.self]
      let numbers = try ["home.floor", "home.door.number"].map { try place[$0, as: Int.self] }
      return "\(city) \(numbers[0]) \(numbers[1])"
    }
    #expect(found == ["Rome 3 9", "Rome 3 9", "Rome 1 9", "Rome 3 9", "Oslo 3 9"])
    try store.close()
  }

  @Test func `an old name is refused, with the new ones`() throws {
    let error = storeError { try migrated { old, emit in try emit(old) } }
    guard case .stepFailed(2, "Note.text of Note 0", let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("body, hint, id, size, state"), "\(reason)")
  }
}
