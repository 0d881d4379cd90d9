import Cambium

/// Cambium's engine as a store that is written to: log, overlay and trees, without a schema.
///
/// - A durable commit returns after its flush, which those of other threads share. A relaxed one returns
///   once it is in the log's buffer.
/// - Loading: one transaction, which sorts operations beyond its budget into runs; the order of arrival makes no
///   difference to the calls.
@safe final class CambiumCommitEngine: CommitEngine, @unchecked Sendable {
  /// Not released: the version in this working copy.
  static let version = "as checked out"

  static func promise(of durability: CommitDurability) -> String {
    switch durability {
    case .durable: "survives a power cut (.durable)"
    case .relaxed: "a crash may undo the last ones, in order (.relaxed)"
    }
  }

  private let path: String
  private let durability: Cambium.Durability
  private var opened: (store: RawStore, tree: RawTreeName)?
  private var written = 0

  init(directory: String, options: CommitOptions) {
    path = directory
    durability =
      switch options.durability {
      case .durable: .durable
      case .relaxed: .relaxed(flushWithin: options.relaxedDelay)
      }
  }

  // MARK: Opening and closing

  func open() throws {
    close()
    let store = try RawStore(at: path)
    opened = (store, try store.tree("entries"))
  }

  func close() {
    guard let opened else { return }
    self.opened = nil
    do {
      try opened.store.close()
    } catch {
      fatalError("\(error)")
    }
    written += opened.store.bytesWritten
  }

  private var current: (store: RawStore, tree: RawTreeName) {
    get throws {
      guard let opened else {
        throw CommitEngineError(engine: .cambium, call: "use", message: "nothing is open")
      }
      return opened
    }
  }

  // MARK: Writing

  func commit(_ entries: EntryList, at positions: Range<Int>, by thread: Int) throws {
    let (store, tree) = try current
    try store.write(durability: durability) { transaction in
      for index in positions {
        try transaction.put(entries.keys[index], entries.values[index], in: tree)
      }
    }
  }

  func load(_ entries: EntryList, arriving order: Arrival) throws {
    let (store, tree) = try current
    try store.write { transaction in
      for index in 0..<entries.count {
        try transaction.put(entries.keys[index], entries.values[index], in: tree)
      }
    }
  }

  func remove(_ keys: ByteList) throws {
    let (store, tree) = try current
    try store.write { transaction in
      for index in 0..<keys.count { try transaction.remove(keys[index], in: tree) }
    }
  }

  func settle() throws {
    try current.store.fold()
  }

  var bytesWritten: Int? { written + (opened?.store.bytesWritten ?? 0) }

  // MARK: Reading

  func count() throws -> Int {
    let (store, tree) = try current
    return try store.snapshot()[tree].count
  }

  func read(_ keys: ByteList) throws -> Digest {
    let (store, name) = try current
    let tree = try store.snapshot()[name]
    var digest = Digest()
    for index in 0..<keys.count {
      if let value = try tree.value(for: keys[index]) {
        digest.add(value)
      } else {
        digest.addMiss()
      }
    }
    return digest
  }
}
