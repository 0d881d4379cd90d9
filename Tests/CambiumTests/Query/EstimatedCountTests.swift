import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What plans are chosen by.
@Suite struct EstimatedCountTests {
  @Test func `ranges are estimated by their size, wherever they begin and end in a tree, G2`()
    throws
  {
    let directory = try TemporaryDirectory()
    let (path, count) = (directory.path + "/s", scaled(200_000, debug: 3_000))
    var store = try PersistentStore(at: path, model: .samples)
    try store.write { transaction in
      try transaction.insert(contentsOf: (0..<count).map { Note(key: "\(1_000_000 + $0)") })
    }
    // What was committed is in trees then.
    try store.close()
    store = try PersistentStore(at: path, model: .samples)
    let rows = try store.entities.type(Note.self).rows
    let trees = try store.snapshot().trees
    var random = SplitMix64(seed: 3)
    for index in 0..<scaled(20_000, debug: 500) {
      let low = Int(random.next() % UInt64(count))
      let high = low + Int(random.next() % [2, 50, 1_000, 100_000][index % 4])
      let range = KeyRange(
        low: Array("\(1_000_000 + low)".utf8), high: Array("\(1_000_000 + high)".utf8))
      let exact = try trees.count(of: range, in: rows)
      let estimate = try trees.estimatedCount(of: range, in: rows)
      // Half of two leaves where it is in little more.
      try agree(
        estimate <= 2 * exact + 1_200 && exact <= 2 * estimate + 1_200,
        "\(estimate) and not \(exact) from \(low) to \(high)")
    }
    try store.close()
  }
}
