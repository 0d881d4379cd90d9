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
    there.formUnion(sureKinds)
    return ([before] + old.composites(around: before)).contains { part in
      part.isOptional && !there.contains(part.number)
    }
  }

  /// Returns true if records may drop a field's old value: one that they have without an optional composite of the new field.
  ///
  /// - Parameter before: What the field was.
  func drops(_ before: FieldSchema, as field: FieldSchema) -> Bool {
    let around = Set(old.composites(before))
    return new.composites(around: field).contains { composite in
      guard composite.isOptional, !isSure(composite) else { return false }
      return origin(of: composite).map { !around.contains($0) } ?? true
    }
  }

  /// Returns true if it is known of all records that they have a composite of which that is stated.
  func isKnown(_ composite: FieldSchema) -> Bool {
    origin(of: composite).map { sureKinds.contains($0) } ?? true
  }

  /// The composites of the kinds that all of the old records are of.
  private var sureKinds: Set<UInt32> {
    guard let share, !share.hasPlain else { return [] }
    var sure: Set<UInt32>?
    for kind in share.kinds {
      guard let field = old.field(kind) else { continue }
      let line = Set([kind] + old.composites(field))
      sure = sure?.intersection(line) ?? line
    }
    return sure ?? []
  }

  /// Returns true if all of the records have a composite, since they are of these kinds.
  func isSure(_ composite: FieldSchema) -> Bool {
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

  /// Returns true if records may have a value of a field that they have no longer.
  func drops(_ field: FieldChange) -> Bool {
    field.old.map { needs.drops($0, as: field.new) } ?? false
  }

  /// The numbers of the fields whose values may not be those of the fields that had their numbers.
  var changedFields: Set<UInt32> {
    var changed = Set(sources.keys)
    for field in fields where old.field(field.new.number) != nil {
      if field.old?.number != field.new.number || fillsNulls(of: field) || drops(field) {
        changed.insert(field.new.number)
      }
    }
    return changed
  }

  /// The numbers of the lists that have the elements that they had, or the single value that they were; without a value, none. An
  /// index that the step keeps has the same entries of both.
  var listedFields: Set<UInt32> {
    Set(
      fields.filter { field in
        field.old?.number == field.new.number && !drops(field) && sources[field.new.number] == nil
          && (field.missing == .array([]) || field.becomesList && field.missing == .null)
      }.map(\.new.number))
  }
}
