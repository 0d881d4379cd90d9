// What a step may leave to be done later: what cannot fail, and changes no key.

extension SchemaChange {
  /// True if the store may be of the new version before its rows are.
  var isDeferrable: Bool { deferralFaults.isEmpty }

  /// Why not, by record and field; none where it may.
  var deferralFaults: [MigrationFault] {
    var faults = self.faults
    for record in transformed {
      faults.append(
        MigrationFault(record: record.name, field: nil, reason: "a closure transforms it"))
    }
    for change in records {
      if change.kind == .records || !change.sources.isEmpty {
        faults.append(
          MigrationFault(
            record: change.new.name, field: nil, reason: "its records are put together anew"))
      }
      for field in change.fields {
        guard let reason = field.deferralFault(change) else { continue }
        faults.append(
          MigrationFault(record: change.new.name, field: field.new.name, reason: reason))
      }
      let known = Set(change.old.indexes.map(\.number))
      for index in change.new.indexes where index.isUnique && !known.contains(index.number) {
        faults.append(
          MigrationFault(
            record: change.new.name, field: nil,
            reason: "the unique constraint \(index.name) is new, and two records may break it"))
      }
    }
    return faults
  }
}

extension FieldChange {
  /// Why the field's values cannot be made later.
  fileprivate func deferralFault(_ change: RecordChange) -> String? {
    guard let old else {
      if new.type == .composite, missing != .null { return "it is a composite with a default" }
      return nil
    }
    if change.old.canBeNull(old), !change.new.canBeNull(new) {
      return "it was optional, and records may have no value"
    }
    if missing != .null { return "records without a value get one" }
    if old.composite != new.composite { return "it was a part of another composite" }
    if old.type.stored == new.type.stored { return nil }
    let isInKey = change.old.primaryKey.contains { $0.field == old.number }
    if isInKey { return "it is in the primary key, and of another type" }
    return old.type.widens(to: new.type) ? nil : "its values may not convert"
  }
}
