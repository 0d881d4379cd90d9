import Cambium
import CambiumPostgres
import FoundationEssentials

/// Records with a field of each type, each value of which is in one record, and null in another.
enum TruthTable {
  struct Owner: Record, Identifiable {
    var id: String
    var rank: Int?
    static let samples = Inverse("samples", of: \Sample.owner)
    static let members = Inverse("members", of: \Sample.owners)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
      Field(name: "rank", type: .integer, optional: true)
      samples
      members
    }
  }

  struct Place: Codable, Sendable {
    var city: String?
    var number: Int?
  }

  struct Sample: Record, Identifiable {
    var id: Int
    var flag: Bool?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var float: Float?
    var double: Double?
    var decimal: Decimal?
    var date: Date?
    var uuid: UUID?
    var text: String?
    var link: URL?
    var data: Data?
    var numbers: [Int] = []
    var doubles: [Double]?
    var words: [String]?
    var place: Place?
    var owner: Reference<Owner>?
    var owners: [Reference<Owner>] = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "flag", type: .boolean, optional: true)
      Field(name: "int8", type: .int8, optional: true)
      Field(name: "int16", type: .int16, optional: true)
      Field(name: "int32", type: .int32, optional: true)
      Field(name: "int64", type: .int64, optional: true)
      Field(name: "uint8", type: .uint8, optional: true)
      Field(name: "uint16", type: .uint16, optional: true)
      Field(name: "uint32", type: .uint32, optional: true)
      Field(name: "uint64", type: .uint64, optional: true)
      Field(name: "float", type: .float, optional: true)
      Field(name: "double", type: .double, optional: true)
      Field(name: "decimal", type: .decimal, optional: true)
      Field(name: "date", type: .date, optional: true)
      Field(name: "uuid", type: .uuid, optional: true)
      Field(name: "text", type: .string, optional: true)
      Field(name: "link", type: .url, optional: true)
      Field(name: "data", type: .binaryData, optional: true)
      Field(name: "numbers", type: .array(of: .integer))
      Field(name: "doubles", type: .array(of: .double), optional: true)
      Field(name: "words", type: .array(of: .string), optional: true)
      Field(
        name: "place",
        type: .composite {
          Field(name: "city", type: .string, optional: true)
          Field(name: "number", type: .integer, optional: true)
        }, optional: true)
      Field(name: "owner", type: .reference(to: Owner.self), optional: true)
      Field(name: "owners", type: .references(to: Owner.self))
    }
  }

  static let model = StoreModel(version: 1, records: [Owner.self, Sample.self])

  static let owners = [
    Owner(id: "a", rank: 1), Owner(id: "b", rank: nil), Owner(id: "c", rank: 3),
    Owner(id: "B", rank: -1),
  ]

  static let texts = [
    "", "a", "A", "b", "ab", "a%b", "a_b", "a\\b", "é", "e\u{301}", "z", "ß", "🔨", "\u{FFFD}",
    "a'b\"c", " ", "aa",
  ]
  static let doubles: [Double] = [
    0, -0.0, 1, -1, 1.5, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
    .nan, 0.1,
  ]
  static let decimals: [Decimal] = [
    0, 1, -1, 10_000, Decimal(1) / 8, Decimal(1) / 3, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 123_456_789,
  ]
  /// Of whole microseconds, which go over exactly.
  static let dates: [Double] = [
    0, 0.5, -0.5, 1_000_000_000, -63_000_000_000, .infinity, -.infinity,
  ]

  static let samples: [Sample] = (0..<24).map { place in
    var sample = Sample(id: place)
    func pick<Value>(_ values: [Value]) -> Value? { place < values.count ? values[place] : nil }
    sample.flag = pick([true, false])
    sample.int8 = pick([.min, .max, 0, -1])
    sample.int16 = pick([.min, .max, 0, 5])
    sample.int32 = pick([.min, .max, 0, 7])
    sample.int64 = pick([.min, .max, 0, 1, -1])
    sample.uint8 = pick([.min, .max, 1])
    sample.uint16 = pick([.min, .max, 1])
    sample.uint32 = pick([.min, .max, 1])
    sample.uint64 = pick([.min, .max, 1 << 63, 10_000])
    sample.float = pick([
      0, -0.0, 1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
      0.1,
    ])
    sample.double = pick(doubles)
    sample.decimal = pick(decimals)
    sample.date = pick(dates).map { Date(timeIntervalSinceReferenceDate: $0) }
    sample.uuid = pick((0..<5).map { Workshop.identity($0 * 37) })
    sample.text = pick(texts)
    sample.link = pick(["https://a.de/x", "https://a.de/", "urn:b"]).flatMap { URL(string: $0) }
    sample.data = pick([Data(), Data([0]), Data([0, 1]), Data([255]), Data("a".utf8)])
    sample.numbers = Array(0..<place % 4)
    sample.doubles = place % 3 == 0 ? nil : [Double(place), .nan, -0.0]
    sample.words = pick([[], ["a"], ["a", "é"], ["b", "b"]])
    sample.place = pick([
      Place(city: nil, number: nil), Place(city: "Ulm", number: 1),
      Place(city: "Bonn", number: nil),
    ])
    sample.owner = place % 5 == 0 ? nil : Reference(owners[place % 4].id)
    sample.owners = (0..<place % 3).map { Reference(owners[($0 + place) % 4].id) }
    return sample
  }

  /// The fields with one value, and the values that they are compared with.
  static let values: [(field: String, values: [FieldValue])] = {
    func all<Value: FieldValueConvertible>(
      _ property: KeyPath<Sample, Value?>
    ) -> [FieldValue] {
      samples.compactMap { $0[keyPath: property]?.fieldValue }
    }
    return [
      ("id", [.integer(0), .integer(5), .integer(100)]),
      ("flag", all(\.flag)), ("int8", all(\.int8)), ("int16", all(\.int16)),
      ("int32", all(\.int32)), ("int64", all(\.int64)), ("uint8", all(\.uint8)),
      ("uint16", all(\.uint16)), ("uint32", all(\.uint32)), ("uint64", all(\.uint64)),
      ("float", all(\.float) + [.double(0.5)]), ("double", all(\.double) + [.integer(1)]),
      ("decimal", all(\.decimal) + [.integer(1)]),
      ("date", all(\.date) + [.string("2001-01-01T00:00:00Z")]), ("uuid", all(\.uuid)),
      ("text", all(\.text) + [.string("m")]), ("link", all(\.link)), ("data", all(\.data)),
      ("place.city", [.string("Ulm"), .string("A")]), ("place.number", [.integer(1)]),
      ("owner", owners.map { .string($0.id) }), ("owner.rank", [.integer(1), .integer(-1)]),
      ("owner.id", [.string("a"), .string("B")]),
    ]
  }()

  static func fill(_ store: some RecordStore) async throws {
    try await store.write { transaction in
      for owner in owners { try transaction.insert(owner) }
      for sample in samples { try transaction.insert(sample) }
    }
  }
}

extension PostgresServer {
  /// Moves a store into a database, and finishes the move.
  static func move(_ store: PersistentStore, at path: String, to address: String) throws {
    try Move(
      try store.snapshot(), of: try PersistentStore.inspect(at: path), options: PlanOptions(),
      to: address
    ).run()
    try store.fence(movedTo: try Connection(address).place)
    _ = try Finish(path, to: address).run()
  }
}
