extension RecordCheck {
  /// Reads all of a history: commits without a gap, parts that ascend from 0 in each, and are whole.
  ///
  /// - Parameters:
  ///   - last: The last commit of the state.
  ///   - schemas: Of all versions that the store has; nil if the records of changes are not looked at.
  /// - Throws: `.corrupt` (H1) of the first fault, `.io`.
  static func checkHistory(
    in trees: TreeAccess, _ slot: TreeSlot, through last: UInt64 = .max,
    describedBy schemas: [Schema]? = nil
  ) throws(StoreError) {
    let described = schemas.map { schemas in
      Set(
        schemas.flatMap { schema in
          schema.records.map { DescribedNumber(version: schema.storedVersion, record: $0.number) }
        })
    }
    let floor = try HistoryFloor.find(trees, slot)
    let cursor = try trees.cursor(in: slot)
    var before: HistoryKey?
    while try cursor.advance() {
      if cursor.key.byteCount > 0 {
        let key = try HistoryKey(cursor.key)
        guard let floor else { throw .historyFault(cursor.key, "nothing says where it begins") }
        if key.sequence > floor {
          guard key.sequence <= last else {
            throw .historyFault(cursor.key, "there is no such commit: the last is \(last)")
          }
          // What is not above the floor may be there in part.
          let previous = before.map { max($0.sequence, floor) } ?? floor
          guard key.sequence == previous || key.sequence - 1 == previous else {
            throw .historyFault(cursor.key, "the commits behind \(previous) are missing")
          }
          try check(key, after: before, try cursor.value(), described)
        }
        before = key
      }
    }
  }

  private static func check(
    _ key: HistoryKey, after before: HistoryKey?, _ value: RawSpan,
    _ described: Set<DescribedNumber>?
  ) throws(StoreError) {
    let isSame = before?.sequence == key.sequence
    guard key.part == (isSame ? (before?.part ?? 0) + 1 : 0) else {
      throw .historyFault(key.bytes.rawSpan, "parts of the commit are missing")
    }
    var reader = HistoryPartReader(value, key: key)
    if key.part == 0 { _ = try reader.commit() }
    while let change = try reader.next() {
      let number = DescribedNumber(version: change.version, record: change.record)
      if let described, !described.contains(number) {
        throw .historyFault(
          key.bytes.rawSpan,
          "the store has no record \(change.record) of version \(change.version)")
      }
    }
  }
}

/// A record as a version describes it.
private struct DescribedNumber: Hashable {
  let version: UInt32
  let record: UInt32
}
