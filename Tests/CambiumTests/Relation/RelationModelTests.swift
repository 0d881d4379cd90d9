import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Delete rules, bounds and references that come before what they lead to, against dictionaries.
@Suite struct RelationModelTests {
  /// All of them together.
  private static let modelCount = scaled(1_000, debug: 160)
  private static let transactionCount = scaled(100, debug: 25)
  private static let shards = 8

  @Test(arguments: 0..<shards)
  func `whatever is done to records with references, the store does what the rules say`(
    shard: Int
  ) {
    var counts = RelationHistory.Counts()
    for seed in Seeds.range(Self.modelCount / Self.shards, shard: 60 + shard) {
      do {
        let history = try RelationHistory(seed: seed)
        try history.run(transactions: Self.transactionCount)
        counts.add(history.counts)
      } catch {
        // The others fail for the same reason.
        Issue.record("seed \(seed): \(error)")
        return
      }
    }
    print("relations: \(counts)")
    #expect(counts.commits > Self.modelCount / Self.shards * Self.transactionCount / 4)
  }
}
