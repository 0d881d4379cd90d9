/// Makes new records of old ones on two threads: each takes one half of those that were gathered.
///
/// What they make is added in the order of the old records, so it is the same as on one thread. Closures that merge
/// records see what was made before, so for them there is one thread.
final class RemakingCrew {
  /// The caller's.
  let remaking: Remaking
  private let other: Remaking
  private var sources = SourceRecords()
  /// True if a closure must see the records that were made before.
  private var isAlone = false

  /// The highest number of records in a batch: enough to be worth a thread.
  private static var countMax: Int { 8192 }
  /// The bytes at which a batch is full; the last record alone may be larger.
  private static var byteCountMax: Int { 4 << 20 }

  init(
    _ task: MigrationTask.Remake, from old: Entities, to new: Entities, aside: TreeSlot,
    in trees: TreeAccess
  ) throws(StoreError) {
    remaking = try Remaking(task, from: old, to: new, aside: aside, in: trees)
    other = try Remaking(task, from: old, to: new, aside: aside, in: trees)
  }

  var count: Int { sources.count }
  var lastKey: [UInt8] {
    let sources = sources
    return sources.key(sources.count - 1).array()
  }

  /// Takes the next records, from the one on that the cursor stands on.
  ///
  /// - Returns: whether there are more.
  /// - Throws: `.corrupt`, `.io`.
  func gather(from cursor: CursorAccess, atMost limit: Int) throws(StoreError) -> Bool {
    sources.removeAll()
    var isOn = true
    while isOn, sources.count < min(limit, Self.countMax), sources.byteCount < Self.byteCountMax {
      sources.append(cursor.key, try cursor.value())
      isOn = try cursor.next()
    }
    return isOn
  }

  /// Adds what is made of all of them.
  ///
  /// - Throws: as `Remaking.remake`, of the first record that fails.
  func remake(into sink: AddingSink) throws(StoreError) {
    if isAlone || sources.count < Self.countMax / 8 { return try remakeAlone(into: sink) }
    let middle = sources.count / 2
    let halves = (
      Half(remaking, sources, 0..<middle), Half(other, sources, middle..<sources.count)
    )
    let thread = try BackgroundThread(name: "cambium-step") { halves.1.run() }
    halves.0.run()
    thread.join()
    if halves.0.result.isOrdered || halves.1.result.isOrdered {
      isAlone = true
      return try remakeAlone(into: sink)
    }
    for half in [halves.0, halves.1] {
      try half.result.add(to: sink, remaking.targets, aside: remaking.aside)
      if let error = half.error { throw error }
    }
  }

  private func remakeAlone(into sink: AddingSink) throws(StoreError) {
    let sources = sources
    let emit = remaking.emitter(to: sink)
    for place in 0..<sources.count {
      try remaking.remake(sources.key(place), sources.row(place), emit) {
        entry, tree
          throws(StoreError) in try sink.setAside(entry, in: tree)
      }
    }
  }

  /// The work of one thread. The other one reads it when that thread is done.
  private final class Half: @unchecked Sendable {
    let result = EmittedRecords()
    private(set) var error: StoreError?
    private let remaking: Remaking
    private let sources: SourceRecords
    private let places: Range<Int>

    init(_ remaking: Remaking, _ sources: SourceRecords, _ places: Range<Int>) {
      self.remaking = remaking
      self.sources = sources
      self.places = places
    }

    func run() {
      let sources = sources
      let emit = remaking.emitter(to: result)
      do throws(StoreError) {
        for place in places {
          if result.isOrdered { return }
          try remaking.remake(sources.key(place), sources.row(place), emit) { [result] entry, _ in
            result.setAside(entry)
          }
        }
      } catch { self.error = error }
    }
  }
}

/// Old records, copied out of their pages.
struct SourceRecords {
  private var bytes: [UInt8] = []
  /// The ends of the key and the row of each record.
  private var ends: [(key: Int, row: Int)] = []

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ key: RawSpan, _ row: RawSpan) {
    bytes.append(key)
    let end = bytes.count
    bytes.append(row)
    ends.append((end, bytes.count))
  }

  private func start(_ place: Int) -> Int { place == 0 ? 0 : ends[place - 1].row }

  @_lifetime(borrow self)
  func key(_ place: Int) -> RawSpan {
    let start = start(place)
    return unsafe _overrideLifetime(
      bytes.rawSpan.part(start, ends[place].key - start), borrowing: self)
  }

  @_lifetime(borrow self)
  func row(_ place: Int) -> RawSpan {
    let (start, end) = ends[place]
    return unsafe _overrideLifetime(bytes.rawSpan.part(start, end - start), borrowing: self)
  }
}

/// New records that wait to be added.
private final class EmittedRecords: EmitterSink {
  private var records = SourceRecords()
  /// The numbers of their types.
  private var types: [UInt32] = []
  private var asides: [SetAsideEntry] = []
  /// True if records that were made before would have to be read.
  private(set) var isOrdered = false

  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to trees: Entity
  ) throws(StoreError) {
    // What is to be stored outside of rows is, one after the other.
    if !waiting.isEmpty { isOrdered = true }
    records.append(key, row)
    types.append(trees.record.number)
  }

  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to trees: Entity
  ) throws(StoreError) {
    isOrdered = true
  }

  func blobFinder(of trees: Entity) -> BlobFinder? { nil }

  func copy(
    _ key: RawSpan, of trees: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    isOrdered = true
    return false
  }

  func setAside(_ entry: SetAsideEntry) { asides.append(entry) }

  func add(
    to sink: AddingSink, _ targets: [Entity], aside: TreeSlot
  ) throws(StoreError) {
    let records = records
    for place in 0..<records.count {
      guard let target = targets.first(where: { $0.record.number == types[place] }) else {
        continue
      }
      try sink.add(records.key(place), records.row(place), [], to: target)
    }
    for entry in asides { try sink.setAside(entry, in: aside) }
  }
}
