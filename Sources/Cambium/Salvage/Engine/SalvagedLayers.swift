extension [SalvagedTree] {
  /// The changes of the level over one of these trees.
  func level(over tree: SalvagedTree) -> [SalvagedTree] {
    filter { other in
      LevelLayer.parsing(other.name).map { $0.tree == tree.name && $0.layer != .filter } ?? false
    }
  }
}

/// The entries of a damaged tree with the changes of a damaged level over it, in order.
///
/// Entries that the level has added or replaced count before those of the tree, and entries that it has removed are left out. If loose
/// leaves have a key, the last of them in append order counts: it may be outdated, as the level may have been merged since. Where no leaf
/// of a part of the level is left, the entries of the tree come back that it had replaced or removed. The losses name the part.
struct SalvagedLayers: SortedInput {
  private let sources: [Source]
  /// The one that has the present entry.
  private var present = 0
  private var hasBegun = false

  private final class Source {
    let layer: LevelLayer?
    // One owner on one thread uses them, so accesses cannot overlap.
    @exclusivity(unchecked) private var entries: SalvagedEntries
    @exclusivity(unchecked) private(set) var isOnEntry = true

    init(_ layer: LevelLayer?, _ entries: consuming SalvagedEntries) {
      self.layer = layer
      unsafe self.entries = entries
    }

    func advance() throws(StoreError) {
      if unsafe isOnEntry { unsafe isOnEntry = try unsafe entries.advance() }
    }

    var key: RawSpan {
      @_lifetime(borrow self)
      get { unsafe _overrideLifetime(entries.key, borrowing: self) }
    }

    var value: RawSpan {
      @_lifetime(borrow self)
      get { unsafe _overrideLifetime(entries.value, borrowing: self) }
    }

    var schemaVersion: UInt32 { unsafe entries.schemaVersion }

    /// True if this one counts, and not another that has the same key.
    func counts(before other: Source) -> Bool {
      let (isSure, isOtherSure) = unsafe (
        isOfLevel && !entries.isLoose, other.isOfLevel && !other.entries.isLoose
      )
      if isSure != isOtherSure { return isSure }
      return unsafe other.entries.position < entries.position
    }

    private var isOfLevel: Bool { layer != nil }
  }

  /// - Parameter level: The parts of the level over the tree; empty if there is none.
  init(
    _ tree: SalvagedTree, under level: [SalvagedTree], of pages: PageReader, losses: SalvageLosses
  ) {
    sources = (level + [tree]).map {
      Source(
        LevelLayer.parsing($0.name)?.layer, SalvagedEntries($0, of: pages, losses: losses))
    }
  }

  mutating func advance() throws(StoreError) -> Bool {
    repeat {
      if hasBegun {
        try pass()
      } else {
        for source in sources { try source.advance() }
        hasBegun = true
      }
      guard let next = lowest else { return false }
      present = next
    } while sources[present].layer == .part(.removed)
    return true
  }

  /// Moves all that stand on the present key.
  private func pass() throws(StoreError) {
    let key = keyBytes(present)
    for index in sources.indices where order(index, to: key) == 0 { try sources[index].advance() }
  }

  /// The source with the lowest key; of several, the one that counts.
  private var lowest: Int? {
    var lowest: Int?
    for index in sources.indices {
      guard let other = lowest else {
        if unsafe sources[index].isOnEntry { lowest = index }
        continue
      }
      guard let order = order(index, to: keyBytes(other)) else { continue }
      if order < 0 || order == 0 && sources[index].counts(before: sources[other]) { lowest = index }
    }
    return lowest
  }

  private func keyBytes(_ index: Int) -> [UInt8] {
    let source = sources[index]
    return source.key.array()
  }

  /// How the key of a source compares with another; nil if it stands on none.
  private func order(_ index: Int, to key: [UInt8]) -> Int? {
    let source = sources[index]
    guard unsafe source.isOnEntry else { return nil }
    return Int(source.key.compare(key.rawSpan))
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let source = sources[present]
      return unsafe _overrideLifetime(source.key, borrowing: self)
    }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get {
      let source = sources[present]
      return unsafe _overrideLifetime(source.value, borrowing: self)
    }
  }

  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { sources[present].schemaVersion }
}
