// Keeps derived fields as records are written and deleted.

extension RecordWriter {
  /// Returns a row with the values that its derived fields have.
  ///
  /// - Parameter old: The stored row; nil if there is none.
  /// - Throws: `.invalidValue` for an expression without a result, or with one that its field cannot hold; `.corrupt`, `.io`.
  func derived(
    _ key: RawSpan, _ row: RawSpan, of record: Entity, over old: [UInt8]?,
    _ derivations: DerivationMap
  ) throws(StoreError) -> [UInt8] {
    let reader = try record.row(key: key, row: row)
    var values: [Int: FieldValue] = [:]
    for field in derivations.own(record) where field.isThere(in: reader) {
      values[field.column] =
        field.kind == .modificationDate ? .date(time) : try field.value(of: reader)
    }
    let aggregates = derivations.aggregates(record).filter { $0.isThere(in: reader) }
    let known = try old.map { row throws(StoreError) in
      try storedValues(of: aggregates, try record.row(key: key, row: row.rawSpan))
    }
    for field in aggregates {
      // Others may lead to it before it is there, or is of the kind that has the field.
      values[field.column] =
        if let value = known?[field.column] { value } else {
          try field.value(of: key, in: .transaction(trees))
        }
    }
    return try changed(reader, values)
  }

  /// The values of those aggregates that a row has, by their places among the columns.
  private func storedValues(
    of aggregates: [Aggregate], _ row: RowReader
  ) throws(StoreError) -> [Int: FieldValue] {
    var values: [Int: FieldValue] = [:]
    for field in aggregates where field.isThere(in: row) {
      values[field.column] = try row.value(field.column)
    }
    return values
  }

  /// Returns a row with its derived strings, if some are unique; nil if none is.
  func derivedStrings(
    _ key: RawSpan, _ row: RawSpan, of record: Entity
  ) throws(StoreError) -> [UInt8]? {
    guard let derivations = entities.derivations, derivations.hasUnique(record) else { return nil }
    let reader = try record.row(key: key, row: row)
    var values: [Int: FieldValue] = [:]
    for field in derivations.own(record) where field.kind.isOfText {
      values[field.column] = try field.value(of: reader)
    }
    return try changed(reader, values)
  }

  private func changed(
    _ row: borrowing RowReader, _ values: [Int: FieldValue]
  ) throws(StoreError) -> [UInt8] {
    let changed = buffers.derivedRow
    try row.copy(to: changed, replacing: values)
    return changed.row.array()
  }
}

// MARK: - Of others

extension RecordWriter {
  /// Changes the derived fields of those that a record leads or led to.
  ///
  /// - Parameters:
  ///   - old: The row before; empty if there was none.
  ///   - new: The row now; nil if there is none.
  /// - Throws: `.invalidValue` for a sum that its field cannot hold, or an expression without a result; `.corrupt`, `.full`,
  ///   `.io`.
  func feed(
    _ feeds: [DerivationMap.Feed], _ key: RawSpan, from old: [UInt8], to new: RawSpan?,
    of record: Entity
  ) throws(StoreError) {
    for feed in feeds {
      if let new, !old.isEmpty, try isSame(feed, key, old.rawSpan, new, of: record) { continue }
      let before =
        old.isEmpty ? Fed() : try Fed(by: try record.row(key: key, row: old.rawSpan), feed)
      let after =
        if let new { try Fed(by: try record.row(key: key, row: new), feed) } else { Fed() }
      let areSame = before.contributesSame(as: after)
      for owner in before.owners.union(after.owners).sorted(by: { $0.precedes($1) }) {
        let (had, has) = (before.owners.contains(owner), after.owners.contains(owner))
        if had, has, areSame { continue }
        try update(owner, feed, had ? before : nil, has ? after : nil)
      }
    }
  }

  /// Returns true if two rows of a record lead to the same owners by a list, and contribute the same. False if that takes an
  /// expression, which is computed only for owners that there are.
  private func isSame(
    _ feed: DerivationMap.Feed, _ key: RawSpan, _ old: RawSpan, _ new: RawSpan, of record: Entity
  ) throws(StoreError) -> Bool {
    let before = try record.row(key: key, row: old)
    let after = try record.row(key: key, row: new)
    guard feed.link.isSame(in: before, after),
      feed.aggregates.allSatisfy({ $0.expression == nil })
    else { return false }
    for field in feed.aggregates {
      let value = try field.contribution(of: before)
      if try !value.isSame(as: field.contribution(of: after)) { return false }
    }
    return true
  }

  /// The owners to which a record leads by one relation, and its contributions.
  private struct Fed {
    var owners: Set<[UInt8]> = []
    /// In step with the fields of the relation; empty if there are no owners. An expression without a result refuses the write only
    /// if an owner has the field: one of another kind has not, nor has one that is added later.
    var contributions: [Result<FieldValue, StoreError>] = []

    init() {}

    init(by row: RowReader, _ feed: DerivationMap.Feed) throws(StoreError) {
      var owners: Set<[UInt8]> = []
      try feed.link.forEachKey(of: row, in: KeyEncoder()) { key in owners.insert(key.array()) }
      self.owners = owners
      if owners.isEmpty { return }
      for field in feed.aggregates {
        do throws(StoreError) {
          contributions.append(.success(try field.contribution(of: row)))
        } catch {
          guard case .invalidValue = error else { throw error }
          contributions.append(.failure(error))
        }
      }
    }

    /// Returns true if an owner of both keeps all values.
    func contributesSame(as other: Fed) -> Bool {
      contributions.count == other.contributions.count
        && zip(contributions, other.contributions).allSatisfy { one, other in
          guard case .success(let one) = one, case .success(let other) = other else { return false }
          return one.isSame(as: other)
        }
    }
  }

  private func update(
    _ key: [UInt8], _ feed: DerivationMap.Feed, _ had: Fed?, _ has: Fed?
  ) throws(StoreError) {
    let owner = feed.link.destination
    var row: [UInt8] = []
    // One that is added later is computed from all.
    guard try trees.copyValue(of: key.rawSpan, in: owner.rows, to: &row) else { return }
    let reader = try owner.row(key: key.rawSpan, row: row.rawSpan)
    var values: [Int: FieldValue] = [:]
    for (place, field) in feed.aggregates.enumerated() where field.isThere(in: reader) {
      let old = try reader.value(field.column)
      let new = try value(
        of: field, key, after: old, had?.contributions[place], has?.contributions[place])
      if !new.isSame(as: old) { values[field.column] = new }
    }
    if values.isEmpty { return }
    try replace(key.rawSpan, row, by: try changed(reader, values), of: owner)
  }

  /// Returns the value of an owner's field after one record has changed: from the value before if that is enough, else from all
  /// records.
  ///
  /// - Parameters:
  ///   - had: The contribution of the record before, if it led to the owner. One without a result is not in the value before, as
  ///     a salvage may leave it.
  ///   - has: Its contribution now, if it leads to the owner.
  private func value(
    of field: Aggregate, _ key: [UInt8], after old: FieldValue,
    _ had: Result<FieldValue, StoreError>?, _ has: Result<FieldValue, StoreError>?
  ) throws(StoreError) -> FieldValue {
    let now = try has?.get()
    var before: FieldValue?
    var isKnown = true
    switch had {
    case .success(let value)?: before = value
    case .failure?: isKnown = false
    case nil: break
    }
    if isKnown, let new = try field.value(after: old, before, now, of: key.rawSpan) { return new }
    return try field.value(of: key.rawSpan, in: .transaction(trees))
  }

  /// Gives the fields that are derived of a record type, of which none is left, the values that they have without any.
  func emptyAggregates(fedBy record: Entity) throws(StoreError) {
    for feed in entities.derivations?.feeds(of: record) ?? [] {
      let owner = feed.link.destination
      if owner.place == record.place { continue }
      let cursor = try TreeAccess.transaction(trees).cursor(in: owner.rows)
      while try cursor.advance() {
        let (key, row) = (cursor.key.array(), try cursor.value().array())
        let reader = try owner.row(key: key.rawSpan, row: row.rawSpan)
        var values: [Int: FieldValue] = [:]
        for field in feed.aggregates where field.isThere(in: reader) {
          if try reader.value(field.column).isSame(as: field.empty) { continue }
          values[field.column] = field.empty
        }
        if values.isEmpty { continue }
        try replace(key.rawSpan, row, by: try changed(reader, values), of: owner)
      }
    }
  }
}

extension [UInt8] {
  fileprivate func precedes(_ other: [UInt8]) -> Bool { rawSpan.compare(other.rawSpan) < 0 }
}
