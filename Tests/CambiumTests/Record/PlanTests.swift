import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Writes a record through its plan, and reads what was written.
func passed<Subject: Record>(_ record: Subject, through plan: RecordPlan) throws(StoreError)
  -> Subject
{
  let row = RowWriter()
  let key = KeyEncoder()
  try plan.write(record, to: row, key: key)
  return try plan.read(Subject.self, key: key.key, row: row.row)
}

private struct AllKeys: Record, Hashable {
  var boolean: Bool
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int: Int
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt64
  var float: Float
  var double: Double
  var date: Date
  var uuid: UUID
  var decimal: Decimal
  var string: String
  var url: URL
  var data: Data
  var level: Level
  var color: Color
  var narrow: Int8
  var payload: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "boolean", type: .boolean)
    Field(name: "int8", type: .int8)
    Field(name: "int16", type: .int16)
    Field(name: "int32", type: .int32)
    Field(name: "int", type: .integer)
    Field(name: "uint8", type: .uint8)
    Field(name: "uint16", type: .uint16)
    Field(name: "uint32", type: .uint32)
    Field(name: "uint64", type: .uint64)
    Field(name: "float", type: .float)
    Field(name: "double", type: .double)
    Field(name: "date", type: .date)
    Field(name: "uuid", type: .uuid)
    Field(name: "decimal", type: .decimal)
    Field(name: "string", type: .string)
    Field(name: "url", type: .url)
    Field(name: "data", type: .binaryData)
    Field(name: "level", type: .int32)
    Field(name: "color", type: .string)
    Field(name: "narrow", type: .integer)
    Field(name: "payload", type: .string)
    PrimaryKey(
      "level", .descending("string"), "boolean", "int8", .descending("int16"), "int32", "int",
      .descending("uint8"), "uint16", "uint32", "uint64", .descending("float"), "double", "date",
      "uuid", .descending("decimal"), "url", "data", .descending("color"), "narrow")
  }
}

@Suite struct PlanTests {
  @Test func `a value of every type comes back`() throws {
    let plan = try makePlan(AllTypes.self)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<scaled(2000, debug: 100) {
      let record = AllTypes.random(&random)
      #expect(try passed(record, through: plan) == record)
    }
  }

  @Test func `each optional comes back as it was, nil or not`() throws {
    let plan = try makePlan(AllOptional.self)
    var random = SystemRandomNumberGenerator()
    let alone = (0..<25).map { UInt64(1) << UInt64($0) }
    let patterns = [0, .max] + alone + alone.map { ~$0 } + (0..<100).map { _ in random.next() }
    for present in patterns {
      let record = AllOptional(.random(&random), present: present)
      #expect(try passed(record, through: plan) == record)
    }
  }

  @Test func `parts of composites come back, whichever of them are nil`() throws {
    typealias Address = Nested.Address
    typealias Street = Nested.Street
    let plan = try makePlan(Nested.self)
    let streets = [nil, Street(name: "a street", number: nil), Street(name: "", number: 4)]
    var addresses: [Address?] = [nil]
    for street in streets.compactMap({ $0 }) {
      for other in streets {
        for note in [nil, "a note of more than fifteen bytes"] {
          addresses.append(Address(city: "a city", street: street, other: other, note: note))
        }
      }
    }
    for home in addresses.compactMap({ $0 }) {
      for work in addresses {
        let record = Nested(id: -3, home: home, work: work, name: "n", label: work?.note)
        #expect(try passed(record, through: plan) == record)
      }
    }
  }

  @Test func `what is not stored is set to its default`() throws {
    let plan = try makePlan(Nested.self)
    let home = Nested.Address(
      city: "", street: .init(name: "", number: 1, cached: "changed"), other: nil, note: nil)
    let record = Nested(id: 1, home: home, work: home, name: "", views: 99, label: nil)
    let back = try passed(record, through: plan)
    #expect(back.views == 7)
    #expect(back.home.street.cached == "not stored")
    #expect(back.work?.street.cached == "not stored")
  }

  @Test func `a key of all types comes back`() throws {
    let plan = try makePlan(AllKeys.self)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<scaled(1000, debug: 50) {
      let value = AllTypes.random(&random)
      let record = AllKeys(
        boolean: value.boolean, int8: value.int8, int16: value.int16, int32: value.int32,
        int: value.int, uint8: value.uint8, uint16: value.uint16, uint32: value.uint32,
        uint64: value.uint64, float: value.float, double: value.double, date: value.date,
        uuid: value.uuid, decimal: value.decimal, string: String(value.string.prefix(20)),
        url: value.url, data: value.data.prefix(100), level: value.level, color: value.color,
        narrow: value.int8, payload: value.string)
      #expect(try passed(record, through: plan) == record)
    }
  }

  @Test func `records are written where an array has them`() throws {
    let plan = try makePlan(EightFields.self)
    let records = (0..<10).map { index in
      EightFields(count: index, note: index % 2 == 0 ? nil : "\(index)")
    }
    var back: [EightFields] = []
    try plan.write(records, to: RowWriter(), key: KeyEncoder()) { key, row throws(StoreError) in
      back.append(try plan.read(EightFields.self, key: key.key, row: row.row))
    }
    #expect(back == records)
  }

  @Test func `a plan and a dynamic record write the same bytes`() throws {
    let plan = try makePlan(AllOptional.self)
    var random = SystemRandomNumberGenerator()
    let (row, key) = (RowWriter(), KeyEncoder())
    for _ in 0..<100 {
      try plan.write(AllOptional(.random(&random), present: random.next()), to: row, key: key)
      let bytes = (key.key.array(), row.row.array())
      let layout = plan.layout
      let reader = try RowReader(key: bytes.0.rawSpan, row: bytes.1.rawSpan, layout: layout)
      try DynamicRecord(reader).encode(to: row, key: key, layout: layout)
      #expect(key.key.array() == bytes.0)
      #expect(row.row.array() == bytes.1)
    }
  }
}
