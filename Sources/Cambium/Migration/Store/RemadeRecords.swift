/// Records that a crew makes new ahead of the commit that takes them.
///
///     migration   read old records ─▶                         ─▶ add new ones to their trees
///     crew                             make new records of them
final class RemadeRecords: CrewTask, @unchecked Sendable {
  private let remakings: RemakingPool
  private let sink = CollectingSink()
  /// The old records.
  private(set) var old = RecordBytes()
  /// False if a record could not be made, or depends on what is made of others: then all of them are made where they are
  /// wanted, one after the other, and what fails fails there.
  private(set) var isWhole = false

  init(_ remakings: RemakingPool) { self.remakings = remakings }

  /// True if it has as many records as one task is to have: so many that handing it over takes no time beside it.
  var isFull: Bool { old.count >= 256 || old.byteCount >= 1 << 15 }

  /// The number of tasks that may be under way at once, so that there is work for the crew while a slice is committed: some
  /// tens of megabytes at most.
  static var window: Int { 512 }

  /// The number of old records.
  var count: Int { old.count }

  /// True if a closure asked for a record that was made before, which only the migration knows.
  var wasAsked: Bool { unsafe sink.wasAsked }

  func removeAll() {
    isWhole = false
    old.removeAll()
    sink.removeAll()
  }

  func append(_ key: RawSpan, _ row: RawSpan) { old.append(key, row) }

  override func perform() {
    guard let remaking = remakings.take() else { return }
    defer { remakings.give(remaking) }
    let emit = remaking.emitter(to: sink)
    let old = old
    for index in 0..<old.count {
      guard (try? remaking.remake(old.key(index), old.row(index), emit)) != nil, !wasAsked
      else { return }
    }
    isWhole = true
  }

  /// Adds what was made to the trees that another has.
  func add(to sink: AddingSink, of remaking: Remaking) throws(StoreError) {
    try self.sink.add(to: sink, of: remaking)
  }
}

/// One for each thread that makes records at the same time. Each has layouts of its own: threads that count references to the
/// same layouts slow each other down.
final class RemakingPool: @unchecked Sendable {
  private let lock = ThreadLock()
  // Under `lock`.
  private var spares: [Remaking]

  init(_ remakings: [Remaking]) { spares = remakings }

  /// - Returns: nil if all are in use.
  func take() -> Remaking? {
    lock.lock()
    defer { lock.unlock() }
    return spares.popLast()
  }

  func give(_ remaking: Remaking) {
    lock.lock()
    defer { lock.unlock() }
    spares.append(remaking)
  }
}

/// Keys and rows, one behind the other.
struct RecordBytes {
  private var bytes: [UInt8] = []
  private var ends: [(key: Int, row: Int)] = []

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ key: RawSpan, _ row: RawSpan) {
    bytes.append(key)
    let keyEnd = bytes.count
    bytes.append(row)
    ends.append((keyEnd, bytes.count))
  }

  @_lifetime(borrow self)
  func key(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1].row
    return bytes.rawSpan.part(start, ends[index].key - start)
  }

  @_lifetime(borrow self)
  func row(_ index: Int) -> RawSpan {
    let (start, end) = ends[index]
    return bytes.rawSpan.part(start, end - start)
  }
}

/// Keeps what is emitted, tree by tree.
private final class CollectingSink: EmitterSink {
  // One thread at a time uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var groups: [Group] = []
  /// True if a closure asked for a record that was made before, which only the migration knows.
  @exclusivity(unchecked) private(set) var wasAsked = false

  /// The entries for one tree, in its order.
  private struct Group {
    let place: Place
    /// Keys and rows, or what is set aside.
    var emitted = PutBatch()
  }

  private enum Place: Equatable {
    /// Of the record with this number.
    case rows(UInt32)
    case aside(TreeSlot)
  }

  func removeAll() {
    for index in unsafe groups.indices { unsafe groups[index].emitted.removeAll() }
    unsafe wasAsked = false
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    append(key, row, to: .rows(target.record.number))
  }

  private func append(_ key: RawSpan, _ value: RawSpan, to place: Place) {
    var index = 0
    while unsafe index < groups.count, unsafe groups[index].place != place { index += 1 }
    if unsafe index == groups.count { unsafe groups.append(Group(place: place)) }
    unsafe groups[index].emitted.append(key, value)
  }

  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    unsafe wasAsked = true
  }

  func setAside(_ key: RawSpan, _ value: RawSpan, in tree: TreeSlot) {
    append(key, value, to: .aside(tree))
  }

  func blobFinder(of target: Entity) -> BlobFinder? { nil }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    unsafe wasAsked = true
    return false
  }

  func add(to sink: AddingSink, of remaking: Remaking) throws(StoreError) {
    for group in unsafe groups {
      switch group.place {
      case .rows(let number):
        guard let target = remaking.target(number) else { continue }
        try sink.add(group.emitted, to: target)
      case .aside(let tree):
        let emitted = group.emitted
        for index in 0..<emitted.count {
          try sink.setAside(emitted.key(index), emitted.value(index), in: tree)
        }
      }
    }
  }
}
