// A store whose records were moved elsewhere is fenced: it can be read, and nothing writes it any more. The mark is a value
// among the metadata. Opening for writing reads it before anything is written; a store that is open is fenced by its own
// process, so that commits compare nothing but the state of the engine, as they do anyway.

extension PersistentStore {
  /// Ends writing for good, because the records are elsewhere from now on: every later write, and every opening for
  /// writing, throws `StoreError.moved`, which says where. The store can still be read.
  ///
  /// ```swift
  /// try store.fence(movedTo: "postgres://db/orders")
  /// ```
  ///
  /// Transactions that have begun before are committed first. When this returns, the mark is on the disk, as the last commit
  /// of the store. `liftFence(at:options:)` removes it.
  ///
  /// - Parameter place: The place of the records, for the error. Do not put a password into it.
  /// - Throws: `StoreError.moved` if the store is fenced already; `.limitExceeded`, `.full`, `.io`, `.corrupt`, `.readOnly`,
  ///   `.reentrant`, `.closed`, `.forked`, `.poisoned`: the store is not fenced. `.outcomeUnknown`: the next opening decides.
  public func fence(movedTo place: String) throws(StoreError) {
    let engine = try backend.writingEngine()
    do throws(StoreError) {
      try commit { trees throws(StoreError) in
        try Fence.put(place, into: trees, backend.names)
        // With the writer's turn: no transaction comes between the mark and this.
        engine.fence(.moved(path: path, to: place))
      }
    } catch {
      engine.liftFence()
      throw error
    }
  }

  /// Fences the store at `path`, which must not be open for writing: see `fence(movedTo:)`.
  ///
  /// ```swift
  /// try PersistentStore.fence(at: "orders.cambium", movedTo: "postgres://db/orders")
  /// ```
  ///
  /// A history that the store keeps is continued: the mark is a commit in it, without changes.
  ///
  /// - Throws: As `fence(movedTo:)`; `StoreError.locked` if it is open for writing, `.unknownRecord` if it has no model yet,
  ///   `.missing`, `.newerFormat`, `.networkFileSystem`.
  package static func fence(
    at path: String, movedTo place: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let store = try Fence.open(path, options)
    if let other = try store.snapshot().movedTo {
      try? store.close()
      throw .moved(path: path, to: other)
    }
    try store.closing { store throws(StoreError) in try store.fence(movedTo: place) }
  }

  /// Removes the fence of the store at `path`, so that it can be written again. Does nothing if it has none.
  ///
  /// ```swift
  /// try PersistentStore.liftFence(at: "orders.cambium")
  /// ```
  ///
  /// - Returns: The place to which the records were said to be moved; nil if the store was not fenced.
  /// - Throws: `StoreError.locked` if the store is open for writing, `.unknownRecord`, `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.full`, `.io`: the fence stays. `.outcomeUnknown`.
  @discardableResult
  public static func liftFence(
    at path: String, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> String? {
    let store = try Fence.open(path, options)
    var place: String?
    try store.closing { store throws(StoreError) in
      place = try store.snapshot().movedTo
      if place == nil { return }
      try store.commit { trees throws(StoreError) in
        try Fence.remove(from: trees, store.backend.names)
      }
    }
    return place
  }

  /// Runs `body`, and closes the store.
  private func closing(
    _ body: (PersistentStore) throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) {
      try body(self)
    } catch {
      try? close()
      throw error
    }
    try close()
  }
}

extension StoreSnapshot {
  /// The place to which the records were moved, if the store is fenced: see `PersistentStore.fence(movedTo:)`; nil if it is
  /// not.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`.
  package var movedTo: String? {
    get throws(StoreError) { try Fence.place(in: trees, entities.metadata) }
  }
}

/// The mark of a fenced store.
enum Fence {
  /// The name of the mark among the metadata, whose value is the place.
  static let name = "cambium.moved"
  private static var key: [UInt8] { Array(name.utf8) }

  static func place(in trees: TreeAccess, _ metadata: TreeSlot) throws(StoreError) -> String? {
    var bytes: [UInt8] = []
    let key = key
    guard try trees.copyValue(of: key.rawSpan, in: metadata, to: &bytes) else { return nil }
    do {
      return try JSONCodec().decode(String.self, from: bytes)
    } catch {
      throw .corrupt(
        .entry(tree: Entities.metadataName, key: key), invariant: .metadata,
        reason: "it is not the place to which records were moved")
    }
  }

  static func put(
    _ place: String, into trees: TransactionTrees, _ names: TreeNames
  ) throws(StoreError) {
    let (key, bytes) = (key, Array("\(JSONValue.string(place))".utf8))
    try trees.put(key.rawSpan, bytes.rawSpan, in: try names.slot(of: Entities.metadataName))
  }

  static func remove(from trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    let key = key
    _ = try trees.remove(key.rawSpan, in: try names.slot(of: Entities.metadataName))
  }

  /// Opens a store for writing, fenced or not, by its own description. A history that it keeps is continued.
  static func open(
    _ path: String, _ options: StoreOptions
  ) throws(StoreError) -> PersistentStore {
    var options = options
    options.access = .writingExisting
    options.expiryInterval = nil
    options.automaticCompaction = nil
    let opened = try StoreOpening.open(untypedAt: path, options, passingFence: true)
    do throws(StoreError) {
      let floor = try HistoryFloor.state(try opened.backend.trees(), opened.entities.history)
      options.history = floor.map { HistoryOptions(keepsOldValues: $0.oldRows != .max) }
    } catch {
      try? opened.backend.close()
      throw error
    }
    return PersistentStore(opened, options)
  }
}

/// Refuses to open a fenced store for writing.
struct FenceCheck: StateCheck {
  let path: String
  /// The check that follows.
  let next: (any StateCheck)?

  func check(_ snapshot: Snapshot, _ names: TreeNames) throws(StoreError) {
    let trees = TreeAccess.state(SnapshotTrees(snapshot))
    if let place = try Fence.place(in: trees, try names.slot(of: Entities.metadataName)) {
      throw .moved(path: path, to: place)
    }
    try next?.check(snapshot, names)
  }
}
