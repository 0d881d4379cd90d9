import Foundation
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Weird: Record, Equatable {
  var id: Int
  var level: Int
  var name: String
  static func recordDescription(for version: Int) -> RecordDescription { Levels.description }
}

private struct Known: Record, Equatable {
  enum Level: Int, RecordIntegerEnum {
    case low = 0
    case high = 1
  }

  var id: Int
  var level: Level
  var name: String
  static func recordDescription(for version: Int) -> RecordDescription { Levels.description }
}

private enum Levels {
  @RecordDescription.ResultBuilder
  static var description: RecordDescription {
    RecordName("Weird")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "level", type: .integer)
    Field(name: "name", type: .string)
  }
}

/// One bad record does not hide the others.
@Suite struct SkippingTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private func make(_ count: Int, _ level: (Int) -> Int) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [Weird.self]))
    try store.write { transaction in
      for id in 0..<count {
        try transaction.insert(Weird(id: id, level: level(id), name: "name of \(id)"))
      }
    }
    try store.close()
  }

  @Test func `a value that the type does not have names record, key and field`() throws {
    try make(4) { $0 == 2 ? 7 : $0 % 2 }
    let store = try PersistentStore(at: path, model: StoreModel(records: [Known.self]))
    let error = StoreError.unreadableRecord(
      record: "Weird", key: "2", field: "level", reason: "7 is no case of Level")
    #expect(storeError { try store.fetch(Known.self) } == error)
    #expect(storeError { try store.fetch(Known.self, key: 2) } == error)
    #expect(storeError { try store.fetch(Known.where { $0.name != "" }) } == error)
    #expect(storeError { try store.select(\.level, from: Query<Known>()) } == error)
    #expect(storeError { try store.select(\.name, \.level, \.id, from: Query<Known>()) } == error)
    // What is not asked for is not read.
    #expect(try store.select(\.id, \.name, from: Query<Known>()).map(\.0) == [0, 1, 2, 3])
    #expect(
      storeError {
        try store.write { try $0.update(Known.where { $0.id == 2 }) { $0.name = "" } }
      } == error)
    #expect("\(error)".hasPrefix("The Weird with the key 2 cannot be read: level: 7 is no case of"))
    let readable = try store.fetchReadable(Known.self)
    #expect(readable.records.map(\.id) == [0, 1, 3])
    #expect(
      readable.skipped == [SkippedRecord(record: "Weird", key: "2", offset: 2, error: error)])
    let inTransaction = try store.write { try $0.fetchReadable(Known.self).records.map(\.id) }
    #expect(inTransaction == [0, 1, 3])
    try store.close()
  }

  @Test func `selecting ends at a value that cannot be read, wherever it is`() throws {
    let bad = 70
    try make(100) { $0 == bad ? 7 : 0 }
    let store = try PersistentStore(at: path, model: StoreModel(records: [Known.self]))
    let error = StoreError.unreadableRecord(
      record: "Weird", key: "\(bad)", field: "level", reason: "7 is no case of Level")
    let all = Query<Known>()
    #expect(storeError { try store.select(\.name, \.level, from: all) } == error)
    #expect(storeError { try store.select(\.level, \.name, \.id, from: all) } == error)
    let before = try store.select(\.name, \.level, from: all.limit(bad))
    #expect(before.map(\.0) == (0..<bad).map { "name of \($0)" })
    #expect(before.allSatisfy { $0.1 == .low })
    try store.close()
  }

  @Test func `records beside a damaged page are read, and every other one is counted`() throws {
    let count = 3_000
    try make(count) { $0 % 2 }
    let store = try PersistentStore(at: path, model: StoreModel(records: [Weird.self]))
    let copy = directory.path + "/copy"
    _ = try store.backUp(to: copy)
    try store.close()
    let file = copy + "/pages-0000000001"
    let whole = try Data(contentsOf: URL(fileURLWithPath: file))
    var damaged = 0
    for block in stride(from: 4096 + 100, to: whole.count, by: 4096) {
      var bytes = whole
      bytes[block] ^= 0x10
      try bytes.write(to: URL(fileURLWithPath: file))
      guard let snapshot = try? PersistentStore.snapshot(at: copy) else { continue }
      var ids: [Int] = []
      var skipped: [SkippedRecord] = []
      let read: (DynamicRecord) throws -> Void = { ids.append(try $0["id", as: Int.self]) }
      try snapshot.forEach(record: "Weird", skipping: { skipped.append($0) }, read)
      #expect(Set(ids).union(skipped.map(\.offset)) == Set(0..<count))
      #expect(ids.count + skipped.count == count)
      if !skipped.isEmpty, !ids.isEmpty { damaged += 1 }
    }
    #expect(damaged > 2)
  }

  @Test func `an integer without a sign may be given with one, and the other way round`() throws {
    struct Small: Record, Equatable {
      var id: UInt8
      var delta: Int16
      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Small")
        Field(primaryKey: true, name: "id", type: .uint8)
        Field(name: "delta", type: .int16)
      }
    }
    let store = try PersistentStore(at: path, model: StoreModel(records: [Small.self]))
    try store.write {
      try $0.save(
        DynamicRecord("Small", ["id": .unsigned(1), "delta": .unsigned(3)]))
    }
    #expect(try store.fetch(Small.self) == [Small(id: 1, delta: 3)])
    for wrong: FieldValue in [.unsigned(1 << 15), .integer(-1 << 20), .double(1)] {
      let error = storeError {
        try store.write {
          try $0.save(DynamicRecord("Small", ["id": .unsigned(2), "delta": wrong]))
        }
      }
      guard case .invalidValue("Small", "delta", _) = error else {
        Issue.record("\(wrong): \(String(describing: error))")
        continue
      }
    }
    try store.close()
  }
}
