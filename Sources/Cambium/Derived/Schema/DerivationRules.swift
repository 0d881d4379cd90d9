// The rules for derived fields of every schema, whether described by a program or read from a store.

extension Schema {
  /// Throws the first fault found in derived fields. Relations are sound.
  func validateDerivations() throws(SchemaFault) {
    for record in records {
      for field in record.fields {
        guard let derivation = field.derivation else { continue }
        if let reason = fault(of: derivation, field, of: record) {
          throw record.fault(reason, field: field.name)
        }
      }
    }
  }

  private func fault(
    of derivation: DerivationSchema, _ field: FieldSchema, of record: RecordSchema
  ) -> String? {
    if derivation.kind != .sequence,
      record.primaryKey.contains(where: { $0.field == field.number })
    {
      return "it is in the primary key, which the program gives, so it is not derived"
    }
    if field.reference != nil { return "it is a reference, so it is not derived" }
    if !derivation.kind.isOfText, derivation.kind != .sequence,
      record.indexes.contains(where: { index in
        index.isUnique && index.parts.contains { $0.field == field.number }
      })
    {
      return "it is \(derivation.kind.text), which two records may have, so it cannot be unique"
    }
    if derivation.expression != nil, !derivation.kind.takesExpression {
      return "a \(derivation.kind) is of no expression"
    }
    switch derivation.kind {
    case .lowercased, .uppercased, .folded: return textFault(of: derivation, field, of: record)
    case .modificationDate:
      guard derivation.numbers == [0, 0, 0] else { return "it is derived of nothing but the time" }
      return field.type == .scalar(.date) ? nil : "it is the time of a write, so its type is date"
    case .sequence:
      guard derivation.numbers == [0, 0, 0] else { return "a sequence is of no other field" }
      return record.sequenceFault(of: derivation, field)
    case .count:
      guard field.type == .scalar(.int64), !field.isOptional else {
        return "it is a count, so its type is integer, and it is not optional"
      }
      guard derivation.sourceNumber == 0 else { return "a count is of no field" }
      return derivation.relatedNumber == 0
        ? listFault(of: derivation, field, of: record)
        : relationFault(of: derivation, field, to: record)
    case .sum, .minimum, .maximum:
      return relationFault(of: derivation, field, to: record) ?? valueFault(of: derivation, field)
    case .value:
      guard derivation.numbers == [0, 0, 0] else { return "it is derived of its expression alone" }
      return record.valueFault(of: derivation, field)
    }
  }

  private func textFault(
    of derivation: DerivationSchema, _ field: FieldSchema, of record: RecordSchema
  ) -> String? {
    guard derivation.relatedNumber == 0, derivation.referenceNumber == 0,
      let source = record.field(derivation.sourceNumber)
    else { return "it is derived of a field that is not there" }
    if source.derivation != nil {
      return "it is derived of \(source.name), which is derived itself"
    }
    guard source.type == .scalar(.string), field.type == .scalar(.string) else {
      return "it is \(source.name) in other letters, so both are strings that are in the row"
    }
    if !field.isOptional, record.canBeNull(source, where: field) {
      return "\(source.name) may be nil, so it is optional too"
    }
    return record.scopeFault(of: field, derivedOf: source)
  }

  private func listFault(
    of derivation: DerivationSchema, _ field: FieldSchema, of record: RecordSchema
  ) -> String? {
    guard let list = record.field(derivation.referenceNumber), case .array = list.type else {
      return "it counts the elements of a list that is not there"
    }
    return record.scopeFault(of: field, derivedOf: list)
  }

  private func relationFault(
    of derivation: DerivationSchema, _ field: FieldSchema, to record: RecordSchema
  ) -> String? {
    guard let related = self.record(number: derivation.relatedNumber),
      let reference = related.field(derivation.referenceNumber),
      reference.reference?.record == record.number
    else { return "it is derived of a relation that does not lead here" }
    guard reference.reference?.isChecked ?? false else {
      return
        "it is derived of \(related.name).\(reference.name), which is not checked; let it be checked"
    }
    if let kind = reference.reference?.composite.flatMap({ record.field($0) }),
      !record.areOfOneKind(field, kind)
    {
      return
        "it is derived of \(related.name).\(reference.name), which leads to records of another kind, \(kind.name)"
    }
    return nil
  }

  private func valueFault(of derivation: DerivationSchema, _ field: FieldSchema) -> String? {
    let related = record(number: derivation.relatedNumber)
    if let related, derivation.expression != nil {
      return derivation.sourceNumber == 0
        ? related.aggregateFault(of: derivation, field)
        : "it is derived of a field or of an expression, not of both"
    }
    guard let related, let source = related.field(derivation.sourceNumber),
      let type = source.type.scalar
    else { return "it is derived of a field that is not there, or has no order" }
    let name = "\(related.name).\(source.name)"
    if source.derivation != nil { return "it is derived of \(name), which is derived itself" }
    if derivation.kind == .sum {
      guard let sum = type.sum else { return "\(name) is \(type), which has no sum" }
      guard field.type == .scalar(sum), !field.isOptional else {
        return "it is the sum of \(name), so its type is \(sum), and it is not optional"
      }
      return nil
    }
    guard type.sum != nil || type == .date else { return "\(name) is neither a number nor a date" }
    guard field.type == .scalar(type), field.isOptional else {
      return "it is the \(derivation.kind) of \(name), so its type is \(type), and it is optional"
    }
    return nil
  }
}

extension RecordSchema {
  /// Returns true if a record that has the composites of one field may be without a value of another.
  func canBeNull(_ field: FieldSchema, where other: FieldSchema) -> Bool {
    let present = composites(other)
    var field = field
    while !field.isOptional {
      guard let number = field.composite, !present.contains(number),
        let composite = self.field(number)
      else { return false }
      field = composite
    }
    return true
  }

  /// Why a field cannot be derived of another field of the record, where that one is; nil if it can.
  func scopeFault(of field: FieldSchema, derivedOf source: FieldSchema) -> String? {
    if let composite = field.composite, kind(composite) == nil {
      return composites(source).contains(composite)
        ? nil : "it is a part of a composite, and \(source.name) is not a part of that one"
    }
    return areOfOneKind(field, source)
      ? nil : "it is derived of \(source.name), which only records of another kind have"
  }

  /// Returns true unless no record can have both of two fields, since they are of different kinds.
  fileprivate func areOfOneKind(_ one: FieldSchema, _ other: FieldSchema) -> Bool {
    func kinds(_ field: FieldSchema) -> [UInt32] {
      ([field.number] + composites(field)).filter { kind($0) != nil }.reversed()
    }
    return zip(kinds(one), kinds(other)).allSatisfy { $0 == $1 }
  }
}

extension DerivationSchema {
  fileprivate var numbers: [UInt32] { [relatedNumber, referenceNumber, sourceNumber] }
}

extension DerivationSchema.Kind {
  fileprivate var text: String { self == .modificationDate ? "a time" : "a \(self)" }

  /// True of those that may be of an expression in the place of a field.
  fileprivate var takesExpression: Bool {
    switch self {
    case .value, .sum, .minimum, .maximum: true
    default: false
    }
  }
}

extension ScalarType {
  /// The type of a sum of such values; nil if there is none.
  fileprivate var sum: ScalarType? {
    switch self {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: .int64
    case .float, .double: .double
    case .decimal: .decimal
    default: nil
    }
  }
}
