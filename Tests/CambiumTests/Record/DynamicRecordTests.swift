import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct DynamicRecordTests {
  @Test func `records of every type come back as they were`() throws {
    let sample = try AnyRecord()
    replaying(0..<UInt64(scaled(2000, debug: 100))) { seed in
      var random = SplitMix64(seed: seed)
      let record = sample.random(using: &random)
      let stored = try sample.encode(record)
      try agree(try sample.decode(stored) == record, "\(record) is read as another")
      try agree(try sample.encode(record) == stored, "\(record) has two forms")
    }
  }

  @Test func `enums and optionals are read as what they are`() throws {
    let record = DynamicRecord(
      "Item", ["level": .integer(5), "color": .string("red"), "none": .null])
    #expect(try record["level", as: Level.self] == .middle)
    #expect(try record["level", as: Level?.self] == .middle)
    #expect(try record["none", as: Level?.self] == nil)
    #expect(throws: FieldMismatch.self) { try record["none", as: Level.self] }
    #expect(throws: FieldMismatch.self) { try record["color", as: Level.self] }
    #expect(throws: FieldMismatch.self) { try FieldValue.integer(6).as(Level.self) }
    #expect([Int?](fieldValue: .array([.integer(1), .null])) == [1, nil])
  }

  @Test func `what is not a number is kept in rows`() throws {
    let layout = try RowLayout(
      SampleRecord.schema([("id", .int8, false), ("a", .double, false), ("b", .decimal, false)]),
      version: 1)
    let record = DynamicRecord(
      "Item", ["id": .integer(1), "a": .double(.nan), "b": .decimal(.nan)])
    let (row, key) = (RowWriter(), KeyEncoder())
    try record.encode(to: row, key: key, layout: layout)
    let read = try DynamicRecord(RowReader(key: key.key, row: row.row, layout: layout))
    guard case (.double(let a), .decimal(let b)) = (read["a"], read["b"]) else {
      Issue.record("\(read)")
      return
    }
    #expect(a.isNaN && b.isNaN)
  }

  @Test(
    arguments: [
      (["id": .integer(1)], "text"), (["id": .integer(300), "text": .string("")], "id"),
      (["id": .integer(1), "text": .integer(1)], "text"),
      (["id": .integer(1), "text": .string(""), "list": .array([.integer(300)])], "list"),
      (["id": .integer(1), "text": .string(""), "list": .array([.null])], "list"),
      (["id": .integer(1), "text": .string(""), "part": .string("")], "part"),
      (["id": .integer(1), "text": .string(""), "part": .composite([:])], "part.inner"),
      (
        [
          "id": .integer(1), "text": .string(""),
          "part": .composite(["inner": .boolean(true), "other": .null]),
        ], "part.other"
      ),
      (["id": .integer(1), "text": .string(""), "other": .null], "other"),
    ] as [([String: FieldValue], String)])
  func `values that do not fit are refused by name`(
    fields: [String: FieldValue], field: String
  ) throws {
    let layout = try RowLayout(
      SampleRecord.schema([
        ("id", .uint8, false), ("text", .string, false), ("list", .array(of: .int8), true),
        ("part", .composite, true), ("part.inner", .boolean, false),
      ]), version: 1)
    var fields = fields
    if field != "id" { fields["id"] = .unsigned(1) }
    let error = #expect(throws: StoreError.self) {
      try DynamicRecord("Item", RecordFields(fields)).encode(
        to: RowWriter(), key: KeyEncoder(), layout: layout)
    }
    guard case .invalidValue("Item", field, _) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "nothing")")
      return
    }
  }

  @Test func `rows are as long as values may be, and no longer`() throws {
    let layout = try RowLayout(
      SampleRecord.schema([("id", .uuid, false), ("a", .binaryData, false)]), version: 1)
    let row = RowWriter()
    row.begin(layout)
    // Flags and the one end, in four bytes.
    let longest = StoreError.Limit.valueLength.bound - 5
    try row.append(Data(count: longest).bytes, to: 0)
    row.finish()
    #expect(row.row.byteCount == StoreError.Limit.valueLength.bound)
    row.begin(layout)
    let error = storeError { () throws(StoreError) in
      try row.append(Data(count: longest + 1).bytes, to: 0)
    }
    #expect(error == .limitExceeded(.valueLength, found: longest + 1 + 5))
  }
}
