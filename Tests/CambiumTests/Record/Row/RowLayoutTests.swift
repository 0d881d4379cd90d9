import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct RowLayoutTests {
  @Test func `a layout follows the fields' numbers`() throws {
    let layout = try RowLayout(SampleRecord.eightFields, version: 3)
    #expect(
      layout.columns.map(\.place.kind) == [
        .key, .fixed, .variable, .variable, .fixed, .fixed, .fixed, .variable,
      ])
    #expect(layout.columns.map(\.place.index) == [0, 2, 0, 1, 10, 18, 26, 2])
    #expect(layout.columns.map(\.place.nullBit) == [nil, nil, nil, nil, nil, nil, nil, 0])
    #expect(layout.fixedEnd == 27)
    #expect(layout.unusedNulls == 0b1111_1110)
    #expect(layout.key.fixedLength == 16)
  }

  @Test func `what is in a composite is null with it`() throws {
    let layout = try RowLayout(
      SampleRecord.schema([
        ("id", .int8, false), ("a", .composite, true), ("a.b", .int8, false),
        ("a.c", .int8, true), ("a.d", .composite, false), ("a.d.e", .int8, true),
        ("a.d.f", .int8, false),
      ]), version: 1)
    #expect(layout.columns.map(\.place.nullBit) == [nil, 0, 0, 1, 0, 2, 0])
    #expect(layout.columns.map(\.nullBits) == [[], [0, 1, 2], [], [1], [], [2], []])
    #expect(layout.impliedNulls.map(\.composite) == [0, 0])
    #expect(layout.impliedNulls.map(\.part) == [1, 2])
  }

  @Test func `schemas that contradict themselves are refused`() throws {
    let field = FieldSchema(
      number: 1, name: "a", type: .int8, isOptional: false, composite: nil, modifier: nil)
    func other(
      _ number: UInt32, _ name: String, _ type: ColumnType = .int8, optional: Bool = false,
      composite: UInt32? = nil
    ) -> FieldSchema {
      FieldSchema(
        number: number, name: name, type: type, isOptional: optional, composite: composite,
        modifier: nil)
    }
    let cases: [([FieldSchema], key: [UInt32])] = [
      ([field, other(1, "b")], [1]), ([field, other(2, "a")], [1]), ([field], [2]),
      ([field, other(2, "b", optional: true)], [2]), ([field, other(2, "b", .composite)], [2]),
      ([field], [1, 1]), ([field, other(2, "b", composite: 9)], [1]),
      ([field, other(2, "b", composite: 1)], [1]),
      ([field, other(2, "b", .composite, composite: 2)], [1]),
      (
        [field, other(2, "b", .composite, composite: 3), other(3, "c", .composite, composite: 2)],
        [1]
      ),
      ([field, other(2, "b", .composite, optional: true), other(3, "b.c", composite: 2)], [3]),
    ]
    for (fields, key) in cases {
      let record = RecordSchema(
        number: 1, name: "Item", fields: fields,
        primaryKey: key.map { KeyPart(field: $0, isDescending: false, isCaseInsensitive: false) },
        indexes: [], modifier: nil)
      #expect(throws: StoreError.self, "\(fields)") { try RowLayout(record, version: 1) }
    }
  }

  @Test func `a row that says of which record it is, is newer`() throws {
    let layout = try RowLayout(SampleRecord.eightFields, version: 3)
    let row: Bytes = [0b100, 0, 0, 0, 0, 0]
    let error = storeError { () throws(StoreError) in
      _ = try RowReader(key: row.rawSpan, row: row.rawSpan, layout: layout)
    }
    guard case .newerFormat = error else {
      Issue.record("\(error.map { "\($0)" } ?? "read")")
      return
    }
  }
}
