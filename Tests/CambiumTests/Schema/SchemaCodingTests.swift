import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct SchemaCodingTests {
  @Test func `I8 A12: a schema reads as it was written`() throws {
    replaying(0..<UInt64(scaled(2_000, debug: 300))) { seed in
      var random = SplitMix64(seed: seed)
      let schema = try Self.random(&random)
      let read = try decode(schema.encoded())
      try agree(read == schema, "\(read)\n\(schema)")
      try agree(read.nextNumber == schema.nextNumber, "the numbers differ")
      try agree(read.encoded() == schema.encoded(), "the bytes differ")
      try agree(read.differences(to: schema) == [], "there are differences")
    }
  }

  @Test func `values of every type are kept in conditions`() throws {
    let values: [(FieldType, FieldValue)] = [
      (.boolean, true), (.int8, -5), (.uint64, .unsigned(.max)), (.float, 0.5), (.double, -2.25),
      (.decimal, .decimal(Decimal(string: "-123.450") ?? 0)), (.string, "é\u{0}"),
      (.date, .date(Date(timeIntervalSinceReferenceDate: 0.5))),
      (.binaryData, .data(Data([1, 0]))),
      (.uuid, "00112233-4455-6677-8899-AABBCCDDEEFF"), (.url, "http://a/b?c"), (.int32, nil),
    ]
    for (type, value) in values {
      let schema = try schema { _ in
        Field(primaryKey: true, name: "id", type: type)
        Index("id", where: .comparison(field: "id", .equal, value))
      }
      #expect(try decode(schema.encoded()) == schema, "\(value)")
    }
  }

  @Test func `a default of every type is kept, and is in no fingerprint`() throws {
    let date = FieldValue.date(Date(timeIntervalSinceReferenceDate: -0.25))
    func fields(_ isStated: Bool) throws -> Schema {
      @Sendable func field(
        _ name: String, _ type: FieldType, _ value: FieldValue, _ storage: FieldStorage = .inline
      ) -> Field {
        let stated = isStated ? Optional(value) : .none
        return Field(name: name, type: type, storage: storage, default: stated)
      }
      return try schema { _ in
        Field(primaryKey: true, name: "id", type: .integer)
        field("boolean", .boolean, false)
        field("int8", .int8, -128)
        field("uint64", .uint64, .unsigned(.max))
        field("float", .float, 0.1)
        field("double", .double, .double(-.infinity))
        field("decimal", .decimal, .decimal(Decimal(string: "-123.450") ?? 0))
        field("string", .string, "é\u{0}")
        field("date", .date, date)
        field("data", .binaryData, .data(Data([1, 0])))
        field("uuid", .uuid, "00112233-4455-6677-8899-AABBCCDDEEFF")
        field("url", .url, "http://a/b?c")
        field("strings", .array(of: .string), ["a", ""])
        field("dates", .array(of: .date), .array([date]))
        field("none", .array(of: .uuid), [])
        field("text", .string, "long", .external())
        field("bytes", .binaryData, .data(Data([7])), .external())
        Field(
          name: "part",
          type: .composite {
            Field(name: "inner", type: .composite { field("most", .int16, 5) })
          })
      }
    }
    let (with, without) = (try fields(true), try fields(false))
    #expect(with.records[0].fields.count { $0.defaultValue != nil } == 17)
    #expect(try decode(with.encoded()) == with)
    #expect(try decode(without.encoded()) == without)
    #expect(with.fingerprint == without.fingerprint && with != without)
    #expect(without.annotated(as: with) == with && with.annotated(as: without) == without)
    let coded = try schema { _ in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "a", type: .transformable(using: ReversingCodec()),
        default: InternalTestSupport.Tag(name: "t"))
    }
    #expect(try decode(coded.encoded()) == coded)
    #expect(coded.records[0].field(named: "a")?.defaultValue != nil)
  }

  @Test func `I2 I7: its key is its version, and keys sort as versions do`() {
    #expect(Schema.key(of: 0x0102_0304) == [1, 2, 3, 4])
    #expect(Schema.treeName == "schema")
  }

  @Test func `damaged bytes are refused or read, and never trap`() throws {
    var refused = 0
    replaying(0..<UInt64(scaled(400, debug: 60))) { seed in
      var random = SplitMix64(seed: seed)
      let bytes = try Self.random(&random).encoded()
      for _ in 0..<40 {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          Self.damage(&damaged, &random)
        }
        if let error = error(damaged) {
          refused += 1
          try agree(error.isOfSchema, "\(error)")
        }
      }
    }
    #expect(refused > 1_000)
  }

  @Test func `every bit and every length of one is looked at`() throws {
    var random = SplitMix64(seed: 3)
    let schema = try Self.random(&random)
    let bytes = schema.encoded()
    for length in 0..<bytes.count { #expect(error(Array(bytes.prefix(length))) != nil) }
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      // What has no part in the fingerprint may read as something else; it then describes the same.
      let read = try? decode(damaged)
      #expect(read == nil || read?.fingerprint == schema.fingerprint, "bit \(bit)")
    }
  }

  @Test func `an element that is not known is passed over, or refused as newer`() throws {
    let schema = try schema { _ in Field(primaryKey: true, name: "id", type: .uuid) }
    let unknown: Bytes = [0, 1, 0, 0, 3, 0, 0, 0, 7, 7, 7]
    #expect(try decode(schema.encoded() + unknown) == schema)
    var needed = unknown
    needed[2] = 1
    #expect(
      error(schema.encoded() + needed)
        == .newerFormat(path: "here", reason: "a schema in it has an element of kind 256"))
  }

  @Test func `flags of a key part that are not known are newer, and two ways at once are damage`()
    throws
  {
    let schema = try schema { _ in
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "marks", type: .array(of: .int16))
      Index(.elements("marks"), named: "some marks")
    }
    let bytes = schema.encoded()
    // An index element: …, its name, the number of parts, the field, the flags.
    let name = Array("some marks".utf8)
    let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
    let flags = start + name.count + 8
    #expect(bytes[flags] == 4)
    var damaged = bytes
    damaged[flags] = 12
    #expect(error(damaged)?.breaks(.schemaLayout) == true)
    damaged[flags] = 4 | 16
    #expect(error(damaged)?.breaks(.schemaLayout) == true)
    for bit in 6..<8 {
      damaged[flags] = 4 | 1 << UInt8(bit)
      guard case .newerFormat = error(damaged) else {
        Issue.record("bit \(bit): \(String(describing: error(damaged)))")
        continue
      }
    }
  }

  /// Schemas that no description makes.
  @Test func `what cannot be is refused also where it is whole`() throws {
    let key = FieldSchema(
      number: 1, name: "id", type: .uuid, isOptional: false, composite: nil, modifier: nil)
    let part = KeyPart(field: 1, isDescending: false, isCaseInsensitive: false)
    func record(
      _ fields: [FieldSchema], number: UInt32 = 1, key: [KeyPart]? = nil, next: UInt32? = nil,
      indexes: [IndexSchema] = []
    ) -> RecordSchema {
      RecordSchema(
        number: number, name: "r", fields: fields, primaryKey: key ?? [part], indexes: indexes,
        modifier: nil, nextField: next)
    }
    func field(_ number: UInt32, _ name: String, _ composite: UInt32? = nil) -> FieldSchema {
      FieldSchema(
        number: number, name: name, type: .composite, isOptional: false, composite: composite,
        modifier: nil)
    }
    func stated(_ type: ColumnType, _ value: FieldValue, _ kind: DerivationSchema.Kind? = nil)
      -> [RecordSchema]
    {
      let id = FieldSchema(
        number: 2, name: "f", type: type, isOptional: true, composite: nil, modifier: nil,
        derivation: kind.map { DerivationSchema($0) }, defaultValue: value)
      return [record([key, id])]
    }
    func flipped(_ field: UInt32) -> KeyPart {
      var part = KeyPart(field: field, isDescending: false, isCaseInsensitive: false)
      part.flipsNullByte = true
      return part
    }
    func nulls(_ condition: FieldCondition?) -> [RecordSchema] {
      let field = FieldSchema(
        number: 2, name: "n", type: .int64, isOptional: true, composite: nil, modifier: nil)
      let index = IndexSchema(
        number: 2, name: "i", parts: [flipped(2)], isUnique: false, condition: condition)
      return [record([key, field], indexes: [index])]
    }
    let values = Schema(
      version: 1, label: nil,
      records: nulls(.comparison(field: "n", .notEqual, .null)), nextNumber: 3)
    #expect(try decode(values.encoded()).records == values.records)
    let impossible: [(String, [RecordSchema], UInt32?)] = [
      ("a default of another type", stated(.string, 5), nil),
      ("a default out of range", stated(.int8, 128), nil),
      ("a default that is null", stated(.string, .null), nil),
      ("a default that is not a number", stated(.double, .double(.nan)), nil),
      ("a default of a composite", stated(.composite, "c"), nil),
      ("a default of one element", stated(.array(of: .string), "c"), nil),
      ("a default with an element of another type", stated(.array(of: .string), ["c", 1]), nil),
      ("a default that no codec made", stated(.transformable(codec: "c"), "c"), nil),
      ("a default of a computed field", stated(.date, .date(Date()), .modificationDate), nil),
      ("no key", [record([key], key: [])], nil),
      ("two of a number", [record([key]), record([key])], nil),
      ("number 0", [record([key], number: 0)], nil),
      ("a number that was not given", [record([key], number: 3)], 3),
      ("a field of number 0", [record([field(0, "c"), key])], nil),
      ("a field's number that was not given", [record([key], next: 1)], nil),
      ("fields out of order", [record([field(2, "c"), key], next: 9)], nil),
      ("a composite in itself", [record([key, field(2, "c", 2)])], nil),
      ("two composites in each other", [record([key, field(2, "c.d", 3), field(3, "c", 2)])], nil),
      ("a part of what is not there", [record([key, field(2, "c.d", 7)])], nil),
      (
        "an index in the record's tree",
        [
          record(
            [key],
            indexes: [
              IndexSchema(number: 1, name: "i", parts: [part], isUnique: true, condition: nil)
            ])
        ], nil
      ),
      ("a primary key that was optional", [record([key], key: [flipped(1)])], nil),
      ("null values without a byte", nulls(nil), nil),
      (
        "null values without a byte, of some records",
        nulls(.comparison(field: "n", .equal, .null)), nil
      ),
    ]
    for (what, records, next) in impossible {
      let bytes = Schema(version: 1, label: nil, records: records, nextNumber: next).encoded()
      guard case .corrupt(let place, .schemaContents, _) = error(bytes) else {
        Issue.record("\(what): \(String(describing: error(bytes)))")
        continue
      }
      #expect(place == .entry(tree: "schema", key: [0, 0, 0, 1]))
    }
  }

  private static func random(_ random: inout SplitMix64) throws -> Schema {
    let (one, other) = (RandomDescription.make(&random), RandomDescription.make(&random))
    let second: Describing = { _ in other }
    return try schema(other: second) { _ in one }
  }

  private static func damage(_ bytes: inout Bytes, _ random: inout SplitMix64) {
    let index = Int.random(in: 0..<bytes.count, using: &random)
    switch random.next() % 5 {
    case 0: bytes[index] ^= 1 << UInt8(random.next() % 8)
    case 1: bytes[index] = 0xff
    case 2: bytes.removeSubrange(index..<min(bytes.count, index + 4))
    case 3: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 12)], at: index)
    default: bytes.removeLast(bytes.count - index)
    }
    if bytes.isEmpty { bytes = [0] }
  }

  private func decode(_ bytes: Bytes) throws(StoreError) -> Schema {
    try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
  }

  private func error(_ bytes: Bytes) -> StoreError? {
    storeError { () throws(StoreError) in _ = try decode(bytes) }
  }
}

extension StoreError {
  fileprivate var isOfSchema: Bool {
    switch self {
    case .corrupt(.entry, .schemaLayout, _), .corrupt(.entry, .schemaContents, _), .newerFormat:
      true
    default: false
    }
  }
}
