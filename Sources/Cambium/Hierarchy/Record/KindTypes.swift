// The Swift types of kinds: each contains its parent, whose hooks and validations hold for it, too.

/// The struct of its nearest ancestor in that of a type.
struct ParentPart: Sendable {
  let entity: Entity
  /// In bytes, from the start of the type's struct.
  let offset: Int

  /// - Throws: `.invalidDescription` if the property is not of the ancestor's type.
  init(
    _ entity: Entity, _ level: TypeLevel, of checked: CheckedRecord, version: UInt32
  ) throws(StoreError) {
    let parent = checked.levels.count > 1 ? checked.levels[1].type : nil
    let name = level.property ?? ""
    let property = Reflection.storedProperties(of: checked.type).first { $0.name == name }
    guard let parent, let property, property.type == parent else {
      throw .invalidDescription(
        record: checked.kind ?? checked.schema.name, field: name, version: Int(version),
        reason:
          "\(checked.type) contains its parent, \(parent.map { "\($0)" } ?? "a record"), in a stored property;"
          + (property.map { " the property “\(name)” is of the type \($0.type)" }
            ?? " it has no stored property “\(name)”"))
    }
    self.entity = entity
    offset = property.offset
  }
}

extension Entity {
  /// Returns true if a row is of the kind that the Swift type stands for. A row that is none is left to its reader.
  @inlinable
  @inline(__always)
  final func has(_ row: RawSpan) -> Bool { kindBit < 0 || isOfKind(row) }

  @usableFromInline
  final func isOfKind(_ row: RawSpan) -> Bool {
    row.byteCount < layout.fixedEnd || !row.isNull(bit: kindBit)
  }

  /// - Throws: `.invalidValue` for a row that cannot be of the kinds that it is of.
  final func checkKinds(of row: RawSpan, key: RawSpan) throws(StoreError) {
    guard isOfHierarchy, let fault = layout.kinds?.fault(of: row) else { return }
    throw .invalidValue(
      record: record.name, field: nil,
      reason: "\(fault). The record \(text(ofKey: key)) was not saved")
  }

  /// The condition that rows are of the kind; nil if all are.
  final var kindCondition: FieldCondition? {
    guard let kind, let name = layout.kinds?.all[kind].name else { return nil }
    return .comparison(field: name, .notEqual, .null)
  }

  /// Returns a condition for the rows of the kind only; nil if all rows are meant.
  final func restricted(_ condition: FieldCondition?) -> FieldCondition? {
    guard let kindCondition else { return condition }
    return condition.map { .and([kindCondition, $0]) } ?? kindCondition
  }
}
