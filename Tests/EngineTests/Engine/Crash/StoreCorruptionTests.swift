import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// X6: a small store, closed or not, is damaged in every way, and opened and read each time.
///
/// Every bit is flipped of what is not zeros, and of zeros one in some; files are cut to any length, blocks
/// zeroed, swapped, copied over others, and put back to what they were once. Each time all that is answered is
/// right, and what is not names the damage. A store that was closed never goes back to an older state; of one
/// that was not, only the last commits can pass for torn, where all of
/// their frames are damaged.
@Suite struct StoreCorruptionTests {
  private static let shards = 0..<4
  private static let tally = Tally(parts: 2 * (shards.count + 3))

  @Test(arguments: StoreFixture.Ending.allCases, shards)
  func `every bit flipped is found where it is, or never read`(
    ending: StoreFixture.Ending, shard: Int
  ) throws {
    let sweep = try StoreSweep(ending)
    var findings = Findings()
    for (number, place) in sweep.fixture.places.enumerated() {
      let bits = sweep.bits(of: place).filter { ($0 + number) % Self.shards.count == shard }
      for bit in bits { sweep.flip(bit, of: place, &findings) }
    }
    Self.finish(findings)
  }

  @Test(arguments: StoreFixture.Ending.allCases)
  func `every length a file is cut to opens to the right answers, or not`(
    ending: StoreFixture.Ending
  ) throws {
    let sweep = try StoreSweep(ending)
    var findings = Findings()
    for name in sweep.files {
      sweep.remove(name, &findings)
      for length in sweep.lengths(of: name) { sweep.cut(name, to: length, &findings) }
    }
    Self.finish(findings)
  }

  @Test(arguments: StoreFixture.Ending.allCases)
  func `every block replaced is found where it is, or never read`(
    ending: StoreFixture.Ending
  ) throws {
    let sweep = try StoreSweep(ending)
    let strangers = try StoreFixture(ending, seed: 2).medium.blocks
    var findings = Findings()
    for place in sweep.fixture.places {
      let fillings = [UInt8(0), 0xff].map { Bytes(repeating: $0, count: Layout.blockSize) }
      let older = sweep.fixture.older[place].map(Array.init) ?? []
      for bytes in fillings + older + [strangers[place] ?? []] where !bytes.isEmpty {
        sweep.replace([place: bytes], &findings)
      }
    }
    Self.finish(findings)
  }

  @Test(arguments: StoreFixture.Ending.allCases)
  func `every block in the place of another is found, or never read`(
    ending: StoreFixture.Ending
  ) throws {
    let sweep = try StoreSweep(ending)
    var findings = Findings()
    for target in sweep.fixture.places {
      for source in sweep.fixture.places where source != target {
        guard let moved = sweep.blocks[source], let old = sweep.blocks[target] else { continue }
        if moved == old || (isDebug && (source.block + target.block) % 13 > 0) { continue }
        sweep.replace([target: moved], &findings)
        if source.block < target.block { sweep.replace([target: moved, source: old], &findings) }
      }
    }
    Self.finish(findings)
  }

  private static func finish(_ findings: Findings) {
    for violation in findings.violations.prefix(5) { Issue.record("\(violation)") }
    #expect(findings.violations.isEmpty)
    tally.add(findings) {
      "X6: \($0.count.grouped) damaged stores, \($0.violations.count) violations"
    }
  }
}

#if DEBUG
  private let isDebug = true
#else
  private let isDebug = false
#endif

/// Makes damaged images of a fixture, one after the other.
struct StoreSweep {
  let fixture: StoreFixture
  let blocks: [StoreFixture.Place: Bytes]

  init(_ ending: StoreFixture.Ending, of kind: Content.Kind = .entries) throws {
    fixture = try StoreFixture(ending, of: kind)
    blocks = fixture.medium.blocks
    // Undamaged, all of it is there.
    if let violation = DamagedStore(fixture: fixture).violation(in: fixture.medium.crashed(.none)) {
      throw Disagreement(description: "undamaged: \(violation)")
    }
  }

  var files: [FileName] {
    fixture.medium.names.filter { $0 != .lock }.sorted { "\($0)" < "\($1)" }
  }

  /// All bits near what is not zero, and of the rest one in a prime.
  func bits(of place: StoreFixture.Place) -> [Int] {
    let bytes = blocks[place] ?? []
    let used = bytes.indices.filter { bytes[$0] != 0 }
    var isUsed = [Bool](repeating: false, count: bytes.count)
    for index in used {
      for near in max(0, index - 8)..<min(bytes.count, index + 9) { isUsed[near] = true }
    }
    let usedStride = isDebug ? 499 : 1
    let unusedStride = isDebug ? 9_973 : 97
    return (0..<bytes.count * 8).filter {
      isUsed[$0 / 8] ? $0 % usedStride == 0 : $0 % unusedStride == 0
    }
  }

  /// Those around the ends of blocks, and of the rest one in a prime.
  func lengths(of name: FileName) -> [Int] {
    let size = fixture.medium.bytes(of: name)?.count ?? 0
    let stride = isDebug ? 8_191 : 59
    return (0..<size).filter { length in
      let rest = length % Layout.blockSize
      return length % stride == 0 || rest == 0 || (!isDebug && (rest == 1 || rest == 4_095))
    }
  }

  func flip(_ bit: Int, of place: StoreFixture.Place, _ findings: inout Findings) {
    var bytes = blocks[place] ?? []
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    damage(
      [place: bytes], "bit \(bit) of block \(place.block) of \(place.file)", &findings)
  }

  func replace(_ changes: [StoreFixture.Place: Bytes], _ findings: inout Findings) {
    let names = changes.keys.map { "\($0.file) \($0.block)" }.sorted().joined(separator: ", ")
    damage(changes, "blocks replaced: \(names)", &findings)
  }

  private func damage(
    _ changes: [StoreFixture.Place: Bytes], _ what: @autoclosure () -> String,
    _ findings: inout Findings
  ) {
    let image = fixture.medium.crashed(.none)
    for (place, bytes) in changes { image.damage(place.file, place.block, bytes) }
    var damaged = DamagedStore(fixture: fixture, places: Set(changes.keys))
    damaged.hasLostSalt = changes.contains { place, bytes in
      let before = blocks[place] ?? bytes
      return FrameHeader(decoding: bytes.rawSpan).salt
        != FrameHeader(decoding: before.rawSpan).salt
    }
    note(damaged.violation(in: image), what(), &findings)
  }

  func cut(_ name: FileName, to length: Int, _ findings: inout Findings) {
    let image = fixture.medium.crashed(.none)
    image.replaceBytes(of: name, with: Array((image.bytes(of: name) ?? []).prefix(length)))
    let damaged = DamagedStore(fixture: fixture, file: name)
    note(damaged.violation(in: image), "\(name) cut to \(length)", &findings)
  }

  func remove(_ name: FileName, _ findings: inout Findings) {
    let image = fixture.medium.crashed(.none)
    try? image.unlink(name, at: .test)
    let damaged = DamagedStore(fixture: fixture, file: name)
    note(damaged.violation(in: image), "\(name) removed", &findings)
  }

  private func note(
    _ violation: String?, _ what: @autoclosure () -> String, _ findings: inout Findings
  ) {
    findings.count += 1
    if let violation {
      findings.add(
        "\(violation), \(fixture.ending), \(what())", Replay(seed: 1, scenario: "fixture"))
    }
  }
}
