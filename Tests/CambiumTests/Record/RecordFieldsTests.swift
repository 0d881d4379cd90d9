import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct RecordFieldsTests {
  /// With few names, which are compared one by one, and with many.
  @Test(arguments: [5, 60])
  func `fields are those of a dictionary whatever is done to them`(count: Int) {
    replaying(0..<50) { seed in
      var random = SplitMix64(seed: seed)
      let names = (0..<count).map { $0 % 3 == 0 ? "a field of a long name \($0)" : "f\($0)" }
      var model: [String: FieldValue] = [:]
      for name in names where random.next() % 2 == 0 { model[name] = 1 }
      var fields = RecordFields(model)
      for step in 0..<200 {
        let name = names[Int(random.next() % UInt64(count))]
        let value: FieldValue? = random.next() % 3 == 0 ? nil : .integer(Int64(step))
        model[name] = value
        fields[name] = value
        try agree(fields.count == model.count, "\(fields) has \(fields.count) fields")
        try agree(fields.dictionary == model, "\(fields) is not \(model)")
      }
      for name in names { try agree(fields[name] == model[name], "\(name) of \(fields)") }
      let other = RecordFields(model)
      try agree(fields == other, "\(fields) is not \(other)")
      try agree(fields.hashValue == other.hashValue, "\(fields) and \(other) hash differently")
      guard let name = names.randomElement(using: &random) else { return }
      var changed = other
      changed[name] = model[name] == nil ? .null : nil
      try agree(fields != changed, "\(fields) is \(changed)")
    }
  }

  @Test func `fields keep their order`() {
    var fields: RecordFields = ["z": 1, "a": 2, "m": 3]
    #expect(fields.map(\.key) == ["z", "a", "m"])
    fields["a"] = nil
    fields["b"] = 4
    #expect("\(fields)" == "[z: 1, m: 3, b: 4]")
    fields["a"] = 5
    #expect(fields.map(\.key) == ["z", "a", "m", "b"])
  }

  @Test func `of a name that is twice in a literal the last value counts`() {
    let fields: RecordFields = ["a": 1, "b": 2, "a": 3]
    #expect(fields == ["b": 2, "a": 3])
    #expect(fields.count == 2)
  }

  @Test func `a copy of a record is changed by itself`() throws {
    let layout = try RowLayout(
      SampleRecord.schema([("id", .int8, false), ("a", .string, false), ("b", .int64, true)]),
      version: 1)
    let (row, key) = (RowWriter(), KeyEncoder())
    try DynamicRecord("Item", ["id": 1, "a": "text", "b": 2])
      .encode(to: row, key: key, layout: layout)
    let record = try DynamicRecord(RowReader(key: key.key, row: row.row, layout: layout))
    var copy = record
    copy.fields["b"] = nil
    copy["c"] = 3
    #expect(record.fields == ["id": 1, "a": "text", "b": 2])
    #expect(copy.fields == ["id": 1, "a": "text", "c": 3])
    #expect(copy["b"] == .null && copy.fields["b"] == nil)
  }

  @Test func `values of the record before are never those of the next`() throws {
    let layout = try RowLayout(
      SampleRecord.schema([
        ("id", .int8, false), ("part", .composite, true), ("part.inner", .int64, true),
        ("note", .string, true),
      ]), version: 1)
    let values = ColumnValues(layout)
    let (row, key) = (RowWriter(), KeyEncoder())
    let records: [RecordFields] = [
      ["id": 1, "part": .composite(["inner": 5]), "note": "first"], ["id": 2],
      ["note": "third", "id": 3, "part": .composite([:])], ["id": 4, "part": .null],
    ]
    for fields in records {
      let record = DynamicRecord("Item", fields)
      try record.encode(to: row, key: key, values)
      let read = try DynamicRecord(RowReader(key: key.key, row: row.row, layout: layout))
      #expect(read["id"] == record["id"] && read["note"] == record["note"])
      if case .composite(let parts)? = fields["part"] {
        #expect(read["part"] == .composite(["inner": parts["inner"] ?? .null]))
      } else {
        #expect(read["part"] == .null)
      }
    }
  }
}
