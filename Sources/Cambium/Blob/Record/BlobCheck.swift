/// Compares the map of blobs with rows, with the accounts, and with the files.
struct BlobCheck {
  private let trees: TreeAccess
  private let blobs: BlobTrees
  private let records: [Entity]
  private let history: HistoryReferences
  /// Nil if the store was opened without a header of blobs.
  private let segments: LocatedSegments?
  /// True if trees of an interrupted migration may have references, too.
  private let isMigrating: Bool
  private(set) var faults: [StoreError] = []

  init(
    _ records: [Entity], _ history: HistoryReferences, _ blobs: BlobTrees, in trees: TreeAccess,
    _ segments: LocatedSegments?, isMigrating: Bool
  ) {
    self.isMigrating = isMigrating
    self.trees = trees
    self.blobs = blobs
    self.records = records
    self.history = history
    self.segments = segments
  }

  /// - Parameter deep: True if the contents are read.
  /// - Complexity: all rows with external fields are read, and all of the map; of each blob its tail.
  /// - Throws: `.io`. Damage is a fault.
  mutating func run(deep: Bool) throws(StoreError) {
    do throws(StoreError) { try checkRows() } catch { try note(error) }
    do throws(StoreError) {
      if let segments, try blobs.header(in: trees) != nil {
        try checkMap(segments, deep: deep)
        try checkContents()
      } else {
        try checkNothingThere()
      }
    } catch { try note(error) }
  }

  /// Checks that a store without a header of blobs has none.
  private mutating func checkNothingThere() throws(StoreError) {
    let named = [
      (BlobTrees.mapName, blobs.map), (BlobTrees.placesName, blobs.places),
      (BlobTrees.contentsName, blobs.contents), (BlobTrees.segmentsName, blobs.segments),
    ]
    for (name, tree) in named where try trees.count(in: tree) > 0 {
      try note(
        .corrupt(
          .entry(tree: name, key: []), invariant: .blobAccounts,
          reason: "there are entries, and the header of all blobs is not there"))
    }
  }

  /// Checks that every content leads to a blob with its hash; that every hash leads to its blob was seen with the map.
  private mutating func checkContents() throws(StoreError) {
    let cursor = try trees.cursor(in: blobs.contents)
    while try cursor.advance() {
      let key = cursor.key.array()
      let identity = BlobIdentity(key: try cursor.value())
      let hash = try identity.flatMap { identity throws(StoreError) in
        try blobs.entry(of: identity, in: trees)?.hash
      }
      if hash?.key != key {
        try note(
          .corrupt(
            .entry(tree: BlobTrees.contentsName, key: key), invariant: .blobMap,
            reason: "it does not lead to a blob with this hash"))
      }
    }
  }

  private mutating func note(_ fault: StoreError) throws(StoreError) {
    switch fault {
    case .corrupt, .newerFormat, .missing:
      if faults.count < RecordCheck.faultsMax { faults.append(fault) }
    default: throw fault
    }
  }

  /// Looks for the blob of every reference.
  private mutating func checkRows() throws(StoreError) {
    var found: [StoreError] = []
    let (blobs, trees) = (blobs, trees)
    try BlobCount(records, history, in: trees).forEachReference { reference throws(StoreError) in
      let place = try blobs.entry(of: reference.identity, in: trees)?.place
      if let place, reference.isOf(place) { return }
      if found.count >= RecordCheck.faultsMax { return }
      found.append(
        .corrupt(
          .entry(tree: BlobTrees.mapName, key: reference.identity.key), invariant: .rowExternal,
          reason: "a row refers to a blob that is not there, or is another"))
    }
    for fault in found { try note(fault) }
  }

  private mutating func checkMap(
    _ segments: LocatedSegments, deep: Bool
  ) throws(StoreError) {
    let isCountDue = try blobs.header(in: trees)?.isCountDue ?? true
    var live: [UInt32: SegmentAccount] = [:]
    var found: [StoreError] = []
    let (blobs, trees) = (blobs, trees)
    try BlobCount(records, history, in: trees).compare(with: blobs) {
      identity, entry, count throws(StoreError) in
      if !isCountDue, isMigrating ? entry.references < count : entry.references != count {
        found.append(
          identity.fault("\(entry.references) references to it are counted, and there are \(count)")
        )
      }
      var place: [UInt8] = []
      let isPlaced = try trees.copyValue(of: entry.place.key.rawSpan, in: blobs.places, to: &place)
      if !isPlaced || place != identity.key {
        found.append(identity.fault("its place is not among the places"))
      }
      if let hash = entry.hash {
        var sharing: [UInt8] = []
        let isShared = try trees.copyValue(of: hash.key.rawSpan, in: blobs.contents, to: &sharing)
        if !isShared || sharing != identity.key {
          found.append(identity.fault("its hash is not among the contents"))
        }
      }
      live[entry.place.segment, default: SegmentAccount()].add(entry.place)
      do throws(StoreError) {
        try segments.reader(of: identity, at: entry.place).check(deep: deep)
      } catch { found.append(error) }
    }
    let accounts = try blobs.accounts(in: trees)
    for (segment, account) in accounts where live[segment]?.live != account.live {
      found.append(
        .corrupt(
          .entry(tree: BlobTrees.segmentsName, key: SegmentAccount.key(of: segment)),
          invariant: .blobAccounts,
          reason:
            "\(account.live) bytes are accounted for, and there are \(live[segment]?.live ?? 0)"))
    }
    for (segment, account) in accounts {
      let size = try? segments.size(of: segment)
      let least = live[segment]?.end ?? 0
      if account.end < least || size.map({ account.end > $0 }) ?? false {
        found.append(
          .corrupt(
            .entry(tree: BlobTrees.segmentsName, key: SegmentAccount.key(of: segment)),
            invariant: .blobEnds,
            reason:
              "blobs are said to end at byte \(account.end); the last that the map has ends at"
              + " \(least)\(size.map { ", the file at \($0)" } ?? "")"))
      }
    }
    let counts = (try trees.count(in: blobs.places), try trees.count(in: blobs.map))
    if accounts.count != live.count || counts.0 != counts.1 {
      found.append(
        .corrupt(
          .entry(tree: BlobTrees.segmentsName, key: []), invariant: .blobAccounts,
          reason: "there are more segments, or places, than the map has"))
    }
    for fault in found { try note(fault) }
  }
}

extension BlobIdentity {
  fileprivate func fault(_ reason: String) -> StoreError {
    .corrupt(.entry(tree: BlobTrees.mapName, key: key), invariant: .blobMap, reason: reason)
  }
}

/// Counts the references to blobs in all rows of a state, and in the old rows of its history, in memory for a bounded number of
/// blobs at a time.
///
/// - Complexity: all rows with external fields are read, once for each million of blobs.
struct BlobCount {
  private let trees: TreeAccess
  private let records: [Entity]
  private let history: HistoryReferences?

  /// The number of blobs that are counted at a time.
  static var countMax: Int { 1 << 20 }

  init(_ records: [Entity], _ history: HistoryReferences?, in trees: TreeAccess) {
    self.trees = trees
    self.history = history
    self.records = records.filter { $0.blobs != nil }
  }

  /// The references to the blobs from `low` to `high`, by their keys, both included.
  func references(
    from low: [UInt8], through high: [UInt8]
  ) throws(StoreError) -> [BlobIdentity: UInt64] {
    var counts: [BlobIdentity: UInt64] = [:]
    try forEachReference { reference throws(StoreError) in
      let key = reference.identity.key
      if key.lexicographicallyPrecedes(low) || high.lexicographicallyPrecedes(key) { return }
      counts[reference.identity, default: 0] += 1
    }
    return counts
  }

  /// Calls `body` with every reference of every row, present ones first.
  func forEachReference(
    _ body: (BlobReference) throws(StoreError) -> Void
  ) throws(StoreError) {
    for record in records {
      let layout = record.layout
      let cursor = try trees.cursor(in: record.rows)
      while try cursor.advance() {
        let row = try cursor.value()
        try layout.forEachReference(key: cursor.key, row: row, body)
      }
    }
    try history?.forEachReference(in: trees, body)
  }

  /// Calls `body` with every blob of the map and the number of references to it that rows have, old ones as well.
  func compare(
    with blobs: BlobTrees,
    _ body: (BlobIdentity, BlobEntry, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    var slice: [(identity: BlobIdentity, entry: BlobEntry)] = []
    func count() throws(StoreError) {
      guard let first = slice.first, let last = slice.last else { return }
      let counts = try references(from: first.identity.key, through: last.identity.key)
      for (identity, entry) in slice { try body(identity, entry, counts[identity] ?? 0) }
      slice = []
    }
    try blobs.forEach(in: trees) { identity, entry throws(StoreError) in
      slice.append((identity, entry))
      if slice.count == Self.countMax { try count() }
      return true
    }
    try count()
  }
}
