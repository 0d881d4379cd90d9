import Cambium
import CambiumPostgres
import CambiumTesting
import FoundationEssentials
import Testing

/// A record with a field, and an array, of each type.
enum Extremes {
  static let types: [(name: String, type: FieldType, values: [FieldValue])] = [
    ("flag", .boolean, [true, false]),
    ("int8", .int8, [.integer(-128), .integer(127), 0]),
    ("int16", .int16, [.integer(-32_768), .integer(32_767)]),
    ("int32", .int32, [.integer(Int64(Int32.min)), .integer(Int64(Int32.max))]),
    ("int64", .int64, [.integer(.min), .integer(.max), .integer(-1)]),
    ("uint8", .uint8, [.unsigned(0), .unsigned(255)]),
    ("uint16", .uint16, [.unsigned(0), .unsigned(65_535)]),
    ("uint32", .uint32, [.unsigned(0), .unsigned(4_294_967_295)]),
    ("uint64", .uint64, [.unsigned(0), .unsigned(1 << 63), .unsigned(.max), .unsigned(10_000)]),
    (
      "float", .float,
      [0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan]
        .map { .float($0) }
    ),
    (
      "double", .double,
      [0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan]
        .map { .double($0) }
    ),
    (
      "decimal", .decimal,
      decimals.map { .decimal($0) } + [.decimal(.nan)]
    ),
    (
      "date", .date,
      [0, 0.1, -0.5, 9_223_000_000_000, -211_000_000_000, .infinity, -.infinity]
        .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    ),
    ("uuid", .uuid, [.uuid(Workshop.identity(0)), .uuid(Workshop.identity(255))]),
    (
      "text", .string,
      ["", "a", "é", "e\u{301}", "🔨'\\\"", .string(String(repeating: "x", count: 100_000))]
    ),
    ("data", .binaryData, [.data(Data()), .data(Data(0...255))]),
  ]

  static let decimals: [Decimal] = [
    0, 1, -1, 10_000, 99_990_000, Decimal(1) / 8, Decimal(1) / 10_000, Decimal(1) / 3,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 123_456_789,
  ]

  struct Row: Record {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      for type in Extremes.types {
        Field(name: type.name, type: type.type, optional: true)
        Field(name: type.name + "List", type: .array(of: type.type))
      }
    }
  }

  static let model = StoreModel(version: 1, records: [Row.self]).dynamic(version: 1)

  static var count: Int { types.map(\.values.count).max() ?? 0 }

  /// The record with the values at a place; after the last of them, null and empty lists.
  static func record(_ place: Int) -> DynamicRecord {
    var record = DynamicRecord("Row", ["id": .integer(Int64(place))])
    for type in types {
      let isOver = place >= type.values.count
      record[type.name] = isOver ? .null : type.values[place]
      record[type.name + "List"] = .array(isOver ? [] : Array(type.values[...place]))
    }
    return record
  }
}

/// Records of random descriptions, one for each version, two of them kinds of another.
enum Chaos {
  struct Owner: Record, Identifiable {
    var id: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .string)
    }
  }

  struct Thing: Record {
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: Chaos.keyType(version))
      Chaos.fields(version, "field")
      Field(name: "owner", type: .reference(to: Owner.self), optional: version % 2 == 0)
      Field(name: "owners", type: .references(to: Owner.self))
    }
  }

  struct Small: Record {
    var thing: Thing

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Thing.self, property: "thing")
      Chaos.fields(version + 100, "small")
    }
  }

  struct Large: Record {
    var thing: Thing

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Thing.self, property: "thing")
      Chaos.fields(version + 200, "large")
    }
  }

  static func keyType(_ seed: Int) -> FieldType {
    [.uuid, .string, .int64, .int32, .decimal, .date, .uint64, .binaryData][seed % 8]
  }

  @RecordDescription.ResultBuilder
  static func fields(_ seed: Int, _ prefix: String) -> RecordDescription {
    for field in choices(seed, prefix) {
      Field(name: field.name, type: field.type, optional: field.isOptional)
    }
  }

  private static func choices(
    _ seed: Int, _ prefix: String
  ) -> [(name: String, type: FieldType, isOptional: Bool)] {
    var random = SeededGenerator(seed: UInt64(seed))
    return (0..<Int.random(in: 1...6, using: &random)).map { number in
      let scalar = Extremes.types[Int.random(in: 0..<Extremes.types.count, using: &random)].type
      let type: FieldType
      switch Int.random(in: 0..<4, using: &random) {
      case 0: type = .array(of: scalar)
      case 1:
        type = .composite {
          Field(name: "first", type: scalar, optional: true)
          Field(name: "secondPart", type: .integer)
        }
      default: type = scalar
      }
      return ("\(prefix)\(number)", type, Bool.random(using: &random))
    }
  }

  static func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, records: [Owner.self, Thing.self, Small.self, Large.self])
      .dynamic(version: version)
  }
}

@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct ValueTests {
  private func withStore(
    _ name: String, _ model: StoreModel, _ body: (PersistentStore, Move, String) throws -> Void,
    fill: (PersistentStore) throws -> Void
  ) throws {
    let server = try #require(PostgresServer.shared)
    let path = Workshop.directory(name)
    let address = try server.makeDatabase(name)
    let store = try PersistentStore(at: path, model: model)
    try fill(store)
    let move = Move(
      try store.snapshot(), of: try PersistentStore.inspect(at: path), options: PlanOptions(),
      to: address)
    try body(store, move, address)
    try store.close()
    try PersistentStore.delete(at: path)
  }

  private func verification(
    _ store: PersistentStore, _ address: String
  ) throws -> Verification {
    try Verification(
      of: try store.snapshot(), identity: try PersistentStore.inspect(at: store.path).identity,
      in: address)
  }

  @Test func `the extremes of every type go over`() throws {
    try withStore("extremes", Extremes.model) { store, move, address in
      try move.run()
      let found = try verification(store, address)
      #expect(found.isSame, "\(found.differences)")
      let connection = try Connection(address)
      func values(_ sql: String) throws -> [String?] { try connection.run(sql).map { $0[0] } }
      // The server reads them as the same values: what was hashed is of its own functions.
      for (place, decimal) in Extremes.decimals.enumerated() {
        #expect(
          try values("SELECT \"decimal\" = \(decimal) FROM \"row\" WHERE id = \(place)") == ["t"],
          "\(decimal)")
      }
      #expect(
        try values(
          "SELECT date AT TIME ZONE 'UTC' FROM \"row\" WHERE id IN (0, 1, 2, 5) ORDER BY id") == [
            "2001-01-01 00:00:00", "2001-01-01 00:00:00.1", "2000-12-31 23:59:59.5", "infinity",
          ])
      #expect(
        try values("SELECT uint64 FROM \"row\" WHERE id < 4 ORDER BY id") == [
          "0", "9223372036854775808", "18446744073709551615", "10000",
        ])
      #expect(
        try values("SELECT int64_list FROM \"row\" WHERE id = 2") == [
          "{-9223372036854775808,9223372036854775807,-1}"
        ])
      #expect(
        try values("SELECT \"float\" FROM \"row\" WHERE id IN (1, 4, 6) ORDER BY id") == [
          "-0", "Infinity", "NaN",
        ])
      #expect(try values("SELECT text FROM \"row\" WHERE id = 4") == ["🔨'\\\""])
      #expect(try values("SELECT encode(data, 'hex') FROM \"row\" WHERE id = 0") == [""])
    } fill: { store in
      try store.write { transaction in
        for place in 0...Extremes.count { try transaction.save(Extremes.record(place)) }
      }
    }
  }

  @Test(arguments: 1...16)
  func `random records of random models, with kinds, go over, or the scan says which do not`(
    version: Int
  ) throws {
    try withStore("chaos\(version)", Chaos.model(version)) { store, move, address in
      let plan = PostgresPlan(store.schema)
      let scan = try ValueScan(of: try store.snapshot(), for: plan)
      guard scan.isMovable else {
        #expect(throws: (any Error).self) { try move.run() }
        return
      }
      try move.run()
      let found = try verification(store, address)
      #expect(found.isSame, "\(found.differences)")
      #expect(found.recordCount == (try store.statistics().recordCount))
    } fill: { store in
      var random = RandomRecords(seed: UInt64(version))
      try random.fill(store, count: 60)
    }
  }
}
