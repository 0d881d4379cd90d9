/// The entries of leaves that were replaced, in the order of their keys: what was written is held against them.
///
/// A run of entries is compared at once where both leaves keep it in the same way, as they mostly do.
struct ReplacedEntries: ~Copyable {
  private let pages: PageReader
  private let tree: String
  private let leaves: [PageReference]
  /// The leaf in which the next entry is, or behind the last.
  private var leaf = 0
  private var slot = 0
  private let keys = EntryKeys()

  init(of leaves: [PageReference], in pages: PageReader, tree: String) {
    self.leaves = leaves
    self.pages = pages
    self.tree = tree
  }

  /// Goes on behind the entries of a leaf that was written and that `newPages` reads: they must be the next.
  ///
  /// - Throws: `.corrupt`, `.io`.
  mutating func match(_ written: Page, of newPages: PageReader) throws(StoreError) {
    let node = Node(written.bytes)
    var newSlot = 0
    while newSlot < node.count {
      guard leaf < leaves.count else {
        throw fault(at: node.key(newSlot), "was written, and not there before")
      }
      let page = try pages.page(leaves[leaf], level: 0, as: LeafPage.self)
      let old = Node(page.bytes)
      let count = min(node.count - newSlot, old.count - slot)
      if !node.hasSameRun(newSlot, as: old, slot, count: count) {
        try matchEach(
          EntryPlace(LeafEntry(page: written, slot: newSlot), newPages),
          EntryPlace(LeafEntry(page: page, slot: slot), pages), count: count)
      }
      newSlot += count
      slot += count
      if slot == old.count {
        leaf += 1
        slot = 0
      }
    }
  }

  /// Throws unless all entries were come by.
  mutating func checkEnd() throws(StoreError) {
    guard leaf < leaves.count else { return }
    let page = try pages.page(leaves[leaf], level: 0, as: LeafPage.self)
    throw fault(at: Node(page.bytes).key(slot), "was there, and not written")
  }
}

// MARK: - One by one

extension ReplacedEntries {
  private mutating func matchEach(
    _ new: EntryPlace, _ old: EntryPlace, count: Int
  ) throws(StoreError) {
    for index in 0..<count {
      let (newEntry, oldEntry) = (new.moved(by: index), old.moved(by: index))
      let hasSameKey = keys.areSame(newEntry.entry, oldEntry.entry)
      if hasSameKey, try newEntry.hasSameValue(as: oldEntry) { continue }
      throw fault(at: oldEntry.key, "is not the one that was written")
    }
  }

  private func fault(at key: [UInt8], _ reason: String) -> StoreError {
    .corrupt(
      .entry(tree: tree, key: key), invariant: .compactedEntries,
      reason: "an entry that was to be moved \(reason)")
  }
}

/// An entry in a leaf, and who reads what it refers to.
private struct EntryPlace {
  let entry: LeafEntry
  let pages: PageReader

  init(_ entry: LeafEntry, _ pages: PageReader) {
    self.entry = entry
    self.pages = pages
  }

  func moved(by count: Int) -> EntryPlace {
    EntryPlace(entry.moved(to: entry.slot + count), pages)
  }

  var key: [UInt8] { Node(entry.page.bytes).key(entry.slot) }

  /// Whether value and version are the same, in whichever pages the value is.
  func hasSameValue(as other: EntryPlace) throws(StoreError) -> Bool {
    guard entry.schemaVersion == other.entry.schemaVersion else { return false }
    if entry.isExternal == other.entry.isExternal,
      entry.storedValue.equals(other.entry.storedValue)
    {
      return true
    }
    if !entry.isExternal, !other.entry.isExternal { return false }
    let value = try value()
    return value == (try other.value())
  }

  private func value() throws(StoreError) -> [UInt8] {
    var value: [UInt8] = []
    try Tree(pages: pages, root: nil).append(entry, to: &value)
    return value
  }
}

/// Room for two keys that are compared.
private struct EntryKeys: ~Copyable {
  private let one = KeyBuffer()
  private let two = KeyBuffer()

  func areSame(_ entry: LeafEntry, _ other: LeafEntry) -> Bool {
    let key = Self.key(of: entry, in: one)
    return key.equals(Self.key(of: other, in: two))
  }

  @_lifetime(borrow buffer)
  private static func key(of entry: LeafEntry, in buffer: borrowing KeyBuffer) -> RawSpan {
    let node = Node(entry.page.bytes)
    buffer.begin(entry.page, node.layout)
    return buffer.key(node.parts(entry.slot), prefixLength: node.prefixLength, of: entry.page)
  }
}

// MARK: - Runs

extension Node {
  /// Whether a leaf's entries from `slot` on are those of another from `otherSlot` on, and both keep them in the
  /// same way. If they do not, the entries may be the same anyway.
  fileprivate func hasSameRun(
    _ slot: Int, as other: borrowing Node, _ otherSlot: Int, count: Int
  ) -> Bool {
    // What is kept elsewhere is not compared here.
    if hasExternals || other.hasExternals { return false }
    guard schemaVersion == other.schemaVersion, prefix.equals(other.prefix),
      hasSameLengths(slot, as: other, otherSlot, count: count)
    else { return false }
    return heads(slot, count).equals(other.heads(otherSlot, count))
      && cells(slot, count).equals(other.cells(otherSlot, count))
  }

  private func hasSameLengths(
    _ slot: Int, as other: borrowing Node, _ otherSlot: Int, count: Int
  ) -> Bool {
    if let even = evenEntries, let otherEven = other.evenEntries {
      return even.width == otherEven.width && even.tailWidth == otherEven.tailWidth
        && even.headLength == otherEven.headLength
    }
    for index in 0..<count {
      let (one, two) = (parts(slot + index), other.parts(otherSlot + index))
      if one.headLength != two.headLength || one.tail.count != two.tail.count
        || one.value.count != two.value.count
      {
        return false
      }
    }
    return true
  }

  @_lifetime(copy self)
  private func heads(_ slot: Int, _ count: Int) -> RawSpan {
    page.part(layout.headsOffset + 8 * slot, 8 * count)
  }

  /// Tails and values, which lie one behind the other.
  @_lifetime(copy self)
  private func cells(_ slot: Int, _ count: Int) -> RawSpan {
    page.part(cellsOffset + cell(slot).start, cellsSize(slot..<slot + count))
  }
}
