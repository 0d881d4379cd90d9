/// Opens the blobs of a store.
struct BlobOpening {
  private let backend: any StoreBackend

  init(_ backend: any StoreBackend) {
    self.backend = backend
  }

  /// Opens them where there are any, or a schema can have them.
  ///
  /// Files that no state refers to are removed: only an interrupted writer can have left them.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.newerFormat`, `.full`, `.io`.
  func open(for schema: Schema) throws(StoreError) {
    if backend.blobs.keeper != nil { return }
    let blobs = try BlobTrees(backend.names)
    if backend.isReadOnly { return try follow(blobs) }
    var header = try blobs.header(in: try backend.trees())
    if header == nil, schema.hasExternalFields { header = try makeHeader(blobs) }
    guard let header else { return }
    let accounts = try blobs.accounts(in: try backend.trees())
    let kept = accounts.map(\.segment)
    let highest = max(header.highest, kept.last ?? 0)
    guard highest < .max else { throw .limitExceeded(.segmentNumber, found: Int(highest) + 1) }
    let keeper = backend.makeBlobKeeper(header.seed, from: highest + 1)
    // A file that is lost or damaged closes no record but those whose blobs were in it.
    try keeper.openReadable(kept)
    if let last = accounts.last, keeper.openSegments.contains(last.segment) {
      try keeper.goOn(in: last.segment, end: last.account.end)
    }
    let orphans = try backend.blobSegments().filter { !kept.contains($0) }
    for segment in orphans { _ = try keeper.remove(segment) }
    // A file that reappeared after a crash could have the name of the next segment.
    if let last = orphans.last, last > highest { try keeper.syncRemovals() }
    backend.blobs.open(keeper)
  }

  /// Says what all blobs begin with, before there is one.
  private func makeHeader(_ blobs: BlobTrees) throws(StoreError) -> BlobHeader {
    let header = BlobHeader(seed: BlobSeed(rawValue: backend.random()))
    try backend.commit { trees throws(StoreError) in
      try header.put(into: trees, blobs)
    }
    return header
  }

  /// The number of times that a reader tries again if a segment is gone: a newer state exists without it.
  private static var triesMax: Int { 100 }

  /// Opens the segments of the newest state while another process may write. If a segment is missing and the state is still
  /// the newest, the segment is lost.
  private func follow(_ blobs: BlobTrees) throws(StoreError) {
    for attempt in 1...Self.triesMax {
      let trees = try backend.trees()
      guard let header = try blobs.header(in: trees) else { return }
      let keeper =
        backend.blobs.keeper ?? backend.makeBlobKeeper(header.seed, from: header.highest)
      let accounts = try blobs.accounts(in: trees).map(\.segment)
      do throws(StoreError) {
        try keeper.open(accounts)
        if backend.blobs.keeper == nil { backend.blobs.open(keeper) }
        return
      } catch {
        let sequence = try backend.snapshot().sequence
        if case .missing = error, attempt < Self.triesMax {
          try backend.lookAgain()
          if try backend.snapshot().sequence != sequence { continue }
        }
        switch error {
        case .missing, .corrupt: try keeper.openReadable(accounts)
        default: throw error
        }
        if backend.blobs.keeper == nil { backend.blobs.open(keeper) }
        return
      }
    }
  }

  /// Opens the segments of a newer state, and releases those that it no longer has.
  ///
  /// - Throws: as `open(for:)`.
  func refresh() throws(StoreError) {
    let blobs = try BlobTrees(backend.names)
    try follow(blobs)
    guard let keeper = backend.blobs.keeper else { return }
    keeper.release(but: try blobs.accounts(in: try backend.trees()).map(\.segment))
  }
}

extension Schema {
  var hasExternalFields: Bool {
    records.contains { $0.fields.contains { $0.type.isExternal } }
  }
}
