import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A record with fields of every type, in and out of the key, optional and not, and in composites.
struct AnyRecord {
  let layout: RowLayout
  let indexes: [IndexLayout]
  let row = RowWriter()
  let key = KeyEncoder()

  init() throws {
    var fields: [(name: String, type: ColumnType, isOptional: Bool)] = [
      ("number", .int32, false), ("code", .string, false),
    ]
    for type in ScalarType.allCases {
      fields.append(("\(type)", .scalar(type), false))
      fields.append(("\(type)Maybe", .scalar(type), true))
      fields.append(("\(type)List", .array(of: type), type == .int16))
    }
    fields += [
      ("any", .transformable(codec: "json"), true), ("address", .composite, true),
      ("address.street", .string, false), ("address.zip", .int32, true),
      ("address.place", .composite, true), ("address.place.latitude", .double, false),
      ("address.place.names", .array(of: .string), true), ("name", .composite, false),
      ("name.first", .string, false), ("name.last", .string, true),
    ]
    func part(_ name: String, descending: Bool = false, caseless: Bool = false) -> KeyPart {
      KeyPart(
        field: UInt32((fields.firstIndex { $0.name == name } ?? 0) + 1), isDescending: descending,
        isCaseInsensitive: caseless)
    }
    let indexes = [
      IndexSchema(
        number: 2, name: "plain",
        parts: [part("stringMaybe", caseless: true), part("doubleMaybe", descending: true)],
        isUnique: false, condition: .comparison(field: "boolean", .equal, .boolean(true))),
      IndexSchema(
        number: 3, name: "unique", parts: [part("int16Maybe"), part("name.last")], isUnique: true,
        condition: nil),
      IndexSchema(
        number: 4, name: "fixed", parts: [part("uuid"), part("number")], isUnique: false,
        condition: nil),
      IndexSchema(
        number: 5, name: "place",
        parts: [part("address.place.latitude"), part("decimal"), part("address.street")],
        isUnique: true, condition: .comparison(field: "address", .notEqual, .null)),
    ]
    layout = try RowLayout(
      SampleRecord.schema(
        fields, key: ["number", "code"], descending: ["number"], indexes: indexes),
      version: 1)
    self.indexes = try layout.indexLayouts()
  }

  /// Puts key and row of a record together.
  func encode(_ record: DynamicRecord) throws -> StoredRecord {
    try record.encode(to: row, key: key, layout: layout)
    return StoredRecord(key: key.key.array(), row: row.row.array())
  }

  func decode(_ stored: StoredRecord) throws(StoreError) -> DynamicRecord {
    try DynamicRecord(
      try RowReader(key: stored.key.rawSpan, row: stored.row.rawSpan, layout: layout))
  }

  func random(using random: inout SplitMix64) -> DynamicRecord {
    DynamicRecord("Item", RecordFields(fields(of: nil, using: &random)))
  }

  private func fields(
    of composite: Column?, using random: inout SplitMix64
  ) -> [String: FieldValue] {
    var values: [String: FieldValue] = [:]
    for column in layout.columns where column.field.composite == composite?.field.number {
      let name = composite.map { column.shortName(in: $0) } ?? column.field.name
      values[name] = value(of: column, using: &random)
    }
    return values
  }

  private func value(of column: Column, using random: inout SplitMix64) -> FieldValue {
    if column.field.isOptional, random.next() % 3 == 0 { return .null }
    switch column.field.type {
    case .composite: return .composite(fields(of: column, using: &random))
    case .transformable: return .data(Data([1, 2, 3]))
    case .array(let element):
      let count = Int.random(in: 0..<4, using: &random)
      return .array((0..<count).map { _ in scalar(element, using: &random) })
    default: return scalar(column.field.type.scalar, using: &random)
    }
  }

  private func scalar(_ type: ScalarType?, using random: inout SplitMix64) -> FieldValue {
    guard let type else { return .null }
    let edges = SampleValues.edges(type)
    return random.next() % 2 == 0
      ? edges.randomElement(using: &random) ?? .null
      : SampleValues.random(type, using: &random)
  }
}

/// A record as a tree has it.
struct StoredRecord: Hashable {
  var key: Bytes
  var row: Bytes
}
