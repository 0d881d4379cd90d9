extension RecordCheck {
  /// Reads all of a history: keys that ascend from part 0 of each commit, and parts that are whole.
  ///
  /// - Throws: `.corrupt` (H1) of the first fault, `.io`.
  static func checkHistory(in trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) {
    let floor = try HistoryFloor.find(trees, slot)
    let cursor = try trees.cursor(in: slot)
    var before: HistoryKey?
    var isOn = try cursor.first()
    while isOn {
      if cursor.key.byteCount > 0 {
        let key = try HistoryKey(cursor.key)
        guard let floor else { throw .historyFault(cursor.key, "nothing says where it begins") }
        if key.sequence > floor { try check(key, after: before, try cursor.value()) }
        before = key
      }
      isOn = try cursor.next()
    }
  }

  private static func check(
    _ key: HistoryKey, after before: HistoryKey?, _ value: RawSpan
  ) throws(StoreError) {
    let isSame = before?.sequence == key.sequence
    guard key.part == (isSame ? (before?.part ?? 0) + 1 : 0) else {
      throw .historyFault(key.bytes.rawSpan, "parts of the commit are missing")
    }
    var reader = HistoryPartReader(value, key: key)
    if key.part == 0 { _ = try reader.commit() }
    while try reader.next() != nil {}
  }
}
