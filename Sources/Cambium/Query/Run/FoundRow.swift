/// The rows of primary keys, looked up when they are asked for.
///
/// In a snapshot, rows may be looked up several at a time, those that come next; see `RowsAhead`. In a
/// transaction, which may change them meanwhile, each is for itself.
final class FoundRow {
  private let record: Entity
  private let trees: TreeAccess
  private let meter: QueryMeter?
  /// Nil outside of snapshots, and where rows may be of older versions.
  private let snapshot: SnapshotTrees?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The rows that are looked up ahead, once they are.
  @exclusivity(unchecked) private(set) var ahead: RowsAhead?
  /// The place of the present one in that; -1 where it is looked up alone.
  @exclusivity(unchecked) private var place = -1
  /// Where the row is; of no meaning outside snapshots.
  @exclusivity(unchecked) private var entry = KeptEntry()
  /// The row, where it had to be copied.
  @exclusivity(unchecked) private var copy: [UInt8] = []
  @exclusivity(unchecked) private var isLoaded = false
  @exclusivity(unchecked) private(set) var rowCount = 0

  init(of record: Entity, in trees: TreeAccess, _ meter: QueryMeter?) {
    self.meter = meter
    self.record = record
    self.trees = trees
    if case .state(let snapshot) = trees, snapshot.upgrades?[record.rows] == nil {
      self.snapshot = snapshot
    } else {
      snapshot = nil
    }
  }

  /// Begins to look up several rows at a time, where that is of use; else nil.
  func begin() -> RowsAhead? {
    guard let snapshot else { return nil }
    let ahead = unsafe ahead ?? RowsAhead(snapshot, record.rows)
    ahead.begin()
    unsafe self.ahead = ahead
    return ahead
  }

  /// Goes to another primary key.
  @inline(__always)
  func move() { move(to: -1) }

  /// Goes to a primary key of those that are looked up ahead.
  @inline(__always)
  func move(to place: Int) {
    unsafe self.place = place
    unsafe isLoaded = false
  }

  /// Returns true if there is a row of the key that it stands on.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func isThere(_ key: RawSpan) throws(StoreError) -> Bool {
    if unsafe isLoaded { return true }
    unsafe rowCount += 1
    try meter?.use()
    if unsafe place >= 0, let ahead = unsafe ahead {
      return try unsafe ahead.row(place) != nil
    }
    if let snapshot {
      unsafe isLoaded = try find(key, in: snapshot.layered(record.rows))
    } else {
      unsafe isLoaded = try trees.copyValue(of: key, in: record.rows, to: &copy)
    }
    return unsafe isLoaded
  }

  private func find(
    _ key: RawSpan, in tree: LayeredTree
  ) throws(StoreError) -> Bool {
    guard try unsafe entry.find(key, in: tree) else { return false }
    if unsafe entry.isExternal {
      unsafe copy.removeAll(keepingCapacity: true)
      try unsafe entry.append(to: &copy, in: tree)
    }
    return true
  }

  /// The row of the key that it stands on, which must be there.
  ///
  /// - Throws: `.corrupt` (K3) if it is not, `.io`.
  @_lifetime(borrow self)
  func row(of key: RawSpan) throws(StoreError) -> RawSpan {
    if unsafe place >= 0, let ahead = unsafe ahead {
      if unsafe !isLoaded {
        unsafe rowCount += 1
        try meter?.use()
      }
      unsafe isLoaded = true
      guard let row = unsafe try ahead.row(place) else { throw record.missingRow(key) }
      return unsafe _overrideLifetime(row, borrowing: self)
    }
    guard try isThere(key) else { throw record.missingRow(key) }
    if snapshot != nil, unsafe !entry.isExternal {
      return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
    }
    return unsafe _overrideLifetime(copy.rawSpan, borrowing: self)
  }

  func meets(_ condition: RowCondition, _ key: RawSpan) throws(StoreError) -> Bool {
    let layout = record.layout
    let record = try RowReader(key: key, row: try row(of: key), layout: layout)
    return try condition.holds(for: record)
  }
}
