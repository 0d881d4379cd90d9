// The rules for fields with sequences of every schema, whether described by a program or read from a store.

extension RecordSchema {
  /// Why a field cannot have a sequence; nil if it can.
  func sequenceFault(of derivation: DerivationSchema, _ field: FieldSchema) -> String? {
    guard let sequence = derivation.sequence else { return "its sequence has no first number" }
    if let fault = sequence.fault { return fault }
    guard let type = field.type.scalar, type.isInteger else {
      return "the numbers of a sequence are integers, and its type is \(field.type)"
    }
    if composites(field).contains(where: { kind($0) == nil }) {
      return "it is a part of a composite, which has no sequence; make it a field of the record"
    }
    guard isNumbered(field) else {
      return
        "no two records have the same number, so it is unique: Field(name: \(field.lastName.quoted), type: .\(type.declaredName), unique: true, generated: \(sequence.swift))"
    }
    return nil
  }

  /// Returns true if no two records can have the same value of a field, and the greatest one can be looked up.
  private func isNumbered(_ field: FieldSchema) -> Bool {
    primaryKey.map(\.field) == [field.number] || sequenceIndex(of: field) != nil
  }

  /// The place of the unique index of a field alone, among all indexes; nil if there is none. That of a kind's field has the records
  /// of the kind.
  func sequenceIndex(of field: FieldSchema) -> Int? {
    let kind = field.composite.flatMap { self.field($0)?.name }
    let isOfKind = kind.map { FieldCondition.comparison(field: $0, .notEqual, .null) }
    return indexes.firstIndex { index in
      index.isUnique && (index.condition == nil || index.condition == isOfKind)
        && index.parts.map(\.field) == [field.number]
        && index.parts.allSatisfy { $0.expansion == .none }
    }
  }
}

extension ScalarType {
  /// The name by which a declaration calls it.
  fileprivate var declaredName: String { self == .int64 ? "integer" : "\(self)" }
}
