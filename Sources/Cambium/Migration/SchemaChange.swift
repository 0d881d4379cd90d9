/// What a step from one version to the next does to what is stored, as data.
///
/// It follows from the two schemas: what has the same number in both is the same thing, whatever its name.
struct SchemaChange: Hashable, Sendable {
  let from: Schema
  let to: Schema
  let added: [RecordSchema]
  let removed: [RecordSchema]
  /// Of the records that both versions have.
  let records: [RecordChange]
}

/// What becomes of one record type in a step.
struct RecordChange: Hashable, Sendable {
  let old: RecordSchema
  let new: RecordSchema
  /// In step with the new fields.
  let fields: [FieldChange]
  /// Whether its rows are made anew; else they are the same bytes in both versions.
  let rewritesRows: Bool
}

/// Where the values of a field come from.
struct FieldChange: Hashable, Sendable {
  let new: FieldSchema
  /// The field it was before; nil where it is new.
  let old: FieldSchema?
  /// What records get that have no value.
  let missing: FieldValue
}

/// What cannot be inferred, and what to write.
struct MigrationFault: Hashable, Sendable, CustomStringConvertible {
  let record: String
  let field: String?
  let reason: String

  var description: String { "\(record)\(field.map { ".\($0)" } ?? ""): \(reason)" }
}

// MARK: Inference

extension SchemaChange {
  /// - Parameter described: The version that `to` is the schema of, with the defaults that it declares.
  /// - Throws: `.cannotMigrate` with everything that cannot be inferred; `.invalidDescription`.
  init(from: Schema, to: Schema, described: DescribedVersion) throws(StoreError) {
    var faults: [MigrationFault] = []
    var records: [RecordChange] = []
    for new in to.records {
      guard let old = from.record(number: new.number) else { continue }
      let layouts = (
        try RowLayout(old, version: from.version), try RowLayout(new, version: to.version)
      )
      records.append(
        RecordChange(
          old: old, new: new, described.record(named: new.name),
          rewritesRows: !layouts.1.hasRows(of: layouts.0), &faults))
    }
    guard faults.isEmpty else {
      throw .cannotMigrate(
        from: Int(from.version), to: Int(to.version), reasons: faults.map(\.description))
    }
    self.from = from
    self.to = to
    added = to.records.filter { from.record(number: $0.number) == nil }
    removed = from.records.filter { to.record(number: $0.number) == nil }
    self.records = records
  }
}

extension RecordChange {
  fileprivate init(
    old: RecordSchema, new: RecordSchema, _ described: DescribedRecord?, rewritesRows: Bool,
    _ faults: inout [MigrationFault]
  ) {
    var fields: [FieldChange] = []
    var hasNull = rewritesRows
    for field in new.fields {
      let declared = described?.fields.first { $0.name == field.name }
      let source = old.field(field.number)
      // A default acts where the field is new or becomes required.
      let isWanted = source.map { old.canBeNull($0) && !new.canBeNull(field) } ?? true
      let change = FieldChange(
        new: field, old: source,
        missing: isWanted ? declared?.migrationDefault ?? declared?.defaultValue ?? .null : .null)
      if let reason = change.fault(in: new, old) {
        faults.append(MigrationFault(record: new.name, field: field.name, reason: reason))
      }
      hasNull = hasNull || change.canMissValue(in: new, old)
      fields.append(change)
    }
    if !new.hasKeys(of: old) {
      faults.append(
        MigrationFault(
          record: new.name, field: nil,
          reason: "its primary key is another; say in a step how the new one is made"))
    }
    self.old = old
    self.new = new
    self.fields = fields
    self.rewritesRows = hasNull
  }
}

extension FieldChange {
  /// Why it cannot be inferred; nil where it can.
  fileprivate func fault(in record: RecordSchema, _ oldRecord: RecordSchema) -> String? {
    guard let old else {
      let isWithinNew = new.composite.map { oldRecord.field($0) == nil } ?? false
      if record.canBeNull(new) || missing != .null || new.type == .composite { return nil }
      return isWithinNew
        ? "it is a part of what is new, is not optional and has no default; give it one"
        : "it is new, not optional, and has no default; give it one by MigrationInfo(default:)"
    }
    if old.type == new.type || old.type.widens(to: new.type) { return nil }
    return "it was \(old.type) and is \(new.type), which loses values; say in a step how it is made"
  }

  /// Whether a record without a value, which there could be, is one that must have one now.
  fileprivate func canMissValue(in record: RecordSchema, _ oldRecord: RecordSchema) -> Bool {
    guard let old else { return false }
    return oldRecord.canBeNull(old) && !record.canBeNull(new)
  }
}

extension RecordSchema {
  /// Whether its keys are the same bytes.
  fileprivate func hasKeys(of old: RecordSchema) -> Bool {
    guard primaryKey == old.primaryKey else { return false }
    return primaryKey.allSatisfy { field($0.field)?.type == old.field($0.field)?.type }
  }
}

extension RowLayout {
  /// Whether rows of the other are rows of this: every column in the same place.
  fileprivate func hasRows(of other: RowLayout) -> Bool {
    columns.count == other.columns.count
      && zip(columns, other.columns).allSatisfy { one, other in
        one.field.number == other.field.number && one.field.type == other.field.type
          && one.place == other.place && one.nullBits == other.nullBits
      }
  }
}

extension ColumnType {
  /// Whether every value of this type is one of the other.
  func widens(to other: ColumnType) -> Bool {
    switch (self, other) {
    case (.int8, .int16), (.int8, .int32), (.int8, .int64), (.int16, .int32), (.int16, .int64),
      (.int32, .int64):
      true
    case (.uint8, .uint16), (.uint8, .uint32), (.uint8, .uint64), (.uint16, .uint32),
      (.uint16, .uint64), (.uint32, .uint64):
      true
    case (.uint8, .int16), (.uint8, .int32), (.uint8, .int64), (.uint16, .int32),
      (.uint16, .int64), (.uint32, .int64):
      true
    case (.int8, .double), (.int16, .double), (.int32, .double), (.uint8, .double),
      (.uint16, .double), (.uint32, .double), (.float, .double):
      true
    case (.int8, .float), (.int16, .float), (.uint8, .float), (.uint16, .float): true
    default: false
    }
  }
}

extension Schema {
  func record(number: UInt32) -> RecordSchema? { records.first { $0.number == number } }
}
