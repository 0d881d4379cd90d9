import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Random lives of trees. A failure names its seed, which replays it.
@Suite struct TreeHistoryTests {
  private let seeds = 0..<UInt64(scaled(150, debug: 12))

  @Test(arguments: TreeHistory.Keys.allCases)
  func `tiny nodes stay right and full through merges`(keys: TreeHistory.Keys) {
    replaying(seeds) { try TreeHistory(keys: keys).run(seed: $0) }
  }

  @Test func `trees read through a small cache stay right and full`() {
    replaying(seeds) {
      try TreeHistory(mode: .buffered(cacheSize: 8192), keys: .words, mergeCount: 6).run(seed: $0)
    }
  }

  @Test func `trees that are all but emptied again and again stay right and full`() {
    replaying(seeds) {
      try TreeHistory(keySpace: 60, mergeCount: 20, removals: 70).run(seed: $0)
    }
  }

  @Test func `larger trees of few operations a merge stay right and full`() {
    replaying(seeds) { seed in
      var history = TreeHistory(keySpace: 3_000, mergeCount: 10, operationsMax: 400, removals: 10)
      if seed % 2 == 0 { history.removals = 50 }
      try history.run(seed: seed)
    }
  }

  @Test func `values of every weight stay right and full`() {
    replaying(seeds) { try TreeHistory(valueLengthMax: 200).run(seed: $0) }
  }

  @Test func `merges that adopt nothing or not from a segment stay right and full`() {
    replaying(seeds) { try TreeHistory(valueLengthMax: 120, adoptsAll: false).run(seed: $0) }
  }

  @Test func `leaves of several schema versions stay right and full`() {
    replaying(seeds) { try TreeHistory(versions: 1...3).run(seed: $0) }
  }

  @Test func `states that follow one another in a segment stay right and full`() {
    replaying(seeds) { seed in
      var history = TreeHistory(mergeCount: 20, versions: 1...2, adoptsAll: false, goesOn: true)
      if seed % 2 == 0 { history.mode = .buffered(cacheSize: 8192) }
      if seed % 3 == 0 { history.segmentBlocks = 2 * Layout.pageBlocksMax + 1 }
      try history.run(seed: seed)
    }
  }

  @Test func `standard nodes stay right and full`() {
    let count = UInt64(scaled(20, debug: 3))
    replaying(0..<count) {
      try TreeHistory(
        sizes: .standard, keys: .words, keySpace: 60_000, mergeCount: 6, operationsMax: 4_000,
        valueLengthMax: 100
      ).run(seed: $0)
    }
  }
}
