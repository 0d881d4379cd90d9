extension PersistentStore {
  /// Returns what the store at `path` contains, without needing a model. Nothing is written, and another process may
  /// have it open.
  ///
  /// - Parameter commitLimit: The number of commits that are looked up in the history.
  /// - Complexity: That of opening, which reads the log. Counts come from aggregates, and no leaf is read for them.
  /// - Throws: `StoreError.missing`, `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.io`.
  public static func inspect(
    at path: String, lastCommits commitLimit: Int = 5, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreInspection {
    let backend = try ReadingBackend(at: path, options)
    let schemas = try StoredSchemas(backend).all()
    try DeferredOpening(backend).usePending()
    if let schema = schemas.last { try BlobOpening(backend).open(for: schema) }
    let state = try backend.snapshot()
    var snapshot: StoreSnapshot?
    if let schema = schemas.last {
      let entities = try Entities(schema, model: nil, names: backend.names)
      snapshot = StoreSnapshot(entities, state)
    }
    return try StoreInspection(backend, state, schemas, snapshot, commitLimit)
  }

  /// Returns a snapshot of the store at `path` by its own description, to be read without Swift types.
  ///
  /// - Throws: As `inspect(at:lastCommits:options:)`; `.unknownRecord` if the store has no model yet.
  public static func snapshot(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> StoreSnapshot {
    var options = options
    options.access = .reading
    return try PersistentStore(untypedAt: path, options: options).snapshot()
  }
}

extension StoreInspection {
  fileprivate init(
    _ backend: ReadingBackend, _ state: SnapshotTrees, _ schemas: [Schema],
    _ snapshot: StoreSnapshot?, _ commitLimit: Int
  ) throws(StoreError) {
    let footer = state.footer
    path = backend.path
    identity = state.identity.text
    format = Int(SegmentHeader.formatVersion)
    isOpenForWriting = try backend.isOpenForWriting()
    self.schemas = schemas
    keptVersions = snapshot?.keptVersions ?? []
    keptBytes = snapshot?.keptBytes ?? 0
    pendingMigration = try snapshot?.pendingMigration()
    sequence = state.sequence
    foldedSequence = footer.coveredSequence
    lastCommits = try snapshot?.lastCommits(commitLimit) ?? []
    statistics = try snapshot?.statistics() ?? StoreStatistics(records: [])
    let blobs = try BlobTrees(backend.names)
    blobCount = state.count(in: blobs.map)
    let files = try SegmentUse.blobs(blobs, in: .state(state), by: backend.blobs.keeper)
    segments = footer.segments.map { SegmentUse($0) } + files
    log = backend.logUse
    livePageBytes = footer.trees.reduce(0) {
      $0 + Int(clamping: $1.root?.reference.liveBytes ?? 0)
    }
  }
}

extension SegmentUse {
  fileprivate init(_ extent: SegmentExtent) {
    kind = extent.kind == .pages ? .pages : .blobs
    number = Int(extent.number)
    let unit = extent.kind == .pages ? Layout.blockSize : 1
    size = Int(clamping: extent.end) * unit
    liveBytes = Int(clamping: extent.liveBytes)
  }

  /// The files of blobs of a state, by its accounts.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  fileprivate static func blobs(
    _ blobs: BlobTrees, in trees: TreeAccess, by keeper: BlobKeeper?
  ) throws(StoreError) -> [SegmentUse] {
    guard let keeper else { return [] }
    var uses: [SegmentUse] = []
    for (number, account) in try blobs.accounts(in: trees) {
      // The account is compared with the blobs by a check alone.
      let size = try keeper.size(of: number)
      uses.append(
        SegmentUse(
          kind: .blobs, number: Int(number), size: Int(clamping: size),
          liveBytes: Int(clamping: min(account.live, size))))
    }
    return uses
  }
}

extension StoreIdentity {
  /// 32 hexadecimal digits.
  var text: String {
    [low, high].map { word in
      let digits = String(word.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
