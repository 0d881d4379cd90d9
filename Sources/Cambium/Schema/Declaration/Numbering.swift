/// Makes the schema of a described version, with the numbers of the one before.
///
/// Old records and fields keep their numbers; new ones get numbers above all that ever were, in the order
/// of names: so neither numbers nor the layout of rows depend on the order of declaration, which is kept beside them.
struct Numbering {
  private let described: DescribedVersion
  private let previous: Schema?
  private var nextNumber: UInt32

  /// - Parameter previous: Of the same version, or of the one before.
  init(_ described: DescribedVersion, after previous: Schema?) {
    self.described = described
    self.previous = previous
    nextNumber = previous?.nextNumber ?? 1
  }

  /// - Throws: `.invalidDescription` if no schema can be so.
  mutating func schema(label: String?) throws(StoreError) -> Schema {
    var records: [RecordSchema] = []
    let old = described.records.map { oldRecord($0) }
    var numbers: [String: UInt32] = [:]
    for (record, old) in zip(described.records, old) { numbers[record.name] = old?.number }
    for name in described.records.map(\.name).sortedRarely(by: { $0.precedes($1) })
    where numbers[name] == nil {
      numbers[name] = takeNumber()
    }
    for (record, old) in zip(described.records, old) {
      do throws(DescriptionFault) {
        records.append(try schema(of: record, numbers[record.name] ?? 0, old))
      } catch {
        throw fault(SchemaFault(record: record.name, field: error.field, reason: error.reason))
      }
    }
    var schema = Schema(
      version: UInt32(described.version), label: label,
      records: records.sortedRarely { $0.number < $1.number }, nextNumber: nextNumber)
    numberRelations(in: &schema)
    do throws(SchemaFault) {
      try schema.validate()
    } catch { throw fault(error) }
    return schema
  }

  private func fault(_ fault: SchemaFault) -> StoreError {
    .invalidDescription(
      record: fault.record, field: fault.field, version: described.version, reason: fault.reason)
  }

  private mutating func takeNumber() -> UInt32 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  private var isSameVersion: Bool { previous.map { $0.version == described.version } ?? false }

  private func oldRecord(_ record: DescribedRecord) -> RecordSchema? {
    let name = isSameVersion ? record.name : described.lineages[record.name]?.ancestor
    return name.flatMap { previous?.record(named: $0) }
  }

  private func oldField(_ field: DescribedField, of record: DescribedRecord, _ old: RecordSchema?)
    -> FieldSchema?
  {
    let name =
      isSameVersion ? field.name : described.lineages[record.name]?.fields[field.name]
    return name.flatMap { old?.field(named: $0) }
  }
}

extension Numbering {
  private mutating func schema(
    of record: DescribedRecord, _ number: UInt32, _ old: RecordSchema?
  ) throws(DescriptionFault) -> RecordSchema {
    var nextField = old?.nextField ?? 1
    var numbers: [String: UInt32] = [:]
    for field in record.fields {
      guard numbers[field.name] == nil else {
        throw DescriptionFault("another field has that name too", field: field.name)
      }
      numbers[field.name] = oldField(field, of: record, old)?.number ?? 0
    }
    for name in numbers.filter({ $0.value == 0 }).keys.sortedRarely(by: { $0.precedes($1) }) {
      numbers[name] = nextField
      nextField += 1
    }
    let fields = record.fields.map { field in
      FieldSchema(
        number: numbers[field.name] ?? 0, name: field.name, type: field.type,
        isOptional: field.isOptional, composite: field.composite.flatMap { numbers[$0] },
        modifier: field.modifier,
        reference: field.reference.map { reference in
          ReferenceSchema(
            record: 0, destination: reference.destination, kind: reference.kind,
            isChecked: reference.isChecked,
            deleteRule: reference.deleteRule == .noAction ? .nullify : reference.deleteRule,
            bounds: reference.bounds)
        }, userInfo: field.userInfo, defaultValue: field.defaultValue)
    }
    var schema = RecordSchema(
      number: number, name: record.name, fields: fields.inOrderOfNumbers,
      order: isSameVersion ? old?.order : fields.map(\.number),
      primaryKey: try record.primaryKey.parts(numbers, "the primary key"), indexes: [],
      modifier: record.modifier, nextField: nextField)
    schema.userInfo = record.userInfo
    schema.expiry = try record.expiry.map { expiry throws(DescriptionFault) in
      try expiry.schema(numbers)
    }
    schema.isAbstract = record.isAbstract
    schema.kinds = record.kinds
      .map { KindSchema(composite: numbers[$0.name] ?? 0, isAbstract: $0.isAbstract) }
      .sortedRarely { $0.composite < $1.composite }
    schema.indexes = try indexes(of: record, schema, numbers, old)
    addMadeIndexes(to: &schema, old)
    addInverses(of: record, to: &schema, old)
    try addDerivations(of: record, to: &schema)
    return schema
  }

  /// Adds the derivations of fields, which have the numbers of other records later.
  private func addDerivations(
    of record: DescribedRecord, to schema: inout RecordSchema
  ) throws(DescriptionFault) {
    let named = schema
    for field in record.fields {
      guard let derivation = field.derivation,
        let place = named.fields.firstIndex(where: { $0.name == field.name })
      else { continue }
      do throws(DescriptionFault) {
        if let inverse = record.inverses.first(where: { $0.name == derivation.relation }) {
          try derivation.refuseNarrowing(inverse)
        }
        schema.fields[place].derivation = try derivation.schema(
          of: named.fields[place].composite, in: named)
      } catch { throw error.of(field.name) }
    }
  }

  /// Adds the reverse index of each checked reference that has none.
  private mutating func addMadeIndexes(to schema: inout RecordSchema, _ old: RecordSchema?) {
    let bare = schema
    for field in bare.fields.sortedRarely(by: { $0.name.precedes($1.name) })
    where field.reference?.isChecked == true && bare.wayBack(of: field) == nil {
      schema.indexes.append(
        number(bare.madeIndex(of: field, number: 0), of: bare, old, besides: schema.indexes))
    }
    schema.indexes = schema.indexes.sortedRarely { $0.number < $1.number }
  }

  /// Adds the inverses of a record, whose references have their numbers later.
  private func addInverses(
    of record: DescribedRecord, to schema: inout RecordSchema, _ old: RecordSchema?
  ) {
    for inverse in record.inverses.sortedRarely(by: { $0.name.precedes($1.name) }) {
      let same =
        inverse.renamingID.flatMap { old?.inverse(named: $0) } ?? old?.inverse(named: inverse.name)
      if same == nil { schema.nextField += 1 }
      schema.inverses.append(
        InverseSchema(
          number: same?.number ?? schema.nextField - 1, name: inverse.name, record: 0, field: 0,
          related: inverse.related, reference: inverse.reference, deleteRule: inverse.deleteRule,
          bounds: inverse.bounds))
    }
    schema.inverses = schema.inverses.sortedRarely { $0.number < $1.number }
  }

  /// Gives references, inverses and derivations the numbers of the records and fields that they name.
  private func numberRelations(in schema: inout Schema) {
    let named = schema
    for record in schema.records.indices {
      for field in schema.records[record].fields.indices {
        schema.records[record].fields[field].derivation?.number(
          in: named, of: named.records[record])
        guard let reference = schema.records[record].fields[field].reference else { continue }
        let destination = named.record(named: reference.destination)
        schema.records[record].fields[field].reference?.record = destination?.number ?? 0
        schema.records[record].fields[field].reference?.composite = reference.kind.flatMap {
          destination?.field(named: $0)?.number
        }
      }
      for index in schema.records[record].inverses.indices {
        let inverse = schema.records[record].inverses[index]
        let related = named.record(named: inverse.related)
        schema.records[record].inverses[index].record = related?.number ?? 0
        schema.records[record].inverses[index].field =
          related?.field(named: inverse.reference)?.number ?? 0
      }
    }
  }

  /// Returns an index with the number of one before that has the same entries, and so keeps its tree, or with a new number.
  ///
  /// - Parameter others: The indexes that have numbers already.
  private mutating func number(
    _ index: IndexSchema, of bare: RecordSchema, _ old: RecordSchema?,
    besides others: [IndexSchema]
  ) -> IndexSchema {
    var index = index
    let numbers = Set(others.map(\.number))
    let shape = bare.shape(of: index)
    let free = old?.indexes.filter { !numbers.contains($0.number) } ?? []
    guard let old,
      let kept = free.first(where: { old.shape(of: $0) == shape })
        ?? free.first(where: { bare.hasEntries(of: $0, of: old, in: index) })
    else {
      index.number = takeNumber()
      return index
    }
    index.number = kept.number
    for (place, part) in kept.parts.enumerated() {
      index.parts[place].flipsNullByte =
        bare.hasNullByte(index.parts[place]) != old.hasNullByte(part)
    }
    return index
  }

  /// An index that has the entries of one before, whatever its name is, keeps its number and so its tree.
  private mutating func indexes(
    of record: DescribedRecord, _ bare: RecordSchema, _ numbers: [String: UInt32],
    _ old: RecordSchema?
  ) throws(DescriptionFault) -> [IndexSchema] {
    var indexes: [IndexSchema] = []
    var shapes: Set<[UInt8]> = []
    for index in record.indexes.sortedRarely(by: { $0.storedName.precedes($1.storedName) }) {
      let name = index.storedName
      let schema = IndexSchema(
        number: 0, name: name, parts: try index.fields.parts(numbers, "the index \(name)"),
        isUnique: index.isUnique,
        condition: try index.condition.map {
          condition
            throws(DescriptionFault) in try bare.converted(condition, of: name)
        })
      guard shapes.insert(bare.shape(of: schema)).inserted else {
        throw DescriptionFault("the index \(name) is the same as another; leave one out")
      }
      indexes.append(number(schema, of: bare, old, besides: indexes))
    }
    return indexes.sortedRarely { $0.number < $1.number }
  }
}

extension RecordSchema {
  /// Returns everything on which the entries of an index depend, by numbers. If the shape is the same, its tree is kept.
  fileprivate func shape(of index: IndexSchema) -> [UInt8] {
    var shape: [UInt8] = [index.isUnique ? 1 : 0, index.condition == nil ? 0 : 1]
    shape.append(parts: index.parts, field: typedField)
    shape.append(parts: primaryKey, field: typedField)
    guard let condition = index.condition else { return shape }
    shape.append(condition: condition) { name in
      self.field(named: name).map { typedField($0.number) } ?? []
    }
    return shape
  }

  /// Returns true if an index of this version has the entries that one of an older version has, although its field has become
  /// optional or a list since: that of a checked reference, in which records that lead nowhere have none.
  fileprivate func hasEntries(
    of kept: IndexSchema, of old: RecordSchema, in index: IndexSchema
  ) -> Bool {
    guard let before = old.reverseShape(of: kept), let shape = reverseShape(of: index) else {
      return false
    }
    // Of a list that becomes a single reference, only one element stays.
    return before == shape
      && (kept.parts[0].expansion == .none || index.parts[0].expansion == .elements)
  }

  /// Returns everything on which the entries of a checked reference's index depend, if they are those of the records that lead
  /// somewhere; nil of other indexes.
  private func reverseShape(of index: IndexSchema) -> [UInt8]? {
    guard !index.isUnique, let part = index.parts.first, let field = field(part.field),
      field.reference?.isChecked ?? false, !part.isDescending, !part.isCaseInsensitive,
      let type = field.type.keyType(part.expansion)
    else { return nil }
    let isOfValues = index.condition == .comparison(field: field.name, .notEqual, .null)
    let isOfAll =
      index.condition == nil && (part.expansion == .elements || !canBeNull(field))
    guard isOfValues || isOfAll else { return nil }
    var shape: [UInt8] = []
    shape.append(integer: field.number)
    shape.append(type: .scalar(type))
    shape.append(parts: Array(index.parts.dropFirst()), field: typedField)
    shape.append(parts: primaryKey, field: typedField)
    return shape
  }

  /// Returns true if a byte before the value of an index's part says whether it is null.
  fileprivate func hasNullByte(_ part: KeyPart) -> Bool {
    let canBeNull = field(part.field).map(canBeNull) ?? false
    return (canBeNull && part.expansion == .none) != part.flipsNullByte
  }

  private func typedField(_ number: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: number)
    guard let field = field(number) else { return bytes }
    bytes.append(type: field.type)
    bytes.append(canBeNull(field) ? 1 : 0)
    return bytes
  }

  /// Returns the condition of an index with values as the columns hold them.
  func converted(
    _ condition: FieldCondition, of index: String
  ) throws(DescriptionFault) -> FieldCondition {
    guard !condition.isDeeper(than: FieldCondition.depthMax) else {
      throw DescriptionFault(
        "the condition of the index \(index) is nested over \(FieldCondition.depthMax) deep")
    }
    return try condition.mapTerms { term throws(DescriptionFault) in
      switch term {
      case .comparison(let name, let comparison, let value):
        return try converted(name, comparison, value, of: index)
      case .isIn(let name, let values):
        var terms: [FieldCondition] = []
        for value in values { terms.append(try converted(name, .equal, value, of: index)) }
        return .or(terms)
      default:
        throw DescriptionFault(
          "the condition of the index \(index) has \(term), but an index can have only comparisons of"
            + " fields with values")
      }
    }.canonical
  }

  private func converted(
    _ name: String, _ comparison: FieldComparison, _ value: FieldValue, of index: String
  ) throws(DescriptionFault) -> FieldCondition {
    guard let field = field(named: name) else {
      throw DescriptionFault(
        "the condition of the index \(index) is of \(name), which is not there")
    }
    guard
      field.type.canBeKey
        || field.type == .composite && value == .null && comparison.isOfEquality
    else {
      throw DescriptionFault(
        "the condition of the index \(index) compares \(name), \(field.type)")
    }
    guard let value = value == .null ? .null : value.converted(to: field.type) else {
      throw DescriptionFault(
        "the condition of the index \(index) compares \(name), \(field.type), with \(value)")
    }
    return .comparison(field: name, comparison, value)
  }
}

extension [KeyField] {
  fileprivate func parts(
    _ numbers: [String: UInt32], _ key: String
  ) throws(DescriptionFault) -> [KeyPart] {
    var parts: [KeyPart] = []
    for field in self {
      guard let number = numbers[field.name] else {
        throw DescriptionFault("\(key) is of \(field.name), which is not there", field: field.name)
      }
      parts.append(
        KeyPart(
          field: number, isDescending: field.isDescending,
          isCaseInsensitive: field.isCaseInsensitive, expansion: field.expansion,
          collation: field.collation))
    }
    return parts
  }
}
