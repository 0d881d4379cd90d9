import Cambium

/// The references to records of one kind that a transaction has to look at before it is committed: foreign keys take them for
/// references to records of any.
struct KindCheck {
  private let references: [KindReference]
  /// By the place of the reference: the keys where it leads that were written, or that are of records which may not be of its kind.
  private(set) var keys: [Int: [SQLParameter: FieldValue]] = [:]

  init(_ plan: PostgresPlan) {
    references = plan.kindReferences
  }

  /// Notes where the references of a record lead.
  fileprivate mutating func note(_ record: DynamicRecord, _ dates: DateForm) {
    for (place, reference) in references.enumerated() where reference.record == record.name {
      let value = reference.path.value(in: record)
      if case .array(let elements) = value {
        for element in elements { note(element, at: place, dates) }
      } else if value != .null {
        note(value, at: place, dates)
      }
    }
  }

  /// Notes a record of kinds to which references may lead that want another.
  ///
  /// - Parameter old: The record that it replaces; nil if there may have been one of any kind.
  fileprivate mutating func note(
    _ row: RecordRow, over old: DynamicRecord?, _ dates: DateForm
  ) {
    for (place, reference) in references.enumerated()
    where reference.destination == row.values.name {
      guard reference.kindPath.value(in: row.values) == .null,
        old.map({ reference.kindPath.value(in: $0) != .null }) ?? true, let key = row.key.first
      else { continue }
      note(key, at: place, dates)
    }
  }

  private mutating func note(_ key: FieldValue, at place: Int, _ dates: DateForm) {
    // Strings that only look the same differ there.
    guard let encoded = SQLParameter(key, of: references[place].scalar, dates: dates) else {
      return
    }
    keys[place, default: [:]][encoded] = key
  }
}

extension ServerTransaction {
  /// Notes the references from a row that is written, and those to it, that have to be looked at before the commit.
  ///
  /// - Parameter old: The values of a record with kinds that it replaces.
  func noteKinds(_ row: RecordRow, over old: DynamicRecord?, _ table: TablePlan) {
    if plan.kindReferences.isEmpty { return }
    kindCheck.note(row.values, dates)
    // A record that is new may be in the place of one that was deleted.
    if table.record.hasKinds, old != nil || hasDeleted { kindCheck.note(row, over: old, dates) }
  }

  /// Checks that references lead to records of their kinds: those that were written, and those to records that have changed their
  /// kind.
  ///
  /// - Throws: `StoreError.danglingReference`.
  func checkKinds() throws {
    for (place, keys) in kindCheck.keys.sorted(by: { $0.key < $1.key }) {
      let noted = plan.kindReferences[place]
      guard let table = plan.tables.first(where: { $0.record.name == noted.record }),
        let reference = CheckedReference(noted.field, of: table, in: plan),
        let parameter = SQLParameter(
          array: .array(Array(keys.values)), of: noted.scalar, dates: dates)
      else { continue }
      let isOther = "NOT t.\(SQL.name(noted.presence))"
      let others = try run(
        "SELECT FROM \(plan.qualified(reference.target.name)) AS t WHERE"
          + " t.\(SQL.name(reference.key.tableColumn)) = ANY ($1) AND \(isOther) LIMIT 1",
        [parameter])
      if others.count == 0 { continue }
      let found = try references(
        reference,
        "\(reference.value) = ANY ($1) AND EXISTS (\(reference.destinations(plan)) AND \(isOther))",
        [parameter])
      if let first = found.first { throw reference.dangling(first) }
    }
  }
}
