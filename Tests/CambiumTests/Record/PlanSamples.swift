import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

enum Level: Int, RecordIntegerEnum {
  case low = -1
  case middle = 5
  case high = 300
}

enum Color: String, RecordStringEnum {
  case red, green
  case none = ""
}

struct Coordinate: Codable, Hashable, Sendable {
  var x: Double
  var y: Float
}

/// A property of every type that a column has.
struct AllTypes: Record, Hashable {
  var id: UUID
  var boolean: Bool
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
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
  var narrow: Int16
  var coded: [String: Int]
  var numbers: [Int]
  var words: [String]

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    typedFields(optional: false)
  }
}

/// The same, all of them optional.
struct AllOptional: Record, Hashable {
  var id: UUID
  var boolean: Bool?
  var int8: Int8?
  var int16: Int16?
  var int32: Int32?
  var int64: Int64?
  var int: Int?
  var uint8: UInt8?
  var uint16: UInt16?
  var uint32: UInt32?
  var uint64: UInt64?
  var float: Float?
  var double: Double?
  var date: Date?
  var uuid: UUID?
  var decimal: Decimal?
  var string: String?
  var url: URL?
  var data: Data?
  var level: Level?
  var color: Color?
  var narrow: Int16?
  var coded: [String: Int]?
  var numbers: [Int]?
  var words: [String]?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    typedFields(optional: true)
  }
}

private func typedFields(optional: Bool) -> RecordDescription {
  let types: [(String, FieldType)] = [
    ("boolean", .boolean), ("int8", .int8), ("int16", .int16), ("int32", .int32), ("int64", .int64),
    ("int", .integer), ("uint8", .uint8), ("uint16", .uint16), ("uint32", .uint32),
    ("uint64", .uint64), ("float", .float), ("double", .double), ("date", .date), ("uuid", .uuid),
    ("decimal", .decimal), ("string", .string), ("url", .url), ("data", .binaryData),
    ("level", .int16), ("color", .string), ("narrow", .integer), ("coded", .transformable),
    ("numbers", .array(of: .integer)), ("words", .array(of: .string)),
  ]
  return RecordDescription(
    types.map { name, type in
      .init(kind: .field(Field(name: name, type: type, optional: optional)))
    })
}

/// Composites in composites, with and without optionals, and what is not stored.
struct Nested: Record, Hashable {
  struct Street: Codable, Hashable, Sendable {
    var name: String
    var number: Int?
    var cached: String? = "not stored"

    private enum CodingKeys: String, CodingKey { case name, number }
  }

  struct Address: Codable, Hashable, Sendable {
    var city: String
    var street: Street
    var other: Street?
    var note: String?
  }

  var id: Int
  var home: Address
  var work: Address?
  var name: String
  var views = 7
  var label: String?

  private enum CodingKeys: String, CodingKey { case id, home, work, name, label }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "home", type: .composite { address })
    Field(name: "work", type: .composite { address }, optional: true)
    Field(name: "title", type: .string, property: "name")
    Field(name: "label", type: .string, optional: true)
    Transient("views", default: 7)
  }

  @RecordDescription.ResultBuilder private static var address: RecordDescription {
    Field(name: "city", type: .string)
    Field(name: "street", type: .composite { street })
    Field(name: "other", type: .composite { street }, optional: true)
    Field(name: "note", type: .string, optional: true)
  }

  @RecordDescription.ResultBuilder private static var street: RecordDescription {
    Field(name: "name", type: .string)
    Field(name: "number", type: .integer, optional: true)
    Transient("cached", default: "not stored")
  }
}

// MARK: Values

extension AllTypes {
  static func random(_ random: inout some RandomNumberGenerator) -> AllTypes {
    AllTypes(
      id: UUID(), boolean: .random(using: &random),
      int8: .random(in: .min ... .max, using: &random),
      int16: .random(in: .min ... .max, using: &random),
      int32: .random(in: .min ... .max, using: &random),
      int64: .random(in: .min ... .max, using: &random),
      int: .random(in: .min ... .max, using: &random),
      uint8: .random(in: .min ... .max, using: &random),
      uint16: .random(in: .min ... .max, using: &random),
      uint32: .random(in: .min ... .max, using: &random),
      uint64: .random(in: .min ... .max, using: &random),
      float: .random(in: -1e30...1e30, using: &random),
      double: .random(in: -1e300...1e300, using: &random),
      date: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)),
      uuid: UUID(), decimal: Decimal(Int.random(in: .min ... .max, using: &random)) / 1000,
      string: randomText(&random),
      url: URL(string: "https://example.com/\(Int.random(in: 0...99))")!,
      data: Data(
        (0..<Int.random(in: 0...300, using: &random)).map { UInt8(truncatingIfNeeded: $0) }),
      level: [.low, .middle, .high].randomElement(using: &random)!,
      color: [.red, .green, .none].randomElement(using: &random)!,
      narrow: .random(in: .min ... .max, using: &random),
      coded: [randomText(&random): 1, "b": 2],
      numbers: (0..<Int.random(in: 0...5, using: &random)).map { $0 - 2 },
      words: (0..<Int.random(in: 0...5, using: &random)).map { _ in randomText(&random) })
  }

  private static func randomText(_ random: inout some RandomNumberGenerator) -> String {
    let pieces = ["", "a", "Zażółć", "a word of some more than fifteen", "👩‍👩‍👧", "\0"]
    return (0..<Int.random(in: 0...20, using: &random)).map { _ in
      pieces.randomElement(using: &random)!
    }.joined()
  }
}

extension AllOptional {
  /// Each property is that of `value`, or nil, as the bits of `present` say.
  init(_ value: AllTypes, present: UInt64) {
    var bit: UInt64 = 1
    func some<Value>(_ value: Value) -> Value? {
      defer { bit <<= 1 }
      return present & bit == 0 ? nil : value
    }
    self.init(
      id: value.id, boolean: some(value.boolean), int8: some(value.int8), int16: some(value.int16),
      int32: some(value.int32), int64: some(value.int64), int: some(value.int),
      uint8: some(value.uint8), uint16: some(value.uint16), uint32: some(value.uint32),
      uint64: some(value.uint64), float: some(value.float), double: some(value.double),
      date: some(value.date), uuid: some(value.uuid), decimal: some(value.decimal),
      string: some(value.string), url: some(value.url), data: some(value.data),
      level: some(value.level), color: some(value.color), narrow: some(value.narrow),
      coded: some(value.coded), numbers: some(value.numbers), words: some(value.words))
  }
}
