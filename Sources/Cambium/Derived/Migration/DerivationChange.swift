// The effects of a step on derived fields: which of them have to be computed again.

extension SchemaChange {
  /// Returns the numbers of the new version's records whose derived fields may have other values after the step than rows
  /// have that are converted: those that are derived for the first time, or in another way, or of values that the step
  /// changes.
  ///
  /// - Parameter unknown: The records that closures of the step make.
  func underived(_ unknown: UnknownRecords = UnknownRecords()) -> Set<UInt32> {
    Set(to.records.filter { !underivedFields(of: $0, unknown).isEmpty }.map(\.number))
  }

  private func underivedFields(
    of record: RecordSchema, _ unknown: UnknownRecords = UnknownRecords()
  ) -> [FieldSchema] {
    // Rows that come from elsewhere have none of the values, and of those that go, others may be derived.
    let moved = Set(
      moves.flatMap { [$0.old.number, $0.new.number] } + gathered.map(\.new.number))
    let change = records.first { $0.new.number == record.number }
    return record.fields.filter { field in
      guard let derivation = field.derivation, derivation.kind != .modificationDate else {
        return false
      }
      if derivation.kind == .sequence, let change, !unknown.contains(record),
        !moved.contains(record.number)
      {
        return !change.leavesNull(field) && change.mayLeaveOpen(field)
      }
      guard let change, !unknown.contains(record), !moved.contains(record.number) else {
        return true
      }
      if change.leavesNull(field) { return false }
      guard !change.changesKeys, !moved.contains(derivation.relatedNumber),
        change.keepsValues(of: field),
        derivation.isAggregate || !change.changesValues(of: derivation)
      else { return true }
      guard derivation.isAggregate else { return false }
      guard let related = records.first(where: { $0.new.number == derivation.relatedNumber }),
        !unknown.contains(related.new)
      else { return true }
      return related.changesKeys || related.changesValues(of: derivation)
    }
  }

  /// Returns the fields of a version that were derived between it and an older one, and are not any more, with the last
  /// derivation: a step over those versions does not compute their values.
  ///
  /// - Parameter between: The steps from version to version that the step takes the place of.
  static func computedOnTheWay(
    to schema: Schema, between: [SchemaChange]
  ) -> [(record: RecordSchema, field: FieldSchema, derivation: DerivationSchema)] {
    guard between.count > 1 else { return [] }
    let computed = between.map { step in
      step.to.records.map { record in
        (number: record.number, fields: Set(step.underivedFields(of: record).map(\.number)))
      }
    }
    /// The derivation by which a field's values were computed after one of the first steps, and kept since.
    func last(_ field: UInt32, of record: UInt32, after count: Int) -> DerivationSchema? {
      guard count > 0 else { return nil }
      let step = between[count - 1]
      if count < between.count,
        computed[count - 1].contains(where: { $0.number == record && $0.fields.contains(field) })
      {
        return step.to.record(number: record)?.field(field)?.derivation
      }
      for change in step.all where change.new.number == record {
        let old = change.fields.first { $0.new.number == field }?.old
        guard let old else { continue }
        if let found = last(old.number, of: change.old.number, after: count - 1) { return found }
      }
      return nil
    }
    return schema.records.flatMap { record in
      record.fields.compactMap { field in
        guard field.derivation == nil,
          let found = last(field.number, of: record.number, after: between.count)
        else { return nil }
        return (record, field, found)
      }
    }
  }

  /// Why derived fields cannot be computed later.
  var derivationFaults: [MigrationFault] {
    let new = Set(added.map(\.number)).subtracting(moves.map(\.new.number))
    return to.records.filter { !new.contains($0.number) }.flatMap { record in
      underivedFields(of: record).map { field in
        MigrationFault(
          record: record.name, field: field.name,
          reason:
            field.derivation?.sequence == nil
            ? "it is the \(field.derivation?.description ?? ""), which is computed for all records at once"
            : "it has a \(field.derivation?.description ?? ""), which numbers all records at once"
        )
      }
    }
  }
}

extension RecordChange {
  /// True if a field keeps the values that were computed for it.
  var endsDerivations: Bool {
    fields.contains { $0.old?.derivation != nil && $0.new.derivation == nil }
  }

  /// Returns true if a field was derived as it is, and every record that has it had it before.
  fileprivate func keepsValues(of field: FieldSchema) -> Bool {
    guard old.field(field.number)?.hasDerivation(of: field) ?? false else { return false }
    let around = new.composites(around: field)
    if around.contains(where: { isMade($0) }) { return false }
    let numbers = Set([field.number] + around.map(\.number))
    return fields.allSatisfy { part in
      guard numbers.contains(part.new.number) else { return true }
      guard let before = part.old else { return false }
      return !part.isMoved && (part.new.isOptional || !before.isOptional)
    }
  }

  /// Returns true if records may be without a number that a sequence gives: if the field is new, had a value or none, or is given
  /// by the step.
  fileprivate func mayLeaveOpen(_ field: FieldSchema) -> Bool {
    let around = new.composites(around: field)
    guard let before = fields.first(where: { $0.new.number == field.number })?.old,
      !around.contains(where: { isMade($0) }),
      !([field] + around).contains(where: { sources[$0.number] != nil })
    else { return true }
    if before.derivation?.sequence != nil { return before.type.stored != field.type.stored }
    return before.isOptional
  }

  /// Returns true if no record has a field afterwards, since a composite that it is in is new, as that of a kind.
  fileprivate func leavesNull(_ field: FieldSchema) -> Bool {
    new.composites(around: field).contains { composite in
      composite.isOptional && !isMade(composite)
        && fields.contains { part in
          part.new.number == composite.number && part.old == nil && part.missing == .null
        }
    }
  }

  /// Returns true if the step gives a composite values, or parts of it, which make the composite.
  private func isMade(_ composite: FieldSchema) -> Bool {
    fields.contains { part in
      sources[part.new.number] != nil
        && ([part.new.number] + new.composites(part.new)).contains(composite.number)
    }
  }

  /// Returns true if records may have other derived values.
  fileprivate func changesValues(of derivation: DerivationSchema) -> Bool {
    derivation.fieldNumbers.contains { number in
      guard let field = new.field(number) else { return false }
      if ([field] + new.composites(around: field)).contains(where: { sources[$0.number] != nil }) {
        return true
      }
      guard let change = fields.first(where: { $0.new.number == number }), let old = change.old
      else { return true }
      return old.type.stored != field.type.stored || change.missing != .null || change.isMoved
    }
  }
}

extension FieldSchema {
  /// Returns true if it is derived, and of another type than before: then none of its values are kept.
  func isComputedAgain(since old: FieldSchema) -> Bool {
    guard let derivation, derivation.kind.isComputed else { return false }
    return old.type.stored != type.stored
  }
}
