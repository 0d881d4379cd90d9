// The effects of a step on relations: which references may lead nowhere after it, and which of them cannot wait.

/// A reference of a version.
struct ReferencePlace: Hashable, Sendable {
  /// The numbers of the record and of the field.
  let record: UInt32
  let field: UInt32
}

/// The records that closures of a step make or change, so that references from and to them may lead anywhere afterwards.
struct UnknownRecords: Hashable, Sendable {
  /// True if the program changes records of any type.
  var areAll = false
  /// The names that they have in the new version.
  var names: Set<String> = []

  func contains(_ record: RecordSchema) -> Bool { areAll || names.contains(record.name) }
}

extension SchemaChange {
  /// Returns the checked references of the new version that may lead nowhere after the step: those that are checked for the
  /// first time, lead to other records or get other values, and those from or to records whose keys change or that closures
  /// make. All others lead where they led.
  func unproved(_ unknown: UnknownRecords) -> Set<ReferencePlace> {
    var places: Set<ReferencePlace> = []
    let changes = Dictionary(
      records.map { ($0.new.number, $0) }, uniquingKeysWith: { one, _ in one })
    let moved = Set(adding.map(\.new.number))
    for record in to.records {
      for field in record.fields {
        guard let reference = field.reference, reference.isChecked,
          let destination = to.record(number: reference.record)
        else { continue }
        let isTouched =
          unknown.contains(record) || unknown.contains(destination)
          || changes[destination.number].map { $0.changesKeys || $0.share != nil } ?? true
          || reference.composite != nil && changes[destination.number]?.mayChangeKinds ?? true
          || changes[record.number]?.changesReference(field) ?? false
          || moved.contains(record.number)
        if isTouched { places.insert(ReferencePlace(record: record.number, field: field.number)) }
      }
    }
    return places
  }
}

extension RecordChange {
  /// True if records may have other primary keys afterwards.
  var changesKeys: Bool {
    if move != nil { return new.primaryKey.contains { sources[$0.field] != nil } }
    if old.primaryKey != new.primaryKey { return true }
    let numbers = Set(new.primaryKey.map(\.field))
    return fields.contains { field in
      numbers.contains(field.new.number)
        && (field.old?.type != field.new.type || sources[field.new.number] != nil)
    }
  }

  /// True if records may be of other kinds afterwards.
  fileprivate var mayChangeKinds: Bool { old.kinds != new.kinds || !sources.isEmpty }

  /// Returns true if a checked reference may lead where it did not lead before.
  fileprivate func changesReference(_ field: FieldSchema) -> Bool {
    guard let change = fields.first(where: { $0.new.number == field.number }) else { return true }
    if sources[field.number] != nil, !change.keepsElements(sources[field.number]) { return true }
    if new.composites(around: field).contains(where: { sources[$0.number] != nil }) { return true }
    return change.isUnproved || change.old != nil && change.leadsToOtherKind
  }

  /// Returns true if a new index has no entry before records are written, and so is whole: if all old records are without
  /// the values that it has entries of.
  func leavesEmpty(_ index: IndexSchema) -> Bool {
    for part in index.parts {
      guard let change = fields.first(where: { $0.new.number == part.field }), change.old == nil,
        sources[part.field] == nil
      else { continue }
      if part.expansion != .none, change.missing == .null || change.missing == .array([]) {
        return true
      }
      let isOfValues =
        index.condition == .comparison(field: change.new.name, .notEqual, .null)
      if isOfValues, change.missing == .null, new.canBeNull(change.new) { return true }
    }
    return false
  }
}

extension FieldChange {
  /// True if a checked reference may lead nowhere by its declarations in the two versions.
  var isUnproved: Bool {
    if missing != .null, missing != .array([]) { return true }
    guard let old else { return false }
    guard let before = old.reference, before.isChecked else { return true }
    return new.reference?.record != before.record
  }

  /// True if it leads to records of another kind than before. A reference to a kind leads to the record.
  fileprivate var leadsToOtherKind: Bool {
    new.reference?.composite.map { $0 != old?.reference?.composite } ?? false
  }

  /// Returns true if a source leaves the elements of a list as they are.
  fileprivate func keepsElements(_ source: FieldSource?) -> Bool {
    if case .element(let element) = source { element.gathering == nil } else { false }
  }
}

extension RecordSchema {
  /// Returns true if an index is the way back of a checked reference.
  func leadsBack(_ index: IndexSchema) -> Bool {
    fields.contains { field in
      guard field.reference?.isChecked ?? false, case .index(let place)? = wayBack(of: field)
      else { return false }
      return indexes[place].number == index.number
    }
  }
}
