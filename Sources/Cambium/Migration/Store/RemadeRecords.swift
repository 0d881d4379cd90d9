/// Records that a crew makes new ahead of the commit that takes them.
///
///     migration   read old records ─▶                         ─▶ add new ones to their trees
///     crew                             make new records of them
final class RemadeRecords: CrewTask, @unchecked Sendable {
  private let remaking: Remaking
  private let sink = CollectingSink()
  private let emit: RecordEmitter
  /// The old records.
  private(set) var old = RecordBytes()
  /// False if a record could not be made, or depends on what is made of others: then all of them are made where they are
  /// wanted, one after the other, and what fails fails there.
  private(set) var isWhole = false

  init(_ remaking: Remaking) {
    self.remaking = remaking
    emit = remaking.emitter(to: sink)
  }

  /// How many records are one task: so many that handing it over takes no time beside it.
  static var recordsPerTask: Int { 256 }

  /// The number of old records.
  var count: Int { old.count }

  /// True if a closure asked for a record that was made before, which only the migration knows.
  var wasAsked: Bool { sink.wasAsked }

  func removeAll() {
    isWhole = false
    old.removeAll()
    sink.removeAll()
  }

  func append(_ key: RawSpan, _ row: RawSpan) { old.append(key, row) }

  override func perform() {
    let old = old
    for index in 0..<old.count {
      guard (try? remaking.remake(old.key(index), old.row(index), emit)) != nil, !sink.wasAsked
      else { return }
    }
    isWhole = true
  }

  /// Adds what was made to the trees that another has.
  func add(to sink: any EmitterSink, of remaking: Remaking) throws(StoreError) {
    try self.sink.add(to: sink, of: remaking)
  }
}

/// Keys and rows, one behind the other.
struct RecordBytes {
  private var bytes: [UInt8] = []
  private var ends: [(key: Int, row: Int)] = []

  var count: Int { ends.count }

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

/// Keeps what is emitted, in its order.
private final class CollectingSink: EmitterSink {
  /// Keys and rows, or what is set aside.
  private var emitted = RecordBytes()
  private var places: [Place] = []
  /// True if a closure asked for a record that was made before, which only the migration knows.
  private(set) var wasAsked = false

  private enum Place {
    /// Of the record with this number.
    case rows(UInt32)
    case aside(TreeSlot)
  }

  func removeAll() {
    emitted.removeAll()
    places.removeAll(keepingCapacity: true)
    wasAsked = false
  }

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    emitted.append(key, row)
    places.append(.rows(target.record.number))
  }

  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError) {
    wasAsked = true
  }

  func setAside(_ key: RawSpan, _ value: RawSpan, in tree: TreeSlot) {
    emitted.append(key, value)
    places.append(.aside(tree))
  }

  func blobFinder(of target: Entity) -> BlobFinder? { nil }

  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    wasAsked = true
    return false
  }

  func add(to sink: any EmitterSink, of remaking: Remaking) throws(StoreError) {
    let emitted = emitted
    for (index, place) in places.enumerated() {
      switch place {
      case .rows(let number):
        guard let target = remaking.target(number) else { continue }
        try sink.add(emitted.key(index), emitted.row(index), [], to: target)
      case .aside(let tree):
        try sink.setAside(emitted.key(index), emitted.row(index), in: tree)
      }
    }
  }
}
