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
    var isOn = try cursor.seek(behind: [])
    while isOn {
      if cursor.key.byteCount == 0 {
        isOn = try cursor.next()
        continue
      }
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
        let part = try cursor.readHistoryPart(&isOn)
        try check(part, key, after: before, described)
        before = part.keys.last
      } else {
        before = key
        isOn = try cursor.next()
      }
    }
  }

  private static func check(
    _ part: StoredHistoryPart, _ key: HistoryKey, after before: HistoryKey?,
    _ described: Set<DescribedNumber>?
  ) throws(StoreError) {
    let isSame = before?.sequence == key.sequence
    guard key.part == (isSame ? (before?.part ?? 0) + 1 : 0) else {
      throw .historyFault(key.bytes.rawSpan, "parts of the commit are missing")
    }
    guard part.commit != nil || !part.changes.isEmpty else {
      throw .historyFault(key.bytes.rawSpan, "it is a piece of no old row")
    }
    for change in part.changes {
      let number = DescribedNumber(version: change.version, record: change.record)
      if let described, !described.contains(number) {
        throw .historyFault(
          key.bytes.rawSpan,
          "the store has no record \(change.record) of version \(change.version)")
      }
    }
  }
}
