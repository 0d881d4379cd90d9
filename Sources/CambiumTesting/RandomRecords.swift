public import Cambium
internal import FoundationEssentials
internal import TestSupport

/// Random records for any schema, the same for the same seed.
///
/// ```swift
/// var random = RandomRecords(seed: 7)
/// random.values["Person.email"] = { "\($0.next())@example.org" }
/// try random.fill(store, count: 1_000)
/// ```
public struct RandomRecords {
  /// Where values come from that must be particular: enums, what a codec decodes, what is validated. By the record's
  /// name, a dot, and the field's; of a composite's part with the composite's name and a dot before it.
  public var values: [String: (inout SeededGenerator) -> FieldValue] = [:]
  private var random: SeededGenerator

  public init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// A record with a value for every field; of those that may have none, every fifth has none.
  public mutating func record(of schema: RecordSchema) -> DynamicRecord {
    DynamicRecord(name: schema.name, fields: fields(of: schema, in: nil))
  }

  /// Writes so many records of each type, in one transaction. Those with the key of another take its place, and those
  /// that a unique constraint does not allow are left out; so there may be less of them.
  ///
  /// - Throws: as `PersistentStore.write`.
  public mutating func fill(_ store: PersistentStore, count: Int) throws {
    var records: [DynamicRecord] = []
    for schema in store.schema.records.sorted(by: { $0.name < $1.name }) {
      for _ in 0..<count { records.append(record(of: schema)) }
    }
    try store.write { transaction in
      for record in records { try Self.save(record, in: &transaction) }
    }
  }

  private static func save(
    _ record: DynamicRecord, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    do {
      try transaction.save(record)
    } catch .uniqueConflict {
      // It is left out.
    }
  }
}

// MARK: - Values

extension RandomRecords {
  private mutating func fields(
    of schema: RecordSchema, in composite: FieldSchema?
  ) -> [String: FieldValue] {
    var fields: [String: FieldValue] = [:]
    for field in schema.fields where field.composite == composite?.number {
      let name = composite.map { String(field.name.dropFirst($0.name.count + 1)) } ?? field.name
      fields[name] = value(of: field, in: schema)
    }
    return fields
  }

  private mutating func value(of field: FieldSchema, in schema: RecordSchema) -> FieldValue {
    if let make = values["\(schema.name).\(field.name)"] { return make(&random) }
    if field.isOptional, random.next() % 5 == 0 { return .null }
    if field.type == .composite { return .composite(fields(of: schema, in: field)) }
    return value(of: field.type)
  }

  private mutating func value(of type: ColumnType) -> FieldValue {
    switch type {
    case .scalar(let type), .external(let type, _): value(of: type)
    case .transformable: .data(Data("{}".utf8))
    case .array(let element): .array((0..<random.next() % 5).map { _ in value(of: element) })
    case .composite: .null
    }
  }

  private mutating func value(of type: ScalarType) -> FieldValue {
    switch type {
    case .boolean: .boolean(random.next() % 2 == 0)
    case .int8: .integer(Int64(integer(Int8.self)))
    case .int16: .integer(Int64(integer(Int16.self)))
    case .int32: .integer(Int64(integer(Int32.self)))
    case .int64: .integer(integer(Int64.self))
    case .uint8: .unsigned(UInt64(integer(UInt8.self)))
    case .uint16: .unsigned(UInt64(integer(UInt16.self)))
    case .uint32: .unsigned(UInt64(integer(UInt32.self)))
    case .uint64: .unsigned(integer(UInt64.self))
    case .float: .float(Float(integer(Int16.self)) / 8)
    case .double: .double(Double(integer(Int32.self)) / 64)
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(integer(Int32.self)) / 4))
    case .decimal: .decimal(Decimal(integer(Int32.self)) / 100)
    case .uuid: .uuid(uuid())
    case .string: .string(string())
    case .url: .url(URL(string: "https://example.org/\(random.next() % 100_000)") ?? Self.anyURL)
    case .binaryData: .data(Data((0..<random.next() % 24).map { _ in byte() }))
    }
  }

  private static let anyURL = URL(filePath: "/")

  /// Small ones, any, and those at the bounds.
  private mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
    switch random.next() % 8 {
    case 0: [Value.min, Value.max, 0, 1].randomElement(using: &random) ?? 0
    case 1...4: Value.random(in: (Value.isSigned ? 0 &- 100 : 0)...100, using: &random)
    default: Value(truncatingIfNeeded: random.next())
    }
  }

  private mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: random.next()) }

  private mutating func uuid() -> UUID {
    UUID(
      uuid: (
        byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte(),
        byte(), byte(), byte(), byte(), byte()
      ))
  }

  private mutating func string() -> String {
    let letters = ["a", "b", "Z", "ß", "é", "名", "🌳", " ", "\"", "\\", "\n", "0", ".", "\u{0}"]
    let length = random.next() % 16 == 0 ? 300 : random.next() % 12
    return (0..<length).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
  }
}

/// A seeded generator: the same seed gives the same numbers for ever.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var generator: SplitMix64

  public init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  public mutating func next() -> UInt64 { generator.next() }
}
