import Cambium
import Testing

// This target is compiled without reflection metadata, as programs can be: see Package.swift.

/// Its stored properties cannot be told.
private struct Planned: Record {
  var id = 1
  var text = "a"
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

/// Fields without types, which its stored properties would say.
private struct Untyped: Record {
  static var coding: RecordCoding { .codable }
  var id = 1
  var text = "a"
  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("text")
  }
}

/// A record by way of its own coding, which needs none.
private struct Coded: Record, Equatable {
  static var coding: RecordCoding { .codable }
  var id = 1
  var text = "a"
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

@Suite struct UnreflectedTests {
  @Test func `a struct without reflection metadata is refused at open, and told why`() {
    let error = #expect(throws: StoreError.self) {
      try PersistentStore(inMemory: StoreModel(records: [Planned.self]))
    }
    guard case .invalidDescription("Planned", nil, 1, let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("without reflection"), "\(reason)")
  }

  @Test func `its fields state their types`() {
    let error = #expect(throws: StoreError.self) {
      try PersistentStore(inMemory: StoreModel(records: [Untyped.self]))
    }
    guard case .invalidDescription("Untyped", "id", 1, let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("without reflection"), "\(reason)")
    #expect(reason.contains("state `type:`"), "\(reason)")
  }

  @Test func `by way of Codable it is stored and fetched`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Coded.self]))
    try store.save(Coded())
    #expect(try store.fetch(Coded.self, key: 1) == Coded())
    try store.close()
  }
}
