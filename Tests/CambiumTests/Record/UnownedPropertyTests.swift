import Testing

@testable import Cambium

private final class Cache: @unchecked Sendable {
  static let shared = Cache()
}

private struct Weak: Record, @unchecked Sendable {
  var id: Int
  weak var target: Cache?
  enum CodingKeys: CodingKey { case id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("target", default: Optional(Cache.shared))
  }
}

private struct Unowned: Record, @unchecked Sendable {
  var id: Int
  unowned var target = Cache.shared
  enum CodingKeys: CodingKey { case id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("target", default: Cache.shared)
  }
}

private struct UnownedOptional: Record, @unchecked Sendable {
  var id: Int
  unowned var target: Cache? = Cache.shared
  enum CodingKeys: CodingKey { case id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("target", default: Optional(Cache.shared))
  }
}

private struct Strong: Record, @unchecked Sendable {
  var id: Int
  var target: Cache? = Cache.shared
  var other = Cache.shared
  var any: (any Sendable)?
  var held = Held { 1 }
  enum CodingKeys: CodingKey { case id }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("target", default: Optional(Cache.shared))
    Transient("other", default: Cache.shared)
    Transient("any", default: (any Sendable)?.none)
    Transient("held", default: Held { 2 })
  }

  struct Held: Sendable {
    let closure: @Sendable () -> Int
    init(_ closure: @escaping @Sendable () -> Int) { self.closure = closure }
  }
}

private struct Closed<Closure: Sendable>: Record {
  var id: Int
  var closure: Closure
  enum CodingKeys: CodingKey { case id }

  init(from decoder: any Decoder) throws { throw CancellationError() }

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Closed")
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("closure", default: 1)
  }
}

@Suite struct UnownedPropertyTests {
  private func error<Subject: Record>(_ type: Subject.Type) -> StoreError? {
    storeError { try PersistentStore(inMemory: StoreModel(records: [type])) }
  }

  @Test func `weak and unowned properties are refused when the store is opened`() {
    for error in [error(Weak.self), error(Unowned.self), error(UnownedOptional.self)] {
      guard case .invalidDescription(_, "target", _, let reason) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains("weak or unowned"))
    }
  }

  @Test func `closures are refused when the store is opened`() {
    typealias Function = @Sendable () -> Int
    for error in [error(Closed<Function>.self), error(Closed<Function?>.self)] {
      guard case .invalidDescription(_, "closure", _, let reason) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains("is a closure"))
    }
  }

  @Test func `references, existentials and closures in structs that are owned are filled`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Strong.self]))
    try store.save(Strong(id: 1))
    let record = try #require(try store.fetch(Strong.self, key: 1))
    #expect(record.target === Cache.shared)
    #expect(record.held.closure() == 2)
  }
}
