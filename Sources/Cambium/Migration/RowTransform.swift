/// Takes rows of one record through the conversions of all steps at once.
struct RowTransform: EntryTransform {
  let schemaVersion: UInt32
  private let upgrade: RowUpgrade
  private let layout: RowLayout
  private let made = UpgradedRow()

  /// - Parameter layout: Of the rows that it is for.
  init(_ upgrade: RowUpgrade, from layout: RowLayout) {
    schemaVersion = upgrade.version
    self.upgrade = upgrade
    self.layout = layout
  }

  func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult {
    do throws(StoreError) {
      try upgrade.upgrade(key: key, row: value, of: schemaVersion, to: made)
    } catch {
      throw error.naming(
        "the record \(layout.text(ofKey: key))", inStepTo: Int(self.schemaVersion))
    }
    newValue.append(made.row)
    return .replace
  }
}

extension RowUpgrade {
  /// Creates the transform of the rows of one record by consecutive steps.
  ///
  /// - Parameters:
  ///   - changes: With the versions that each is from and to; some of them change the rows.
  ///   - version: That the rows are of afterwards.
  /// - Throws: `.invalidDescription`; what the conversion of a row without values does.
  convenience init?(
    _ changes: [(change: RecordChange, from: UInt32, to: UInt32)], to version: UInt32
  ) throws(StoreError) {
    var conversions: [RowConversion] = []
    var layouts: (first: RowLayout, last: RowLayout)?
    var required: Set<UInt32>? = []
    for (change, from, to) in changes {
      let (old, new) = (
        try RowLayout(change.old, version: from), try RowLayout(change.new, version: to)
      )
      layouts = (layouts?.first ?? old, new)
      guard change.rewritesRows else { continue }
      conversions.append(RowConversion(change, from: old, to: new))
      if !change.sources.isEmpty { required = nil }
      for field in change.fields where change.fillsNulls(of: field) {
        required?.insert(field.new.number)
      }
    }
    guard let layouts, !conversions.isEmpty else { return nil }
    self.init([
      try Route(
        below: version, RowConversionChain(conversions), from: layouts.first, to: layouts.last,
        required: required)
    ])
  }
}

extension RecordChange {
  /// Returns true if a field could be null before and cannot be now, or nulls get a value.
  fileprivate func fillsNulls(of field: FieldChange) -> Bool {
    guard let before = field.old else { return false }
    return old.canBeNull(before) && (field.missing != .null || !new.canBeNull(field.new))
  }
}
