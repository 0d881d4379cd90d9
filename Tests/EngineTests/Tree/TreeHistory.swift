import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A random life of a tree, all of it decided by a seed.
struct TreeHistory {
  /// What keys look like.
  enum Keys: CaseIterable {
    case numbers, words, deep, mixed
  }

  var sizes = tinyNodes
  var mode = ReadMode.mapped
  var keys = Keys.numbers
  var keySpace: UInt64 = 600
  var mergeCount = 12
  var operationsMax = 60
  var valueLengthMin = 0
  var valueLengthMax = 12
  /// Of a hundred operations, how many remove.
  var removals = 35
  var versions: ClosedRange<UInt32> = 1...1
  var adoptsAll = true
  var segmentBlocks = Layout.segmentBlocksMax
  var goesOn = false

  func run(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes, reading: mode)
    world.segmentBlocks = segmentBlocks
    world.goesOn = goesOn
    for merge in 0..<mergeCount {
      let changes = changes(using: &random)
      let version = UInt32.random(in: versions, using: &random)
      let adoption = adoption(using: &random, in: world)
      do {
        try world.merge(changes, version: version, adoption: adoption)
        let isLast = merge == mergeCount - 1
        if isLast {
          try world.verify(every: 7)
        } else {
          try world.verifyPages(of: world.tree(), SortedModel(world.model))
        }
      } catch {
        throw Disagreement(description: "merge \(merge), \(changes.count) operations: \(error)")
      }
    }
  }

  private func adoption(
    using random: inout SplitMix64, in world: TreeWorld
  ) -> Adoption {
    if adoptsAll { return .all }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .nothing
    case 1: return .outside(segment: UInt32.random(in: 1...world.nextSegment, using: &random))
    default: return .all
    }
  }

  private func changes(using random: inout SplitMix64) -> [Bytes: Bytes?] {
    var changes: [Bytes: Bytes?] = [:]
    if Int.random(in: 0..<20, using: &random) == 0 { return changes }
    // Some merges touch one neighborhood only, and some remove nearly all of it.
    let isLocal = Bool.random(using: &random)
    let low = isLocal ? UInt64.random(in: 0..<keySpace, using: &random) : 0
    let width = isLocal ? max(1, keySpace / 8) : keySpace
    let removals = Int.random(in: 0..<6, using: &random) == 0 ? 100 : removals
    for _ in 0..<Int.random(in: 0...operationsMax, using: &random) {
      let key = key((low + UInt64.random(in: 0..<width, using: &random)) % keySpace)
      if Int.random(in: 0..<100, using: &random) < removals {
        changes[key] = .some(nil)
      } else {
        let length = Int.random(in: valueLengthMin...valueLengthMax, using: &random)
        changes[key] = Bytes(repeating: UInt8.random(in: 0...255, using: &random), count: length)
      }
    }
    return changes
  }

  private func key(_ number: UInt64) -> Bytes {
    let digits = Bytes(String(number).utf8)
    switch keys {
    case .numbers: return [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
    case .words: return digits + Bytes(repeating: 0x77, count: Int(number % 23))
    case .deep: return Bytes(repeating: 0x64, count: 20) + digits
    case .mixed:
      return number % 50 == 0 ? [UInt8(number / 50 & 0xff)] : Bytes("common/".utf8) + digits
    }
  }
}
