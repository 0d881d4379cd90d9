/// The changes that survive a power cut, of those that no sync had forced to the disk, numbered from 0 in
/// the order in which they were made.
package enum CrashPolicy: Hashable, Sendable {
  case none
  case all
  /// The first `count` changes.
  case prefix(Int)
  case onlyLast
  /// All but the one with this number.
  case allBut(Int)
  /// Each change or not, as the seed has it.
  case subset(seed: UInt64)
  /// All before some write, and of that write only a part. The seed picks both.
  case torn(at: TearUnit, seed: UInt64)
  /// Of every write a part, as the seed has it; all changes of other kinds.
  case scattered(at: TearUnit, seed: UInt64)
  /// All before the change with this number, and of it, if it is a write, only the first `bytes`.
  case cut(change: Int, bytes: Int)
  /// Names and sizes, but no bytes: where files grew, they are zeros.
  case grownWithZeros
  /// Names and sizes, but no bytes: where files grew is what was on the disk before, old pages of
  /// this very store above all.
  case grownWithGarbage(seed: UInt64)
  /// Names and sizes; every block that a write touched, of which the disk may have had a part before, is noise:
  /// neither the old one nor the new one.
  case spoiled
  /// Of every write's blocks each the new one, the old one or neither, as the seed has it; all changes of other kinds.
  case spoiledInPart(seed: UInt64)
  /// All but changes of size.
  case truncateLost
  /// All but renames.
  case renameLost
  /// Names, but neither sizes nor bytes.
  case renameWithoutData
  /// All but unlinks.
  case unlinkResurrected
}

/// The unit that the disk writes whole or not at all.
package enum TearUnit: Hashable, Sendable, CaseIterable {
  /// Bytes from the first on: a prefix of the write survives.
  case byte
  /// Sectors of 512 bytes, in any order: some of them survive.
  case sector
  /// Blocks of 4096 bytes, in any order: some of them survive.
  case block
}

extension TearUnit: CustomDebugStringConvertible {
  /// As one writes it, so that a policy prints as an expression that can be pasted into a test.
  package var debugDescription: String {
    switch self {
    case .byte: ".byte"
    case .sector: ".sector"
    case .block: ".block"
    }
  }
}

extension CrashPolicy {
  /// Every kind of crash once or more, those that pick something at random with seeds from `seed`.
  /// For crashing before every call, where enumerating each policy's choices would be too much.
  package static func sample(seed: UInt64) -> [CrashPolicy] {
    var generator = SplitMix64(seed: seed)
    let tears = TearUnit.allCases.map { CrashPolicy.torn(at: $0, seed: generator.next()) }
    return fixed + tears + [
      .prefix(Int(generator.next() % 8)), .allBut(Int(generator.next() % 8)),
      .subset(seed: generator.next()), .subset(seed: generator.next()),
      .grownWithGarbage(seed: generator.next()), .spoiledInPart(seed: generator.next()),
    ]
  }

  /// Every choice of every policy for `count` pending changes, but for random ones, of which
  /// `count` seeds are tried each. For small worlds.
  package static func every(pending count: Int) -> [CrashPolicy] {
    let indices = 0..<count
    let seeds = indices.map(UInt64.init)
    return fixed + indices.map { .prefix($0) } + indices.map { .allBut($0) }
      + seeds.map { .subset(seed: $0) } + seeds.map { .grownWithGarbage(seed: $0) }
      + seeds.map { .spoiledInPart(seed: $0) }
      + TearUnit.allCases.flatMap { unit in seeds.map { .torn(at: unit, seed: $0) } }
  }

  /// So many different kinds of crash, or all that differ, that a seed picks with their choices: over many
  /// seeds all of them. For `pending` changes; without any there is nothing to lose.
  package static func some(_ count: Int, pending: Int, seed: UInt64) -> [CrashPolicy] {
    if pending == 0 { return [.none] }
    var generator = SplitMix64(seed: seed)
    let all =
      fixed + TearUnit.allCases.map { .torn(at: $0, seed: generator.next()) } + [
        .prefix(Int.random(in: 0..<pending, using: &generator)),
        .allBut(Int.random(in: 0..<pending, using: &generator)),
        .subset(seed: generator.next()), .grownWithGarbage(seed: generator.next()),
        .spoiledInPart(seed: generator.next()),
        .cut(
          change: Int.random(in: 0..<pending, using: &generator),
          bytes: Int.random(in: 0..<4096, using: &generator)),
      ]
    return Array(all.shuffled(using: &generator).prefix(count))
  }

  /// Those that leave nothing to choose.
  private static let fixed: [CrashPolicy] = [
    .none, .all, .onlyLast, .grownWithZeros, .spoiled, .truncateLost, .renameLost,
    .renameWithoutData,
    .unlinkResurrected,
  ]
}
