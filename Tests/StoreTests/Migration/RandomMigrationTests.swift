import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Random models of five versions, and random records: whatever path a store takes, it ends with what each record
/// must have become (X15). A round of soaking takes more seeds, and other ones.
@Suite struct RandomMigrationTests {
  private static let seeds = Seeds.range(Seeds.count(100, soaking: 300, debug: 12), shard: 0)

  @Test func `all paths between five random versions end with what the model says, T6 T3 J14`()
    throws
  {
    var (steps, paths) = (0, 0)
    for seed in Self.seeds {
      do {
        let chain = RandomChain(seed: seed, versions: 5)
        var check = MigrationCheck(chain.model, seed: seed)
        check.count = 30
        check.records.values = chain.keys
        let image = try check.filled(1)
        let expected = try Self.expected(chain, image)
        try check.everyPath(of: image)
        let store = try check.migrated(image, .direct, from: 1)
        #expect(try Self.records(of: store) == expected, "seed \(seed)")
        let original = try Self.originals(chain, image)
        for mode in [MigrationMode.automatic, .deferred] {
          #expect(
            try Self.rolledBack(image, chain.model, mode) == original, "seed \(seed), \(mode)")
        }
        for shortcuts in chain.endsDerivations ? [] : Self.shortcuts(seed) {
          let check = MigrationCheck(chain.model, steps: shortcuts, seed: seed)
          for path in [MigrationPath.direct, .deferred] {
            let store = try check.migrated(image, path, from: 1)
            let taken = shortcuts.map(\.text)
            #expect(try Self.records(of: store) == expected, "seed \(seed), \(taken), \(path)")
          }
        }
        steps += 4
        paths += MigrationPath.all(from: 1, to: 5).count
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
    print("X15: \(steps.grouped) random steps, \(paths.grouped) paths, seeds \(Self.seeds)")
  }

  /// Steps over several versions, which say nothing of their own.
  private static func shortcuts(_ seed: UInt64) -> [[MigrationStep]] {
    var random = SplitMix64(seed: seed)
    let first = Int.random(in: 1...3, using: &random)
    let last = Int.random(in: (first + 2)...5, using: &random)
    return [
      [MigrationStep(from: 1, to: 5)], [MigrationStep(squashing: 1...4, to: 5)],
      [MigrationStep(from: 1, to: 3), MigrationStep(from: 3, to: 5)],
      [MigrationStep(from: first, to: last)],
      [MigrationStep(squashing: first...(last - 1), to: last)],
    ]
  }

  private static func records(of store: PersistentStore) throws -> Set<DynamicRecord> {
    var records: Set<DynamicRecord> = []
    for record in store.schema.records {
      try store.forEach(record: record.name) { records.insert($0) }
    }
    return records
  }

  private static func originals(
    _ chain: RandomChain, _ image: StoreImage
  ) throws -> Set<DynamicRecord> {
    let store = try image.copy().open(chain.model.dynamic(version: 1))
    defer { try? store.close() }
    return try records(of: store)
  }

  private static func expected(
    _ chain: RandomChain, _ image: StoreImage
  ) throws -> Set<DynamicRecord> {
    let records = try originals(chain, image)
    #expect(records.count > 0)
    return Set(records.compactMap(chain.migrated))
  }

  /// The records of a store that was migrated, and then rolled back.
  private static func rolledBack(
    _ image: StoreImage, _ model: StoreModel, _ mode: MigrationMode
  ) throws -> Set<DynamicRecord> {
    let image = image.copy()
    try image.open(model, migration: mode).close()
    let backend = try EngineBackend(
      alone: image.medium, EngineOptions(), creating: false, seed: 3)
    try Rollback(backend: backend, version: 1).run(discardingCommits: true)
    try backend.close()
    let store = try image.open(model.dynamic(version: 1), migration: .refuse)
    try store.expectSound()
    defer { try? store.close() }
    return try records(of: store)
  }

  @Test func `a random step survives power cuts and failures at every call, T3`() throws {
    var (cuts, failures) = (0, 0)
    for seed in Seeds.range(Seeds.count(6, soaking: 12, debug: 1), shard: 0) {
      let chain = RandomChain(seed: seed, versions: 2)
      var check = MigrationCheck(chain.model, seed: seed)
      check.count = 12
      check.records.values = chain.keys
      let cut = try check.everyPowerCut(from: 1, stride: scaled(1, debug: 9))
      let failed = try check.everyFailure(from: 1, stride: scaled(3, debug: 23))
      for violation in (cut.violations + failed.violations).prefix(3) {
        Issue.record("seed \(seed): \(violation)")
      }
      cuts += cut.count
      failures += failed.count
    }
    #expect(cuts > 0 && failures > 0)
    print("random migrations: \(cuts.grouped) crash images, \(failures.grouped) failed calls")
  }
}
