import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A chain of schemas of one record, as random as steps may be that can be deferred.
struct RandomSteps {
  let first: Schema
  private(set) var steps: [SchemaChange] = []
  private var last: Schema
  private var nextIndex: UInt32 = 100

  static let name = "Item"
  private static let types: [ColumnType] = [
    .boolean, .int8, .int16, .int32, .uint8, .uint16, .uint32, .float, .double, .decimal, .string,
    .url, .date, .uuid, .binaryData, .array(of: .string), .array(of: .int16),
  ]

  init(_ random: inout SplitMix64) {
    var fields = [
      FieldSchema(
        number: 1, name: "id", type: .int64, isOptional: false, composite: nil, modifier: nil)
    ]
    var maker = FieldMaker(next: 2)
    for _ in 0..<Int.random(in: 1...7, using: &random) { maker.add(to: &fields, nil, &random) }
    let bare = Self.schema(1, fields, [], next: maker.next)
    var indexes: [IndexSchema] = []
    for field in fields where field.reference?.isChecked == true {
      nextIndex += 1
      if let record = bare.records.first {
        indexes.append(record.madeIndex(of: field, number: nextIndex))
      }
    }
    first = Self.schema(1, fields, indexes, next: maker.next)
    last = first
    for _ in 0..<Int.random(in: 1...4, using: &random) { add(&random) }
  }

  var schemas: [Schema] { [first] + steps.map(\.to) }
  var to: Schema { last }

  fileprivate static func schema(
    _ version: UInt32, _ fields: [FieldSchema], _ indexes: [IndexSchema], next: UInt32
  ) -> Schema {
    let record = RecordSchema(
      number: 1, name: name, fields: fields.sorted { $0.number < $1.number },
      primaryKey: [KeyPart(field: 1, isDescending: false, isCaseInsensitive: false)],
      indexes: indexes, modifier: nil, nextField: next)
    return Schema(version: version, label: nil, records: [record], nextNumber: 1000)
  }
}

/// Makes fields with numbers of their own.
private struct FieldMaker {
  var next: UInt32

  /// - Returns: the numbers of what was added.
  @discardableResult
  mutating func add(
    to fields: inout [FieldSchema], _ composite: FieldSchema?, _ random: inout SplitMix64
  ) -> [UInt32] {
    let number = next
    next += 1
    if composite == nil, random.next() % 5 == 0 {
      fields.append(RandomSteps.reference(number, &random))
      return [number]
    }
    let isComposite = composite == nil && random.next() % 5 == 0
    let field = FieldSchema(
      number: number, name: (composite.map { $0.name + "." } ?? "") + "f\(number)",
      type: isComposite ? .composite : RandomSteps.type(&random),
      isOptional: Bool.random(using: &random),
      composite: composite?.number, modifier: nil)
    fields.append(field)
    var added = [number]
    if isComposite {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        added += add(to: &fields, field, &random)
      }
    }
    return added
  }
}

extension RandomSteps {
  fileprivate static func type(_ random: inout SplitMix64) -> ColumnType {
    types.randomElement(using: &random) ?? .string
  }

  /// A reference to a record of the same type: single and optional, or a list.
  fileprivate static func reference(
    _ number: UInt32, _ random: inout SplitMix64
  ) -> FieldSchema {
    let isList = Bool.random(using: &random)
    return FieldSchema(
      number: number, name: "f\(number)", type: isList ? .array(of: .int64) : .int64,
      isOptional: !isList, composite: nil, modifier: nil,
      reference: ReferenceSchema(
        record: 1, destination: name, isChecked: random.next() % 3 > 0, deleteRule: .nullify,
        bounds: nil))
  }

  /// A step that changes some of everything.
  private mutating func add(_ random: inout SplitMix64) {
    guard let old = last.records.first else { return }
    var fields = old.fields
    var made: [UInt32: FieldValue] = [:]
    for place in fields.indices where fields[place].number != 1 {
      let field = changed(fields[place], &random)
      fields[place] = field
      let isMade = field.type.scalar != nil && !field.isOptional && field.reference == nil
      // It may have been null, for itself or with a composite.
      if isMade { made[field.number] = RandomValue.make(field.type, &random) }
    }
    for field in old.fields where field.number != 1 && random.next() % 6 == 0 {
      fields.removeAll { $0.number == field.number || $0.composite == field.number }
    }
    // A composite without parts is none.
    let empty = fields.filter { field in
      field.type == .composite && !fields.contains { $0.composite == field.number }
    }
    fields.removeAll { empty.contains($0) }
    var maker = FieldMaker(next: old.nextField)
    var added: [UInt32] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let composites = fields.filter { $0.type == .composite }
      let outer = random.next() % 2 == 0 ? composites.randomElement(using: &random) : nil
      added += maker.add(to: &fields, outer, &random)
    }
    for number in added {
      guard let field = fields.first(where: { $0.number == number }), field.type != .composite
      else { continue }
      if field.reference != nil {
        made[number] = field.isOptional ? .null : .array([])
        continue
      }
      if field.isOptional, random.next() % 2 == 0 { continue }
      made[number] = RandomValue.make(field.type, &random)
    }
    let new = Self.schema(
      last.storedVersion + UInt32.random(in: 1...2, using: &random), fields,
      indexes(old, fields, &random), next: maker.next)
    guard let record = new.records.first else { return }
    let changes = record.fields.map {
      FieldChange(new: $0, old: old.field($0.number), missing: made[$0.number] ?? .null)
    }
    steps.append(
      SchemaChange(
        from: last, to: new, added: [], removed: [],
        records: [
          RecordChange(old: old, new: record, fields: changes, sources: [:], kind: .rows)
        ], transformed: [], faults: []))
    last = new
  }

  private func changed(_ field: FieldSchema, _ random: inout SplitMix64) -> FieldSchema {
    if field.reference != nil {
      var field = field
      if random.next() % 4 == 0 { field.reference?.isChecked = false }
      return field
    }
    var (type, isOptional) = (field.type, field.isOptional)
    if random.next() % 4 == 0 { isOptional = true }
    if random.next() % 6 == 0, type.scalar != nil { isOptional = false }
    let wider = Self.types.filter { field.type.widens(to: $0) }
    if random.next() % 3 == 0, let wide = wider.randomElement(using: &random) { type = wide }
    let list = type.scalar.map { ColumnType.array(of: $0) }
    if random.next() % 8 == 0, isOptional, let list, Self.types.contains(list) { type = list }
    var (name, composite) = (field.name, field.composite)
    if random.next() % 6 == 0, type.scalar != nil {
      let composites = last.records.first?.fields.filter { $0.type == .composite } ?? []
      let place = random.next() % 2 == 0 ? composites.randomElement(using: &random) : nil
      name = (place.map { $0.name + "." } ?? "") + "f\(field.number)"
      composite = place?.number
    }
    return FieldSchema(
      number: field.number, name: name, type: type, isOptional: isOptional,
      composite: composite, modifier: nil)
  }

  /// Keeps some, as far as their fields are the same, and makes some new.
  private mutating func indexes(
    _ old: RecordSchema, _ fields: [FieldSchema], _ random: inout SplitMix64
  ) -> [IndexSchema] {
    let new = RecordSchema(
      number: 1, name: Self.name, fields: fields.sorted { $0.number < $1.number },
      primaryKey: old.primaryKey, indexes: [], modifier: nil)
    // What may be null has other entries.
    func isSame(_ part: KeyPart) -> Bool {
      guard let field = new.field(part.field), let source = old.field(part.field) else {
        return false
      }
      return field.type == source.type && new.canBeNull(field) == old.canBeNull(source)
    }
    // What leads back of a checked reference stays.
    func leadsBack(_ index: IndexSchema) -> Bool {
      old.leadsBack(index) && new.field(index.parts[0].field)?.reference?.isChecked ?? false
    }
    var indexes = old.indexes.filter { index in
      (leadsBack(index) || random.next() % 4 != 0) && index.parts.allSatisfy(isSame)
    }
    let columns = fields.filter {
      $0.type != .composite && $0.number != 1 && $0.reference == nil
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      guard let field = columns.randomElement(using: &random),
        !indexes.contains(where: { $0.parts[0].field == field.number })
      else { continue }
      let isOfElements = field.type.keyType(.elements) != nil
      guard isOfElements || field.type.canBeKey else { continue }
      nextIndex += 1
      indexes.append(
        IndexSchema(
          number: nextIndex, name: "i\(nextIndex)",
          parts: [
            KeyPart(
              field: field.number, isDescending: !isOfElements && Bool.random(using: &random),
              isCaseInsensitive: false, expansion: isOfElements ? .elements : .none)
          ], isUnique: false, condition: nil))
    }
    var whole = new
    whole.indexes = indexes
    for field in whole.fields
    where field.reference?.isChecked == true && whole.wayBack(of: field) == nil {
      nextIndex += 1
      indexes.append(whole.madeIndex(of: field, number: nextIndex))
    }
    return indexes
  }
}

/// Values of any type of column.
enum RandomValue {
  static func make(_ type: ColumnType, _ random: inout SplitMix64) -> FieldValue {
    switch type {
    case .array(let element):
      return .array(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in make(.scalar(element), &random) })
    default:
      guard let scalar = type.scalar else { return .null }
      if random.next() % 40 == 0, case .string = type {
        return .string(String(repeating: "x", count: Int.random(in: 200...700, using: &random)))
      }
      // What is no number is in no key.
      return SampleValues.edges(scalar).randomElement(using: &random) ?? .null
    }
  }

  /// A record with a value in most fields.
  ///
  /// - Parameter others: The keys of the records that it may lead to, beside itself.
  static func record(
    _ id: Int64, _ record: RecordSchema, leadingTo others: [Int64] = [],
    _ random: inout SplitMix64
  ) -> DynamicRecord {
    var fields: [String: FieldValue] = ["id": .integer(id)]
    for field in record.fields where field.composite == nil && field.number != 1 {
      fields[field.name] =
        field.reference == nil
        ? value(field, record, &random) : reference(field, others + [id], &random)
    }
    return DynamicRecord(record.name, RecordFields(fields))
  }

  private static func reference(
    _ field: FieldSchema, _ keys: [Int64], _ random: inout SplitMix64
  ) -> FieldValue {
    var chosen: [Int64] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      guard let key = keys.randomElement(using: &random), !chosen.contains(key) else { continue }
      chosen.append(key)
    }
    let values = chosen.map { FieldValue.integer($0) }
    return field.isOptional ? values.first ?? .null : .array(values)
  }

  private static func value(
    _ field: FieldSchema, _ record: RecordSchema, _ random: inout SplitMix64
  ) -> FieldValue {
    if field.isOptional, random.next() % 3 == 0 { return .null }
    guard field.type == .composite else { return make(field.type, &random) }
    var parts: [String: FieldValue] = [:]
    for part in record.fields where part.composite == field.number {
      parts[String(part.name.dropFirst(field.name.count + 1))] = value(part, record, &random)
    }
    return .composite(parts)
  }
}
