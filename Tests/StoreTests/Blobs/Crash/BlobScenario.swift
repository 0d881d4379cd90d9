import FoundationEssentials
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// What is done to a store with blobs. Crashes (X1, X2) and faults (X4) go through all of them.
enum BlobScenario: String, CaseIterable, Sendable {
  /// Records come, change and go, with contents in their rows and outside, in commits of both kinds.
  case records
  /// Blobs are written piece by piece, while others commit, and some of them to no end.
  case streams
  /// Records share contents, and stop sharing them.
  case sharing
  /// Garbage is collected in slices, between commits.
  case collection
  /// A migration moves values out of rows.
  case goingOut
  /// A migration moves values into rows, and the state before it is let go of.
  case comingBack
  /// A migration is published before it is done, and done in slices.
  case deferral
  /// A migration is taken back, after blobs were moved and written.
  case rollback
  /// Pages are compacted.
  case compaction
  /// A copy is made.
  case backup

  /// The version of the program that opens what is left.
  var version: Int {
    switch self {
    case .goingOut, .records, .streams, .sharing, .collection, .compaction, .backup: 2
    case .deferral, .rollback: 3
    case .comingBack: 4
    }
  }

  /// An older version of the program, to which a store that was not migrated must look as before.
  var older: Int? {
    switch self {
    case .goingOut: 1
    case .deferral: 2
    case .comingBack: 3
    default: nil
    }
  }
}

// MARK: What is there before

extension BlobScenario {
  /// Documents of lengths about all thresholds.
  private static let lengths = [0, 99, 100, 101, 3_000, 5_001, 20_000, 70_000]

  private static var docs: [Doc] {
    lengths.enumerated().map { Doc($0, $1, picture: $0 % 3 == 0 ? 600 : nil) }
  }

  /// What the scenario begins with: made once for all runs.
  func prepared() throws -> BlobScenarioRun {
    let run = BlobScenarioRun(version)
    switch self {
    case .records, .streams, .sharing: return run
    case .collection, .compaction:
      try run.open(2)
      for id in 0..<12 { try run.commit(.save(Doc(id, 12_000, picture: 600))) }
    case .backup, .deferral, .goingOut, .comingBack:
      try run.open(older ?? 2)
      try run.commit(Self.docs.map { .save($0) })
    case .rollback: try prepareRollback(run)
    }
    try run.close()
    return run
  }

  private func prepareRollback(_ run: BlobScenarioRun) throws {
    try run.open(2)
    try run.commit(Self.docs.map { .save($0) })
    try run.close()
    try run.open(3)
    try run.commit(.delete(3), .delete(5), .delete(6), .save(Doc(20, 9_000)))
    try run.store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
  }

  /// Another run that begins so.
  func run(from prepared: BlobScenarioRun) -> BlobScenarioRun {
    BlobScenarioRun(
      version, in: prepared.medium.crashed(.all), states: [prepared.docs], life: 100)
  }
}

// MARK: What is done

extension BlobScenario {
  func perform(_ run: BlobScenarioRun) throws {
    switch self {
    case .records: try performRecords(run)
    case .streams: try performStreams(run)
    case .sharing: try performSharing(run)
    case .collection: try performCollection(run)
    case .goingOut: try performMigration(run)
    case .comingBack: try performMigration(run)
    case .deferral: try performDeferral(run)
    case .rollback: try performRollback(run)
    case .compaction: try performCompaction(run)
    case .backup: try performBackup(run)
    }
  }

  private func performRecords(_ run: BlobScenarioRun) throws {
    try run.open(2)
    try run.commit(.save(Doc(1, 30_000, picture: 600)))
    try run.commit(.save(Doc(2, 110_000, picture: 600)), .save(Doc(3, 40)))
    try run.commit(.save(Doc(1, 20_000, picture: 600)), .save(Doc(3, 101)))
    try run.commit((4..<8).map { .save(Doc($0, 15_000, picture: 600)) })
    try run.abort(.save(Doc(9, 15_000)), .delete(2))
    try run.commit(.delete(2), .delete(4), .delete(5), .save(Doc(1, 99)))
    try run.commit(.delete(6), durability: .relaxed)
    try run.commit(.save(Doc(2, 30_000)), durability: .relaxed)
    try run.flush()
    try run.commit(run.docs.keys.sorted().map { .delete($0) })
    try run.commit(.save(Doc(2, 30_000)))
    try run.close()
    try run.open(2)
    try run.commit(.save(Doc(10, 30_000)))
    try run.close()
  }

  private func performStreams(_ run: BlobScenarioRun) throws {
    try run.open(2)
    let (long, picture) = (Doc(1, 300_000), Doc(2, 200, picture: 90_000))
    let longWriter = try run.makeWriter()
    try longWriter.append(long.body.data(0..<180_000))
    let pictureWriter = try run.makeWriter(deduplicating: true)
    try pictureWriter.append(picture.picture?.data ?? Data())
    try run.commit(.save(Doc(3, 9_000)))
    try longWriter.append(long.body.data(180_000..<300_000))
    let pictureBlob = try run.finish(pictureWriter)
    try run.commit(.put(picture, picture: pictureBlob))
    let idle = try run.makeWriter()
    try idle.append(long.body.data(0..<250_000))
    run.abandon(idle)
    try run.commit(.save(Doc(4, 20_000)))
    let longBlob = try run.finish(longWriter)
    try run.commit(.put(long, body: longBlob), durability: .relaxed)
    try run.flush()
    let never = try run.makeWriter()
    try never.append(long.body.data(0..<250_000))
    try run.close()
    run.end()
    try run.open(2)
    try run.commit(.delete(1), .save(Doc(5, 8_000)))
    try run.close()
  }

  private func performSharing(_ run: BlobScenarioRun) throws {
    try run.open(2)
    try run.commit(.save(Doc(1, 10, picture: 20_000)), .save(Doc(2, 500, picture: 20_000)))
    try run.commit(.save(Doc(3, 12_000, picture: 20_000)))
    var blobs: [Blob] = []
    for _ in 0..<2 {
      let writer = try run.makeWriter(deduplicating: true)
      try writer.append(DocContent(length: 80_000, seed: 80_000).data)
      blobs.append(try run.finish(writer))
    }
    try run.commit(
      .put(Doc(4, 10, picture: 80_000), picture: blobs[0]),
      .put(Doc(5, 10, picture: 80_000), picture: blobs[1]))
    blobs = []
    var sharing = Doc(6, 0)
    sharing.body = Doc(3, 12_000).body
    try run.commit(.put(sharing, body: try run.body(of: 3)))
    try run.commit(.save(Doc(1, 10)), .delete(3))
    try run.commit(.delete(2), .delete(4))
    try run.commit(.delete(6), durability: .relaxed)
    try run.commit(.delete(5))
    try run.commit(.save(Doc(7, 10, picture: 80_000)), .save(Doc(8, 10, picture: 80_000)))
    try run.close()
  }

  private func performCollection(_ run: BlobScenarioRun) throws {
    let budget = BlobBudget(bytes: 10_000, garbageShare: 0.2)
    try run.open(2)
    try run.commit([0, 1, 2, 4, 5, 7, 8, 10].map { .delete($0) })
    try run.store.collectBlobs(budget)
    let writer = try run.makeWriter()
    try writer.append(Doc(21, 80_000).body.data)
    let blob = try run.finish(writer)
    try run.commit(.save(Doc(20, 11_000)), .delete(3))
    while try run.store.collectBlobs(budget) {}
    try run.commit(.put(Doc(21, 80_000), body: blob))
    try run.store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.01))
    try run.close()
  }

  private func performMigration(_ run: BlobScenarioRun) throws {
    try run.open(version)
    try run.commit(.save(Doc(30, 9_000, picture: 600)), .delete(6))
    try run.store.dropKeptVersions()
    try run.store.collectBlobs()
    try run.close()
  }

  private func performDeferral(_ run: BlobScenarioRun) throws {
    try run.open(3, .deferred)
    try run.commit(.save(Doc(3, 7_000, picture: 600)))
    _ = try run.store.finishMigration(budget: .records(3))
    try run.commit(.delete(7), .save(Doc(30, 9_000)))
    while try run.store.finishMigration(budget: .records(5)) {}
    try run.store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.2))
    try run.close()
  }

  private func performRollback(_ run: BlobScenarioRun) throws {
    let before = Dictionary(uniqueKeysWithValues: Self.docs.map { ($0.id, $0) })
    try run.open(3)
    try run.commit(.save(Doc(21, 9_000, picture: 600)), .delete(7))
    try run.close()
    try run.rollBack(to: 2, before)
    try run.open(2)
    try run.commit(.delete(6), .save(Doc(22, 9_000)))
    try run.close()
  }

  private func performCompaction(_ run: BlobScenarioRun) throws {
    try run.open(2)
    try run.commit((0..<12).filter { $0 % 3 > 0 }.map { .delete($0) })
    let writer = try run.makeWriter()
    try writer.append(Doc(21, 80_000).body.data)
    try run.store.compact()
    try run.commit(.put(Doc(21, 80_000), body: try run.finish(writer)))
    try run.store.collectBlobs()
    try run.store.compact()
    try run.close()
  }

  private func performBackup(_ run: BlobScenarioRun) throws {
    try run.open(2)
    try run.commit(.delete(6), .save(Doc(30, 9_000)))
    let (copy, state) = (SimulatedFileSystem(), run.docs)
    try run.store.backUp(into: copy)
    try run.commit(.delete(7), .save(Doc(31, 9_000)))
    let oracle = BlobOracle(version: 2, states: [state], seed: 5)
    if let violation = oracle.violation(in: copy) {
      throw Disagreement(description: "the copy: \(violation)")
    }
    try run.close()
  }
}

extension PersistentStore {
  /// Copies the newest state to a medium of the tests.
  func backUp(into medium: SimulatedFileSystem) throws {
    _ = try StoreBackup(of: try backend.snapshot(), backend.names, BackupMonitor()).run(
      into: medium)
  }
}
