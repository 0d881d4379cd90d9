/// The values that a change makes records need, which they may have lacked before.
///
/// A part of a composite is needed where the composite is. One that is new and can be null is in no record; one that was
/// there before is in some.
struct NeededValues {
  private let old: RecordSchema
  private let new: RecordSchema
  private let share: KindShare?
  private let move: KindMove?

  /// - Parameters:
  ///   - share: The old records that it is of, by their kinds; nil for all of them.
  ///   - move: Where the records go, if they are not kept where they were.
  init(from old: RecordSchema, to new: RecordSchema, _ share: KindShare?, _ move: KindMove?) {
    self.old = old
    self.new = new
    self.share = share
    self.move = move
  }

  /// Returns true if a field is only of records that the change is not of: of a kind of which none is there, or of any if all
  /// records go another way.
  func leavesOut(_ field: FieldSchema) -> Bool {
    guard let share else { return false }
    if share == KindShare() { return true }
    return new.composites(around: field).contains { composite in
      guard let number = origin(of: composite), old.kind(number) != nil, !isSure(composite),
        let kind = old.field(number)
      else { return false }
      return RecordPlace(record: old, kind: kind).kinds.isDisjoint(with: share.kinds)
    }
  }

  /// Returns true if a record may be without a value that it has no old one for: no record needs it then.
  func canBeNull(_ field: FieldSchema) -> Bool {
    if field.isOptional, !isSure(field) { return true }
    return new.composites(around: field).contains { composite in
      composite.isOptional && !isSure(composite) && origin(of: composite) == nil
    }
  }

  /// Returns true if an old record may be without a value of a field, and yet has the composites of the new one.
  ///
  /// - Parameter before: What the field was.
  func canLack(_ before: FieldSchema, as field: FieldSchema) -> Bool {
    // Of a list that is empty no element is left.
    if case .array = before.type, field.type.scalar != nil { return true }
    let around = new.composites(around: field)
    var there = Set(around.drop { !$0.isOptional || isSure($0) }.compactMap(origin))
    if let kind = move?.kind.flatMap({ old.field($0) }) {
      there.insert(kind.number)
      there.formUnion(old.composites(kind))
    }
    return ([before] + old.composites(around: before)).contains { part in
      part.isOptional && !there.contains(part.number)
    }
  }

  /// Returns true if all of the records have a composite, since they are of these kinds.
  private func isSure(_ composite: FieldSchema) -> Bool {
    move?.present.contains(composite.number) ?? false
  }

  /// Returns the number of the field that a composite was.
  func origin(of composite: FieldSchema) -> UInt32? {
    if let move { return move.fields[composite.number] }
    return old.field(composite.number)?.number
  }
}

extension RecordChange {
  var needs: NeededValues { NeededValues(from: old, to: new, share, move) }

  /// Returns true if a record may lack a value that it must have now.
  func canLackNeeded(_ field: FieldChange) -> Bool {
    guard let before = field.old else { return false }
    return needs.canLack(before, as: field.new) && !needs.canBeNull(field.new)
  }

  /// Returns true if a record may lack a value that it must have now, or gets one.
  func fillsNulls(of field: FieldChange) -> Bool {
    guard let before = field.old, needs.canLack(before, as: field.new) else { return false }
    return field.missing != .null || !needs.canBeNull(field.new)
  }
}
