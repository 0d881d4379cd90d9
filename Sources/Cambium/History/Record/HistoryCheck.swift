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
    var described = schemas.map { DescribedRecords($0) }
    let floor = try HistoryFloor.find(trees, slot)
    if let floor, floor > last {
      let key: [UInt8] = []
      throw .historyFault(
        key.rawSpan, "it begins after commit \(floor), and the last commit is \(last)")
    }
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
        // Commits that are not above the floor may be incomplete.
        let previous = before.map { max($0.sequence, floor) } ?? floor
        guard key.sequence == previous || key.sequence - 1 == previous else {
          throw .historyFault(cursor.key, "the commits after \(previous) are missing")
        }
        let part = try cursor.readHistoryPart(&isOn)
        try check(part, key, after: before, &described)
        before = part.keys.last
      } else {
        before = key
        isOn = try cursor.next()
      }
    }
  }

  private static func check(
    _ part: StoredHistoryPart, _ key: HistoryKey, after before: HistoryKey?,
    _ described: inout DescribedRecords?
  ) throws(StoreError) {
    let isSame = before?.sequence == key.sequence
    guard key.part == (isSame ? (before?.part ?? 0) + 1 : 0) else {
      throw .historyFault(key.bytes.rawSpan, "parts of the commit are missing")
    }
    guard part.commit != nil || !part.changes.isEmpty else {
      throw .historyFault(key.bytes.rawSpan, "it is a piece of no old row")
    }
    for change in part.changes { try described?.check(change, in: key) }
  }
}

/// The records of all versions, by which changes in a history are read.
private struct DescribedRecords {
  private struct Number: Hashable {
    let version: UInt32
    let record: UInt32
  }

  private let schemas: [UInt32: Schema]
  private var layouts: [Number: RowLayout] = [:]

  init(_ schemas: [Schema]) {
    self.schemas = Dictionary(
      schemas.map { ($0.storedVersion, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Reads the key of a change, and the row that was there, if it is kept.
  ///
  /// - Throws: `.corrupt` (H1).
  mutating func check(_ change: StoredChange, in key: HistoryKey) throws(StoreError) {
    guard let layout = try layout(of: change) else {
      throw .historyFault(
        key.bytes.rawSpan,
        "the store has no record \(change.record) of version \(change.version)")
    }
    guard let old = change.old else { return }
    do throws(StoreError) {
      try RowReader(key: change.key.rawSpan, row: old.rawSpan, layout: layout).check()
    } catch {
      guard case .corrupt(_, _, let reason) = error else { throw error }
      throw .historyFault(
        key.bytes.rawSpan, "an earlier \(layout.record.name) in it cannot be read: \(reason)")
    }
  }

  private mutating func layout(of change: StoredChange) throws(StoreError) -> RowLayout? {
    let number = Number(version: change.version, record: change.record)
    if let known = layouts[number] { return known }
    guard let record = schemas[change.version]?.record(number: change.record) else { return nil }
    let layout = try RowLayout(record, version: change.version)
    layouts[number] = layout
    return layout
  }
}
