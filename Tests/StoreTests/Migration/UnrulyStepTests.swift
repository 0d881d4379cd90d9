import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Steps whose closures do what they should not, and programs that read meanwhile.
@Suite struct UnrulyStepTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(4_000, debug: 300)

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func make() throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [Old.self]))
    try store.write { try $0.insert(contentsOf: (0..<Self.count).map { Old(id: $0, size: $0) }) }
    try store.close()
  }

  private struct Old: Record, Equatable {
    var id: Int
    var size: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      New.description(version)
    }
  }

  private struct New: Record, Equatable {
    var id: Int
    var size: Int
    var code: Int
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }

    @RecordDescription.ResultBuilder
    static func description(_ version: Int) -> RecordDescription {
      RecordName("Thing")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "size", type: .integer)
      if version > 1 { Field(name: "code", type: .integer, unique: true) }
    }
  }

  private static let model = StoreModel(version: 2, records: [New.self])

  private func steps(_ code: @escaping @Sendable (Int) -> Int) -> [MigrationStep] {
    [
      MigrationStep(to: 2) {
        TransformRecords("Thing") { old, emit in
          let id = try old["id", as: Int.self]
          var new = old.record
          new["code"] = .integer(Int64(code(id)))
          try emit(new)
        }
      }
    ]
  }

  private func open(_ steps: [MigrationStep]) throws -> PersistentStore {
    var options = StoreOptions()
    options.migration.sliceCount = 70
    return try PersistentStore(at: path, model: Self.model, steps: steps, options: options)
  }

  @Test func `a closure that breaks a unique constraint is refused, and nothing has changed`()
    throws
  {
    try make()
    let error = storeError { try open(steps { $0 == 250 ? 17 : $0 }) }
    guard case .stepFailed(2, "Thing", _) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    let old = try PersistentStore(at: path, model: StoreModel(records: [Old.self]))
    #expect(try old.count(Old.self) == Self.count)
    #expect(try old.snapshot().check() == [])
    try old.close()
  }

  @Test
  func
    `a closure that is not the same each time is called once for each record, and the store is whole, L8`()
    throws
  {
    try make()
    let calls = Guarded(0)
    let steps = steps { id in
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      return 1_000_000 * (call % 7) + id
    }
    let store = try open(steps)
    #expect(try store.count(New.self) == Self.count)
    #expect(try store.snapshot().check() == [])
    #expect(calls.withLock { $0 } == Self.count)
    try store.close()
  }

  @Test func `who reads meanwhile keeps the old version, through the switch and behind it, P5`()
    throws
  {
    try make()
    var reading = StoreOptions()
    reading.access = .reading
    let reader = try PersistentStore(
      at: path, model: StoreModel(records: [Old.self]), options: reading)
    let held = try reader.snapshot()
    let seen = Guarded<Set<Int>>([])
    let path = path
    let store = try open(
      steps { id in
        if id % 100 == 0 {
          var reading = StoreOptions()
          reading.access = .reading
          let other = try? PersistentStore(
            at: path, model: StoreModel(records: [Old.self]), options: reading)
          let count = (try? other?.count(Old.self)) ?? -1
          seen.withLock { _ = $0.insert(count) }
          try? other?.close()
        }
        return id
      })
    #expect(seen.withLock { $0 } == [Self.count])
    #expect(try held.fetch(Old.self).map(\.size) == Array(0..<Self.count))
    #expect(try store.count(New.self) == Self.count)
    #expect(storeError { try reader.refresh() } == .newerSchema(found: 2, supported: 1))
    try store.close()
    #expect(try held.count(Old.self) == Self.count)
    try reader.close()
  }
}
