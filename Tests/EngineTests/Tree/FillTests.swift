import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Sixty merges of one percent each must not leave a tree in crumbs.
@Suite struct FillTests {
  /// What a tree goes through, and how full it must be after it.
  struct Load: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sizes = NodeSizes.standard
    var count = scaled(50_000, debug: 2_500)
    var removals = 0
    var keyLength = 8
    var valueLengths = 50...50
    var versions: UInt32 = 1
    /// How full leaves are to be, as the mean of what is found after every ten merges.
    var meanFill = 0.7
  }

  static let loads = [
    Load(testDescription: "inserts", meanFill: 0.8),
    Load(
      testDescription: "inserts into tiny nodes", sizes: tinyNodes, count: 2_500,
      valueLengths: 8...8, meanFill: 0.75),
    Load(testDescription: "inserts and as many removals", removals: 50, meanFill: 0.9),
    Load(testDescription: "values of varying size", valueLengths: 0...400, meanFill: 0.75),
    Load(
      testDescription: "values of which three fill a leaf", count: scaled(4_000, debug: 500),
      valueLengths: 2_694...2_711),
    Load(
      testDescription: "values around the largest inline weight",
      count: scaled(4_000, debug: 500), valueLengths: 2_000...3_000),
    Load(
      testDescription: "long keys that begin alike", count: scaled(4_000, debug: 3_000),
      keyLength: 900, valueLengths: 0...10, meanFill: 0.8),
    // Every row of the other version divides a leaf in three, until a migration joins them.
    Load(testDescription: "alternating versions", versions: 2, meanFill: 0),
  ]

  /// What an average over some thirty leaves may be off.
  private static let slack = Double(scaled(0, debug: 15)) / 100

  @Test(arguments: loads)
  func `nodes stay full through sixty merges of one percent`(load: Load) throws {
    var random = SplitMix64(seed: 2026)
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: load.sizes)
    var keys: [Bytes] = []
    var fills: [Double] = []
    for merge in 0...60 as ClosedRange<UInt32> {
      var changes: [Bytes: Bytes?] = [:]
      for _ in 0..<(merge == 0 ? load.count : load.count / 100) {
        if merge > 0, Int.random(in: 0..<100, using: &random) < load.removals {
          changes[keys.remove(at: Int.random(in: keys.indices, using: &random))] = .some(nil)
          continue
        }
        let key = Self.key(load.keyLength, using: &random)
        let length = Int.random(in: load.valueLengths, using: &random)
        keys.append(key)
        changes[key] = Bytes(repeating: 5, count: length)
      }
      try world.merge(changes, version: 1 + merge % load.versions)
      if merge % 10 != 0 { continue }
      let report = TreeCheck.run(try world.tree(), sizes: load.sizes)
      #expect(report.faults.isEmpty)
      if merge > 0 { fills.append(report.leafFill) }
      #expect(report.entryCount == world.model.count)
    }
    #expect(fills.reduce(0, +) / Double(fills.count) >= load.meanFill - Self.slack)
  }

  @Test func `outliers among keys that begin alike leave no crumbs`() throws {
    var random = SplitMix64(seed: 9)
    var world = TreeWorld(on: InMemoryFileSystem())
    let prefix = Bytes(repeating: 0x61, count: 800)
    for merge in 0..<20 {
      var changes: [Bytes: Bytes?] = [:]
      for _ in 0..<scaled(500, debug: 200) {
        changes[prefix + Self.key(8, using: &random)] = [1, 2, 3]
      }
      changes[[0x62, UInt8(merge)]] = [1]
      changes[[0x60, UInt8(merge)]] = [1]
      try world.merge(changes)
      let report = TreeCheck.run(try world.tree())
      #expect(report.faults.isEmpty)
      if merge > 2 { #expect(report.leafFill > 0.4) }
    }
  }

  private static func key(_ length: Int, using random: inout SplitMix64) -> Bytes {
    let number = random.next()
    return Bytes(repeating: UInt8(number % 3), count: length - 8)
      + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
