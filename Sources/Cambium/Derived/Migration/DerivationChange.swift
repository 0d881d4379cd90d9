// What a step does to derived fields: which of them have to be computed again.

extension SchemaChange {
  /// Returns the numbers of the new version's records whose derived fields may have other values after the step than rows
  /// have that are converted: those that are derived for the first time, or in another way, or of what the step changes.
  ///
  /// - Parameter unknown: The records that closures of the step make.
  func underived(_ unknown: UnknownRecords = UnknownRecords()) -> Set<UInt32> {
    Set(to.records.filter { !underivedFields(of: $0, unknown).isEmpty }.map(\.number))
  }

  private func underivedFields(
    of record: RecordSchema, _ unknown: UnknownRecords = UnknownRecords()
  ) -> [FieldSchema] {
    // Rows that come from elsewhere have none of the values, and of those that go, others may be derived.
    let moved = Set(moves.flatMap { [$0.old.number, $0.new.number] })
    let change = records.first { $0.new.number == record.number }
    return record.fields.filter { field in
      guard let derivation = field.derivation, derivation.kind != .modificationDate else {
        return false
      }
      guard let change, !unknown.contains(record), !change.changesKeys,
        !moved.contains(record.number), !moved.contains(derivation.relatedNumber),
        change.old.field(field.number)?.hasDerivation(of: field) ?? false,
        derivation.isAggregate || !change.changesValues(of: derivation)
      else { return true }
      guard derivation.isAggregate else { return false }
      guard let related = records.first(where: { $0.new.number == derivation.relatedNumber }),
        !unknown.contains(related.new)
      else { return true }
      return related.changesKeys || related.changesValues(of: derivation)
    }
  }

  /// Why derived fields cannot be computed later.
  var derivationFaults: [MigrationFault] {
    let new = Set(added.map(\.number))
    return to.records.filter { !new.contains($0.number) }.flatMap { record in
      underivedFields(of: record).map { field in
        MigrationFault(
          record: record.name, field: field.name,
          reason:
            "it is the \(field.derivation?.description ?? ""), which is computed for all records at once"
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

  /// Returns true if records may have other values in what is derived of them.
  fileprivate func changesValues(of derivation: DerivationSchema) -> Bool {
    [derivation.referenceNumber, derivation.sourceNumber].contains { number in
      guard let field = new.field(number) else { return false }
      if ([field] + new.composites(around: field)).contains(where: { sources[$0.number] != nil }) {
        return true
      }
      guard let change = fields.first(where: { $0.new.number == number }), let old = change.old
      else { return true }
      return old.type.stored != field.type.stored || change.missing != .null
    }
  }
}

extension FieldSchema {
  /// Returns true if it is derived, and of another type than before: then none of its values are kept.
  func isComputedAgain(since old: FieldSchema) -> Bool {
    guard let derivation, derivation.kind != .modificationDate else { return false }
    return old.type.stored != type.stored
  }
}
