import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X6 of a store with records: every bit is flipped, and every record and index entry looked for each time.
@Suite struct RecordCorruptionTests {
  private static let shards = 0..<4
  private static let tally = Tally(parts: 2 * (shards.count + 1))

  @Test(arguments: StoreFixture.Ending.allCases, shards)
  func `every bit flipped leaves right records and entries, or names its place`(
    ending: StoreFixture.Ending, shard: Int
  ) throws {
    let sweep = try StoreSweep(ending, of: .records)
    var findings = Findings()
    for (number, place) in sweep.fixture.places.enumerated() {
      let bits = sweep.bits(of: place).filter { ($0 + number) % Self.shards.count == shard }
      // What is in the log as well takes longer to open, so of that one bit in some has to do.
      for bit in bits where ending == .closed || bit % 5 == 0 {
        sweep.flip(bit, of: place, &findings)
      }
    }
    Self.finish(findings)
  }

  @Test(arguments: StoreFixture.Ending.allCases)
  func `every block zeroed or put back leaves right records and entries, or names its place`(
    ending: StoreFixture.Ending
  ) throws {
    let sweep = try StoreSweep(ending, of: .records)
    var findings = Findings()
    for place in sweep.fixture.places {
      let zeros = Bytes(repeating: 0, count: Layout.blockSize)
      for bytes in [zeros] + (sweep.fixture.older[place].map(Array.init) ?? []) {
        sweep.replace([place: bytes], &findings)
      }
    }
    Self.finish(findings)
  }

  private static func finish(_ findings: Findings) {
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    tally.add(findings) {
      "X6 records: \($0.count.grouped) damaged stores, \($0.violations.count) violations"
    }
  }
}
