import Cambium

/// A file of the simulation apart from its name (an inode): the bytes that programs see, those of the disk,
/// and those on the way from one to the other.
///
///     live = shown by reads and maps
///     durable + pending = live, until a flush fails
final class SimulatedContent {
  /// The number of the content that bears the lock on the directory.
  static let directory = -1

  let number: Int
  private(set) var live: SparseBytes
  private(set) var durable: SparseBytes
  private(set) var pending: [PendingChange] = []
  /// The bytes that the disk had in each block before the last write to it that was flushed.
  private(set) var superseded: SparseBytes

  var openFiles: Set<Int> = []
  var lockHolder: Int?
  /// The error of a failed flush is told once to each file that was open then.
  private var owedErrors: Set<Int> = []
  private var mirrors: [Mirror] = []

  init(
    _ number: Int, holding bytes: SparseBytes = SparseBytes(),
    superseded: SparseBytes = SparseBytes()
  ) {
    self.number = number
    live = bytes
    durable = bytes
    self.superseded = superseded
  }
}

// MARK: - Changes

extension SimulatedContent {
  /// - Parameter file: The open file that makes the change.
  func change(_ change: ContentChange, order: Int, by file: Int) {
    live.apply(change)
    pending.append(
      PendingChange(order: order, change: .content(file: number, change), opener: file))
    mirrors.removeAll { $0.memory == nil }
    for mirror in mirrors { mirror.apply(change) }
  }

  /// Replaces the bytes everywhere at once, as damage to the disk would.
  func replace(with bytes: [UInt8]) {
    superseded = durable
    pending = []
    durable = SparseBytes(bytes)
    live = durable
    remirror()
  }

  /// Replaces one block everywhere at once.
  func damage(_ block: Int, _ bytes: [UInt8]) {
    live.write(bytes, from: block * SparseBytes.blockSize)
    durable.write(bytes, from: block * SparseBytes.blockSize)
    remirror()
  }

  var usedBlocks: Int { live.blockCount }

  /// The blocks that writing `range` would take from the disk.
  func neededBlocks(for range: Range<Int>) -> Int {
    live.missingBlocks(in: range)
  }
}

// MARK: - Flushing

extension SimulatedContent {
  /// - Returns: True if the flush succeeded, as far as the open file `file` is told.
  func sync(_ failure: FlushFailure?, by file: Int) -> Bool {
    guard let failure else {
      flush(file)
      return owedErrors.remove(file) == nil
    }
    if failure.losesPending { pending = pending.filter { failure.keeps($0) } }
    if failure == .errorCacheReverts { revert() }
    owedErrors = failure.tellsOnlyTheCaller ? owedErrors : openFiles
    if failure.isToldLate { return true }
    owedErrors.remove(file)
    return false
  }

  /// Flushes the writes of an open file, and with a block of it everything that others wrote there before: the cache
  /// has each block once. Of other blocks a sync says nothing. The size is one for all.
  private func flush(_ file: Int) {
    let blocks = Set(pending.filter { $0.opener == file }.flatMap(\.blocks))
    func isFlushed(_ change: PendingChange) -> Bool {
      change.opener == file || change.isResize || !blocks.isDisjoint(with: change.blocks)
    }
    for change in pending where isFlushed(change) {
      guard case .content(_, let change) = change.change else { continue }
      if case .write(let bytes, let offset) = change {
        superseded.adoptBlocks(of: offset..<offset + bytes.count, from: durable)
      }
      durable.apply(change)
    }
    pending.removeAll(where: isFlushed)
  }

  /// The cache forgets unflushed bytes. Sizes are kept elsewhere and stay.
  private func revert() {
    let size = live.size
    live = durable
    live.resize(to: size)
    remirror()
  }

  /// The cache is read again from the disk, as clean pages may be at any time.
  func dropCache() {
    live = durable
    for change in pending {
      if case .content(_, let change) = change.change { live.apply(change) }
    }
    remirror()
  }

  func close(_ file: Int) {
    openFiles.remove(file)
    owedErrors.remove(file)
    if lockHolder == file { lockHolder = nil }
  }
}

// MARK: - Reading other bytes

extension SimulatedContent {
  /// The bytes that a disk which lost the last write to each block would return.
  func staleBytes(_ range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<live.size)
    var stale = superseded
    for change in pending {
      guard case .content(_, .write(let bytes, let offset)) = change.change else { continue }
      stale.adoptBlocks(of: offset..<offset + bytes.count, from: durable)
    }
    stale.resize(to: max(stale.size, range.upperBound))
    return stale.bytes(range)
  }
}

// MARK: - Maps

extension SimulatedContent {
  func map(capacity: Int) -> Result<FileMapping, SystemErrorCode> {
    AnonymousMemory.reserve(capacity: capacity).map { memory in
      let mirror = Mirror(memory: memory)
      mirror.show(live)
      mirrors.append(mirror)
      return memory.mapping(capacity: capacity)
    }
  }

  private func remirror() {
    for mirror in mirrors { mirror.show(live) }
  }
}
