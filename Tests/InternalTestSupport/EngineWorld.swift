import TestSupport

@testable import Cambium

typealias SimulatedEngine = Engine

/// Options with which little data makes every step of the engine happen.
extension EngineOptions {
  static func small(foldThreshold: Int = 2048) -> EngineOptions {
    var options = EngineOptions()
    options.foldThreshold = foldThreshold
    options.logSize = Bounds(initial: 128 << 10, max: 256 << 10)
    options.readMode = .buffered(cacheSize: 1 << 16)
    options.nodeSizes = NodeSizes(leaf: 256, branch: 320)
    options.segmentBlocks = 129
    return options
  }
}

extension NodeSizes {
  /// The smallest in which every key is less than a third, as those of indexes can be as long as keys get.
  static let forLongKeys = NodeSizes(leaf: 4 << 10, branch: 4 << 10)
}

extension Engine {
  /// Opens the store in `medium`. A seed makes its salts, and its clock starts at the same time at each opening.
  static func open(
    _ medium: any FileSystem, options: EngineOptions = .small(), seed: UInt64 = 1,
    creating: Bool = true
  ) throws(StoreError) -> Engine {
    let salts = Salts(seed: seed)
    let time = Guarded<UInt64>(0)
    let recovered = try Recovery.run(
      in: medium, options: options, creating: creating, makeSalt: { salts.next() },
      clock: {
        time.withLock {
          $0 += 1000
          return $0
        }
      })
    return Engine(recovered, options: options)
  }

  func put(
    _ key: Bytes, _ value: Bytes, in tree: String = "t", _ durability: Durability = .durable
  ) throws {
    let slot = try names.slot(of: tree)
    try write(durability) { transaction in
      try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
    }
  }

  func remove(_ key: Bytes, in tree: String = "t", _ durability: Durability = .durable) throws {
    let slot = try names.slot(of: tree)
    try write(durability) { transaction in _ = try transaction.remove(key.rawSpan, in: slot) }
  }

  func value(_ key: Bytes, in tree: String = "t") throws -> Bytes? {
    var value: Bytes = []
    let tree = try snapshot().tree(names.slot(of: tree))
    return try tree.copyValue(for: key.rawSpan, to: &value) ? value : nil
  }

  /// Freezes the fresh overlay, as closing does, if there is anything in it and nothing is frozen.
  func freezeIfPossible() {
    lock.lock()
    defer { lock.unlock() }
    if working.frozen == nil, !working.fresh.isEmpty { freeze() }
  }
}

extension Engine {
  /// Makes the next footer have pending work.
  func plant(_ work: PendingWork) throws {
    let file = working.base.file
    var footer = file.footer
    footer.pendingWork.append(work)
    working.base = try Base(PageFile(after: file, file.reference, footer), names: names)
  }
}

/// Random numbers that a closure can hand out.
final class Salts: @unchecked Sendable {
  private let lock = ThreadLock()
  private var generator: SplitMix64

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  func next() -> UInt64 {
    lock.lock()
    defer { lock.unlock() }
    return generator.next()
  }
}
