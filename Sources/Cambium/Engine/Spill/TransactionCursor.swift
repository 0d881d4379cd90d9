/// A place in a tree of a transaction that moves from entry to entry, in order and back.
///
/// It stands on an entry or nowhere; it begins nowhere, and a move that finds none, or fails, leaves it
/// nowhere. Each layer stands on its next entry on the way the cursor moves; when that turns, each is sought
/// anew.
///
/// - Complexity: O(layers) comparisons a move.
final class TransactionCursor {
  private let sources: [CursorSource]
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var present: Int?
  @exclusivity(unchecked) private var isForward = true

  /// - Parameter sources: Newest first.
  init(newestFirst sources: [CursorSource]) {
    self.sources = sources
  }

  /// Whether the cursor stands on an entry.
  var isOnEntry: Bool { unsafe present != nil }

  private var source: CursorSource {
    guard let present = unsafe present else {
      preconditionFailure("a cursor has an entry while it stands on one")
    }
    return sources[present]
  }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let source = source
      return unsafe _overrideLifetime(source.keyBytes, borrowing: self)
    }
  }

  var schemaVersion: UInt32 { source.schemaVersion }

  /// Appends the value, wherever it is.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func appendValue(to value: inout [UInt8]) throws(StoreError) {
    try source.appendValue(to: &value)
  }
}

// MARK: - Moving

extension TransactionCursor {
  /// Goes to the first entry. False if there is none.
  func first() throws(StoreError) -> Bool {
    unsafe present = nil
    for source in sources { try source.first() }
    return try settle(isForward: true)
  }

  /// Goes to the last entry. False if there is none.
  func last() throws(StoreError) -> Bool {
    unsafe present = nil
    for source in sources { try source.last() }
    return try settle(isForward: false)
  }

  /// Goes to the first entry whose key is not below `key`. False if there is none.
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    unsafe present = nil
    for source in sources { try source.seek(to: key) }
    return try settle(isForward: true)
  }

  /// Moves to the next entry. False behind the last.
  func next() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    let key = source.key
    unsafe present = nil
    if unsafe !isForward {
      for source in sources { try source.seek(to: key.rawSpan) }
    }
    try pass(key, isForward: true)
    return try settle(isForward: true)
  }

  /// Moves to the entry before. False before the first.
  func previous() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    let key = source.key
    unsafe present = nil
    if unsafe isForward {
      for source in sources {
        try source.seek(to: key.rawSpan)
        if !source.isOnEntry {
          try source.last()
        } else if source.key != key {
          try source.previous()
        }
      }
    }
    try pass(key, isForward: false)
    return try settle(isForward: false)
  }

  /// Moves all that stand on `key`.
  private func pass(_ key: [UInt8], isForward: Bool) throws(StoreError) {
    for source in sources where source.isOnEntry && source.key == key {
      if isForward { try source.next() } else { try source.previous() }
    }
  }

  /// Takes the newest of those whose keys are next, passing what is removed.
  // Inlined, it would be in every function that goes over a tree.
  @inline(never)
  private func settle(isForward: Bool) throws(StoreError) -> Bool {
    unsafe self.isForward = isForward
    while let next = nearest(isForward: isForward) {
      if !sources[next].isRemoval {
        unsafe present = next
        return true
      }
      try pass(sources[next].key, isForward: isForward)
    }
    return false
  }

  private func nearest(isForward: Bool) -> Int? {
    var nearest: Int?
    for (index, source) in sources.enumerated() where source.isOnEntry {
      guard let best = nearest else {
        nearest = index
        continue
      }
      let other = sources[best]
      let order = source.keyBytes.compare(other.keyBytes)
      if isForward ? order < 0 : order > 0 { nearest = index }
    }
    return nearest
  }
}
