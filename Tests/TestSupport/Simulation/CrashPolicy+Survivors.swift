extension CrashPolicy {
  /// The part of `pending`, which is in order, that reaches the disk after all, as changes.
  ///
  /// `oldBytes` says what may lie where a file grew.
  func survivors(
    of pending: [PendingChange], oldBytes: (UInt64) -> [UInt8]
  ) -> [PendingChange.Change] {
    let changes = pending.map(\.change)
    switch self {
    case .none: return []
    case .all: return changes
    case .prefix(let count): return Array(changes.prefix(count))
    case .onlyLast: return changes.suffix(1)
    case .allBut(let number):
      return changes.enumerated().filter { $0.offset != number }.map(\.element)
    case .subset(let seed):
      var generator = SplitMix64(seed: seed)
      return changes.filter { _ in generator.next() & 1 == 0 }
    case .scattered(let unit, let seed):
      var generator = SplitMix64(seed: seed)
      return changes.flatMap { $0.isWrite ? $0.torn(at: unit, using: &generator) : [$0] }
    case .torn(let unit, let seed): return CrashPolicy.torn(changes, at: unit, seed: seed)
    case .cut(let number, let bytes):
      return changes.prefix(number)
        + changes.dropFirst(number).prefix(1).flatMap { $0.cut(to: bytes) }
    case .grownWithZeros: return changes.map { $0.withoutBytes([]) }
    case .grownWithGarbage(let seed):
      let filling = oldBytes(seed)
      return changes.map { $0.withoutBytes(filling) }
    case .spoiled: return changes.flatMap { $0.inBlocks { .spoiled } }
    case .spoiledInPart(let seed):
      var generator = SplitMix64(seed: seed)
      return changes.flatMap {
        $0.inBlocks { BlockFate(rawValue: generator.next() % 3) ?? .written }
      }
    case .truncateLost: return changes.filter { !$0.isResize }
    case .renameLost: return changes.filter { !$0.isRename }
    case .renameWithoutData: return changes.filter(\.isOfDirectory)
    case .unlinkResurrected: return changes.filter { !$0.isUnlink }
    }
  }

  private static func torn(
    _ changes: [PendingChange.Change], at unit: TearUnit, seed: UInt64
  ) -> [PendingChange.Change] {
    var generator = SplitMix64(seed: seed)
    let writes = changes.indices.filter { changes[$0].isWrite }
    guard let torn = writes.randomElement(using: &generator) else { return changes }
    return changes[..<torn] + changes[torn].torn(at: unit, using: &generator)
  }
}

extension PendingChange.Change {
  /// Of a write, its first bytes; a change of another kind is lost whole.
  fileprivate func cut(to count: Int) -> [PendingChange.Change] {
    guard case .content(let file, .write(let bytes, let offset)) = self else { return [] }
    return [.content(file: file, .write(Array(bytes.prefix(count)), from: offset))]
  }

  /// Of a write, some of its units; a change of another kind is lost whole.
  fileprivate func torn(
    at unit: TearUnit, using generator: inout SplitMix64
  ) -> [PendingChange.Change] {
    guard case .content(let file, .write(let bytes, let offset)) = self else { return [] }
    guard let unitSize = unit.size else {
      return cut(to: Int.random(in: 0..<max(1, bytes.count), using: &generator))
    }
    var parts: [PendingChange.Change] = []
    var start = 0
    while start < bytes.count {
      // Units are aligned in the file, not in the write.
      let end = min(bytes.count, start + unitSize - (offset + start) % unitSize)
      if generator.next() & 1 == 0 {
        parts.append(.content(file: file, .write(Array(bytes[start..<end]), from: offset + start)))
      }
      start = end
    }
    return parts
  }

  /// A write in the blocks that it touches, each as `fate` says; a change of another kind as it is.
  fileprivate func inBlocks(_ fate: () -> BlockFate) -> [PendingChange.Change] {
    guard case .content(let file, .write(let bytes, let offset)) = self else { return [self] }
    let range = offset..<offset + bytes.count
    return SparseBytes.blocks(of: range).map { index in
      let start = index * SparseBytes.blockSize
      let part = range.clamped(to: start..<start + SparseBytes.blockSize)
      let change: ContentChange =
        switch fate() {
        case .spoiled: .spoil(block: index, end: part.upperBound)
        case .left: .grow(to: part.upperBound, filling: [])
        case .written:
          .write(
            Array(bytes[part.lowerBound - offset..<part.upperBound - offset]),
            from: part.lowerBound)
        }
      return .content(file: file, change)
    }
  }

  /// A write leaves only the size it gave the file; other changes are as they were.
  fileprivate func withoutBytes(_ filling: [UInt8]) -> PendingChange.Change {
    guard case .content(let file, .write(let bytes, let offset)) = self else { return self }
    return .content(file: file, .grow(to: offset + bytes.count, filling: filling))
  }

  fileprivate var isWrite: Bool {
    if case .content(_, .write) = self { true } else { false }
  }

  fileprivate var isResize: Bool {
    if case .content(_, .resize) = self { true } else { false }
  }

  fileprivate var isOfDirectory: Bool {
    if case .directory = self { true } else { false }
  }

  fileprivate var isRename: Bool {
    if case .directory(.rename) = self { true } else { false }
  }

  fileprivate var isUnlink: Bool {
    if case .directory(.unlink) = self { true } else { false }
  }
}

/// The content of a block that was being written when the power failed.
private enum BlockFate: UInt64 {
  /// Neither the old block nor the new one.
  case spoiled
  /// The old block, in a file that may have grown.
  case left
  /// The new block.
  case written
}

extension TearUnit {
  fileprivate var size: Int? {
    switch self {
    case .byte: nil
    case .sector: 512
    case .block: 4096
    }
  }
}
