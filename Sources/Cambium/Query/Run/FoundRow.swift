/// The row of a primary key, looked up when it is asked for.
///
/// In a snapshot several are looked up together, those that come next; see `RowsAhead`. In a transaction, which
/// may change them meanwhile, each for itself.
final class FoundRow {
  private let record: RecordTrees
  private let trees: TreeAccess
  /// Nil where rows are looked up one by one.
  let ahead: RowsAhead?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The place in what is looked up ahead.
  @exclusivity(unchecked) private var place = 0
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var primaryKey: [UInt8] = []
  @exclusivity(unchecked) private var isLoaded = false
  @exclusivity(unchecked) private var isCounted = false
  @exclusivity(unchecked) private(set) var rowCount = 0

  init(of record: RecordTrees, in trees: TreeAccess) {
    self.record = record
    self.trees = trees
    if case .posix(let snapshot) = trees {
      ahead = RowsAhead(snapshot, record.rows)
    } else {
      ahead = nil
    }
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      if let ahead { return unsafe _overrideLifetime(ahead.key(place), borrowing: self) }
      return unsafe _overrideLifetime(primaryKey.rawSpan, borrowing: self)
    }
  }

  /// Goes to another primary key, where none is looked up ahead.
  func move(to key: RawSpan) {
    unsafe primaryKey.assign(key)
    unsafe isLoaded = false
  }

  /// Goes to a primary key of those that are looked up ahead.
  func move(to place: Int) {
    unsafe self.place = place
    unsafe isCounted = false
  }

  /// Whether there is a row of the key.
  func isThere() throws(StoreError) -> Bool {
    if let ahead { return unsafe try ahead.row(place) != nil }
    if unsafe isLoaded { return true }
    unsafe rowCount += 1
    let key = unsafe primaryKey
    unsafe isLoaded = try trees.copyValue(of: key.rawSpan, in: record.rows, to: &bytes)
    return unsafe isLoaded
  }

  /// The row, which must be there.
  ///
  /// - Throws: `.corrupt` (K3) if it is not, `.io`.
  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    if let ahead {
      if unsafe !isCounted {
        unsafe isCounted = true
        unsafe rowCount += 1
      }
      guard let row = unsafe try ahead.row(place) else { throw fault }
      return unsafe _overrideLifetime(row, borrowing: self)
    }
    guard try isThere() else { throw fault }
    return unsafe _overrideLifetime(bytes.rawSpan, borrowing: self)
  }

  func meets(_ condition: RowCondition) throws(StoreError) -> Bool {
    let layout = record.layout
    let record = try RowReader(key: key, row: try row(), layout: layout)
    return try condition.holds(for: record)
  }

  private var fault: StoreError {
    record.layout.fault(key: key, .indexEntries, "an index has an entry of it, but there is no row")
  }
}
