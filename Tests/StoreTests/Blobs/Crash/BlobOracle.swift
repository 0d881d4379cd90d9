import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Opens what a crash left of a store with blobs, and says what is wrong with it.
struct BlobOracle {
  let version: Int
  /// Which states there may be.
  let states: ArraySlice<BlobScenarioRun.State>
  let seed: UInt64
  /// An older version of the program, which looks at it first and migrates nothing.
  var older: Int?

  /// Nil if all is right.
  func violation(in image: SimulatedFileSystem) -> String? {
    do {
      if let older { try look(older, in: image) }
      try look(in: image)
    } catch {
      return "\(error)"
    }
    let openFiles = image.openFileCount
    return openFiles == 0 ? nil : "\(openFiles) files are still open"
  }

  private func look(in image: SimulatedFileSystem) throws {
    let store = try BlobScenarioRun.open(image, version, seed: seed)
    _ = try store.shownDocs(version, among: states)
    try store.checkFiles(in: image)
    // What only a state needed that is kept no more goes with the next collection.
    try store.collectBlobs(BlobBudget(bytes: 0))
    try store.checkBlobs()
    try goOn(store)
    try store.close()
  }

  private func look(_ older: Int, in image: SimulatedFileSystem) throws {
    do {
      let store = try BlobScenarioRun.open(image, older, .refuse, seed: seed + 1)
      _ = try store.shownDocs(older, among: states)
      try store.checkBlobs()
      try store.close()
    } catch StoreError.newerSchema {
      // The new version is published.
    }
  }

  /// One more commit, with blobs of its own and one that is there already.
  private func goOn(_ store: PersistentStore) throws {
    let doc = Doc(900, 9_000, picture: 700)
    var other = Doc(901, 400, picture: 700)
    other.body = doc.body
    try store.write { transaction in try transaction.save(doc.record(version)) }
    try store.write { transaction in try transaction.save(other.record(version)) }
    for doc in [doc, other] {
      guard let record = try store.fetch(record: Doc.name, key: doc.id) else {
        throw Disagreement(description: "what is written after it is not there")
      }
      try doc.check(record, version)
    }
    try store.checkBlobs()
  }
}

extension PersistentStore {
  /// Which of some states the store has, whole.
  func shownDocs(
    _ version: Int, among states: ArraySlice<BlobScenarioRun.State>
  ) throws -> BlobScenarioRun.State {
    var records: [Int: DynamicRecord] = [:]
    try forEach(record: Doc.name) { record in records[try record["id", as: Int.self]] = record }
    var first: (any Error)?
    // A later one first: of two that are the same it says more.
    for state in states.reversed() where Set(state.keys) == Set(records.keys) {
      do {
        for (id, record) in records { try state[id]?.check(record, version) }
        return state
      } catch {
        first = first ?? error
      }
    }
    throw first
      ?? Disagreement(
        description: "there are \(records.keys.sorted()), which is none of \(states.count) states")
  }

  /// Throws unless every file of blobs is of a segment that the state has.
  fileprivate func checkFiles(in image: SimulatedFileSystem) throws {
    let known = Set(try entities.blobs.accounts(in: try backend.trees()).map(\.segment))
    for name in image.names {
      guard case .blobs(let number) = name.kind else { continue }
      try agree(known.contains(number) && !name.isTemporary, "\(name) is an orphan")
    }
  }

  /// Throws unless a check finds nothing, and statistics say what rows do.
  func checkBlobs() throws {
    let found = try faults()
    try agree(found.isEmpty, "\(found)")
    let counted = try countBlobs()
    let statistics = try blobStatistics()
    let stored = statistics.segments.reduce(0) { $0 + $1.storedBytes }
    try agree(statistics.storedBytes == stored, "\(statistics.storedBytes) of \(stored) bytes")
    if try keptVersions().isEmpty {
      let found = BlobCounts(
        count: statistics.count, bytes: statistics.contentBytes, shared: statistics.sharedBytes)
      try agree(found == counted, "\(found) are accounted for, and there are \(counted)")
    } else {
      try agree(statistics.count >= counted.count, "\(statistics.count), not \(counted.count)")
    }
  }

  private struct BlobCounts: Equatable {
    var count = 0
    var bytes = 0
    var shared = 0
  }

  /// By the blobs that records have.
  private func countBlobs() throws -> BlobCounts {
    var counts = BlobCounts()
    var seen: Set<BlobIdentity> = []
    try forEach(record: Doc.name) { record in
      for (_, value) in record.fields {
        guard case .blob(let blob) = value, let source = blob.source else { continue }
        if seen.insert(source.identity).inserted {
          counts.count += 1
          counts.bytes += blob.count
        } else {
          counts.shared += blob.count
        }
      }
    }
    return counts
  }
}
