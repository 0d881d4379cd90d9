public import Cambium
internal import TestSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Random records for any schema, the same for the same seed.
///
/// ```swift
/// var random = RandomRecords(seed: 7)
/// random.values["Person.email"] = { "\($0.next())@example.org" }
/// try random.fill(store, count: 1_000)
/// ```
public struct RandomRecords: Sendable {
  /// Generators of values that must be particular: enums, encoded or validated values. By the record's
  /// name, a dot, and the field's; of a composite's part with the composite's name and a dot before it.
  public var values: [String: @Sendable (inout SeededGenerator) -> FieldValue] = [:]
  private var random: SeededGenerator

  public init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// The records that `fill` has written; nil for records that are not written.
  private var written: WrittenRecords?
  /// The primary key of the record that is being made, if that is one field.
  private var ownKey: (field: UInt32, value: FieldValue)?
  /// Why the record that is being made cannot be: a reference has nothing to lead to.
  private var lack: RecordShortage.Reason?

  /// A record with a value for every field; of those that may have none, every fifth has none. Its references are any
  /// keys; `fill` chooses those of records.
  public mutating func record(of schema: RecordSchema) -> DynamicRecord {
    DynamicRecord(schema.name, RecordFields(fields(of: schema, in: nil)))
  }

  /// Writes `count` records of each type, in one transaction; those that references lead to first. Checked references lead
  /// to records that it has written, lists to as many as their bounds say.
  ///
  /// A record that would have the key or a unique value of another, finds no record to lead to, or has values of which a derived
  /// field cannot be computed, is made again, up to 10,000 times. Of an inverse's bounds, only the upper one is kept.
  ///
  /// - Throws: as `PersistentStore.write`; `RecordShortage` if there are not enough different keys, unique values or
  ///   destinations, if no values were drawn of which derived fields can be computed, or if records need each other in a
  ///   ring, so that none of them can be the first: nothing is written then.
  public mutating func fill(_ store: PersistentStore, count: Int) throws {
    written = WrittenRecords(store.schema)
    defer { (written, ownKey, lack) = (nil, nil, nil) }
    var random = self
    try store.write { transaction in
      for schema in store.schema.inOrderOfReferences {
        for made in 0..<count {
          if let reason = try random.write(schema, in: &transaction) {
            throw RecordShortage(record: schema.name, wanted: count, made: made, reason: reason)
          }
        }
        random.written?.finish(schema)
      }
    }
    self = random
  }

  /// - Returns: The reason why there is no place for another record; nil if it was written.
  private mutating func write(
    _ schema: RecordSchema, in transaction: inout WriteTransaction
  ) throws -> RecordShortage.Reason? {
    var reason: RecordShortage.Reason?
    for _ in 0..<Self.keysMax {
      if let reason = drawKey(of: schema) { return reason }
      for _ in 0..<Self.attemptsMax {
        reason = try writeOnce(schema, in: &transaction)
        switch reason {
        case nil, .ring?: return reason
        case .key?, .uniqueValue?, .derivedValue?, .destination?: continue
        }
      }
    }
    return reason
  }

  /// The number of keys with which a record is tried, since the key itself may be in the way.
  private static var keysMax: Int { 10 }
  /// The number of attempts to make a record with one key. Often enough to draw each of the 256 values of a byte, as
  /// are all of them together to draw a key.
  private static var attemptsMax: Int { 1_000 }

  /// Chooses the key of the next record, if that is one field.
  ///
  /// - Returns: The reason why there is none; nil if no other record has it.
  private mutating func drawKey(of schema: RecordSchema) -> RecordShortage.Reason? {
    (ownKey, lack) = (nil, nil)
    let names = schema.primaryKey.map { schema.name(of: $0) }
    guard names.count == 1, let key = schema.field(named: names[0]) else { return nil }
    for _ in 0..<Self.keysMax * Self.attemptsMax {
      (ownKey, lack) = (nil, nil)
      let value = value(of: key, in: schema)
      if case .ring? = lack { return lack }
      if lack == nil, !isWritten([value], schema) {
        ownKey = (key.number, value)
        return nil
      }
    }
    return lack ?? .key(fields: names)
  }

  /// - Returns: The reason why the record was not written; nil if it was.
  private mutating func writeOnce(
    _ schema: RecordSchema, in transaction: inout WriteTransaction
  ) throws -> RecordShortage.Reason? {
    lack = nil
    let names = schema.primaryKey.map { schema.name(of: $0) }
    written?.beginCounting()
    let record = record(of: schema)
    let key = names.map { record[$0] }
    var reason = lack
    if reason == nil, isWritten(key, schema) { reason = .key(fields: names) }
    if reason == nil { reason = try save(record, in: &transaction) }
    if reason == nil { written?.add(key, of: record, schema) } else { written?.takeBack() }
    return reason
  }

  private func isWritten(_ key: [FieldValue], _ schema: RecordSchema) -> Bool {
    guard let written else { return false }
    return written.has(key, schema)
  }

  /// - Returns: The constraint for which another record has its value, or the field that cannot be computed; nil if it was
  ///   written.
  private func save(
    _ record: DynamicRecord, in transaction: inout WriteTransaction
  ) throws -> RecordShortage.Reason? {
    do throws(StoreError) {
      try transaction.save(record)
    } catch {
      guard let reason = reason(of: error) else { throw error }
      return reason
    }
    return nil
  }

  /// Why another record than this one could be written, if the error is of that kind.
  private func reason(of error: StoreError) -> RecordShortage.Reason? {
    switch error {
    case .uniqueConflict(_, let constraint, _):
      return .uniqueValue(constraint: constraint)
    case .invalidValue(let owner, let field?, let reason):
      guard written?.isDerived(field, of: owner) ?? false else { return nil }
      return .derivedValue(field: "\(owner).\(field)", reason: reason)
    default:
      return nil
    }
  }
}

// MARK: - References

/// The primary keys of records that were written, for those that lead to them.
private struct WrittenRecords {
  private let schema: Schema
  private var keys: [String: [FieldValue]] = [:]
  private var known: [String: Set<[FieldValue]>] = [:]
  private var finished: Set<String> = []
  /// By reference: how many lead to a key.
  private var counts: [String: [FieldValue: Int]] = [:]
  /// The references that were counted of the record that is being made.
  private var counted: [(reference: String, key: FieldValue)] = []

  init(_ schema: Schema) { self.schema = schema }

  mutating func add(_ parts: [FieldValue], of record: DynamicRecord, _ schema: RecordSchema) {
    guard known[schema.name, default: []].insert(parts).inserted, parts.count == 1,
      let key = parts.first
    else { return }
    keys[schema.name, default: []].append(key)
    for kind in schema.kinds.map(schema.name(of:)) where record.isOfKind(kind) {
      keys["\(schema.name).\(kind)", default: []].append(key)
    }
  }

  /// - Parameter key: Its parts.
  func has(_ key: [FieldValue], _ schema: RecordSchema) -> Bool {
    known[schema.name]?.contains(key) ?? false
  }

  /// Returns true for a field whose values the store computes.
  func isDerived(_ field: String, of record: String) -> Bool {
    schema.record(named: record)?.field(named: field)?.derivation != nil
  }

  mutating func beginCounting() { counted.removeAll(keepingCapacity: true) }

  /// Forgets the references of a record that is not written.
  mutating func takeBack() {
    for (reference, key) in counted { counts[reference]?[key, default: 1] -= 1 }
    counted.removeAll()
  }

  mutating func finish(_ record: RecordSchema) { finished.insert(record.name) }

  /// - Parameter name: Of a record, or of a kind after that of its record and a dot.
  func isFinished(_ name: String) -> Bool { finished.contains(Self.record(name)) }

  private static func record(_ name: String) -> String {
    String(name.prefix { $0 != "." })
  }

  /// The keys that a reference may lead to.
  func keys(for field: FieldSchema, of record: RecordSchema, _ name: String) -> [FieldValue] {
    let all = keys[name] ?? []
    guard let most = most(field, of: record, name) else { return all }
    let known = counts["\(record.name).\(field.name)"] ?? [:]
    return all.filter { known[$0, default: 0] < most }
  }

  /// Counts a reference, if not any number may lead where it does.
  mutating func count(_ key: FieldValue, for field: FieldSchema, of record: RecordSchema) {
    let reference = "\(record.name).\(field.name)"
    counts[reference, default: [:]][key, default: 0] += 1
    counted.append((reference, key))
  }

  private func most(_ field: FieldSchema, of record: RecordSchema, _ name: String) -> Int? {
    schema.record(named: Self.record(name))?.inverses
      .first { $0.related == record.name && $0.reference == field.name }?.bounds?.most
  }
}

extension DynamicRecord {
  /// Returns true if the composite with a name is not null.
  fileprivate func isOfKind(_ name: String) -> Bool {
    var value = FieldValue.null
    for (depth, part) in name.split(separator: ".").enumerated() {
      if depth == 0 {
        value = self[String(part)]
      } else if case .composite(let parts) = value {
        value = parts[String(part)] ?? .null
      }
      guard case .composite = value else { return false }
    }
    return true
  }
}

extension RandomRecords {
  /// A value for a checked reference: the keys of records that were written, or the record's own.
  private mutating func reference(
    _ field: FieldSchema, to name: String, of schema: RecordSchema, _ written: WrittenRecords
  ) -> FieldValue {
    var keys = written.keys(for: field, of: schema, name)
    if name == schema.name, let ownKey, ownKey.field != field.number, !keys.contains(ownKey.value) {
      keys.append(ownKey.value)
    }
    let isList = if case .array = field.type { true } else { false }
    let least = isList ? field.reference?.bounds?.least ?? 0 : field.isOptional ? 0 : 1
    guard keys.count >= least else {
      let reference = "\(schema.name).\(field.name)"
      let isRing = name != schema.name && !written.isFinished(name)
      lack =
        isRing
        ? .ring(reference: reference, destination: name)
        : .destination(reference: reference, destination: name)
      return .null
    }
    let most = min(keys.count, field.reference?.bounds?.most ?? .max, least + 4)
    let count = isList ? Int.random(in: least...most, using: &random) : min(1, keys.count)
    var chosen: [FieldValue] = []
    for _ in 0..<count {
      let key = keys.remove(at: Int.random(in: keys.indices, using: &random))
      self.written?.count(key, for: field, of: schema)
      chosen.append(key)
    }
    return isList ? .array(chosen) : chosen.first ?? .null
  }
}

// MARK: - Values

extension RandomRecords {
  private mutating func fields(
    of schema: RecordSchema, in composite: FieldSchema?
  ) -> [String: FieldValue] {
    var fields: [String: FieldValue] = [:]
    let kinds = schema.kinds(of: composite?.number).map(\.composite)
    let kind = kind(among: kinds, of: schema, in: composite)
    for field in schema.fields where field.composite == composite?.number {
      let name = composite.map { String(field.name.dropFirst($0.name.count + 1)) } ?? field.name
      if kinds.contains(field.number) {
        fields[name] =
          field.number == kind ? .composite(self.fields(of: schema, in: field)) : .null
      } else {
        fields[name] = value(of: field, in: schema)
      }
    }
    return fields
  }

  /// The kind that a record is of, if it is of one.
  private mutating func kind(
    among kinds: [UInt32], of schema: RecordSchema, in composite: FieldSchema?
  ) -> UInt32? {
    if kinds.isEmpty { return nil }
    let parent = composite.flatMap { composite in
      schema.kinds.first { $0.composite == composite.number }
    }
    let isAbstract = parent?.isAbstract ?? schema.isAbstract
    let choice = Int(random.next() % UInt64(kinds.count + (isAbstract ? 0 : 1)))
    return choice < kinds.count ? kinds[choice] : nil
  }

  private mutating func value(of field: FieldSchema, in schema: RecordSchema) -> FieldValue {
    if let ownKey, ownKey.field == field.number { return ownKey.value }
    if let make = values["\(schema.name).\(field.name)"] { return make(&random) }
    if field.derivation?.kind == .sequence,
      !schema.primaryKey.contains(where: { $0.field == field.number })
    {
      return field.isOptional ? .null : 0
    }
    if field.isOptional, random.next() % 5 == 0 { return .null }
    if field.type == .composite { return .composite(fields(of: schema, in: field)) }
    if let reference = field.reference, reference.isChecked, let written {
      return self.reference(field, to: reference.destinationText, of: schema, written)
    }
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
