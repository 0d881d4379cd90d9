/// Whether a merge that was to move entries to other pages has moved them all, unchanged.
///
/// It knows nothing of how the merge went. In the new tree, what was not appended is what was adopted: so the rest
/// of the old tree is what was read, and what was appended is what was written. The leaves of both must hold the
/// same entries, and the nodes that were written must be in order.
struct RewriteCheck<Medium: FileSystem> {
  private let old: Tree<Medium>
  private let new: Tree<Medium>
  private let appended: [AppendedBlocks]

  /// - Parameter new: Can be read: what was appended is published, if not yet true.
  init(from old: Tree<Medium>, to new: Tree<Medium>, by appended: [AppendedBlocks]) {
    self.old = old
    self.new = new
    self.appended = appended
  }

  /// - Returns: the number of entries that were written anew.
  /// - Throws: `.corrupt` where entries differ, or the medium does not return what was written; `.io`.
  @discardableResult
  func run(of name: String) throws(StoreError) -> Int {
    var written = WrittenPart(pages: new.pages, appended: appended)
    if let root = new.root {
      try written.visit(root.reference, level: root.level, low: [], high: nil)
    }
    var read = ReadPart(pages: old.pages, adopted: written.adopted)
    if let root = old.root { try read.visit(root.reference, level: root.level) }
    let values = (read.entries.values, written.entries.values)
    try read.entries.addValues(but: values.1, from: old.pages)
    try written.entries.addValues(but: values.0, from: new.pages)
    guard old.count == new.count, read.entries.fingerprint == written.entries.fingerprint else {
      throw .corrupt(
        .entry(tree: name, key: []), invariant: .compactedEntries,
        reason: "\(read.entries.fingerprint.count) entries were read to be moved, and"
          + " \(written.entries.fingerprint.count) written, not the same")
    }
    return written.entries.fingerprint.count
  }
}

// MARK: - The leaves that were written

private struct WrittenPart<Medium: FileSystem>: ~Copyable {
  let pages: PageReader<Medium>
  let appended: [AppendedBlocks]
  var entries = LeafEntries<Medium>()
  /// Where the subtrees are that were taken over.
  private(set) var adopted: Set<PagePosition> = []

  mutating func visit(
    _ reference: PageReference, level: UInt8, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    guard isAppended(reference.position) else {
      adopted.insert(reference.position)
      return
    }
    if level == 0 {
      let page = try pages.page(reference, level: 0, as: LeafPage.self)
      try checkBounds(of: Node(page.bytes), reference, low, high)
      return entries.add(page)
    }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low, high)
    for index in 0..<node.childCount {
      let childLow = index == 0 ? low : node.key(index - 1)
      let childHigh = index == node.count ? high : node.key(index)
      try visit(node.child(index), level: level - 1, low: childLow, high: childHigh)
    }
  }

  private func isAppended(_ position: PagePosition) -> Bool {
    appended.contains {
      $0.number == position.segment && $0.blocks.contains(position.block)
    }
  }

  private func checkBounds(
    of node: borrowing Node, _ reference: PageReference, _ low: [UInt8], _ high: [UInt8]?
  ) throws(StoreError) {
    guard node.isWithin(low, high) else {
      throw reference.fault(.separators, "its keys are not between the separators beside it")
    }
  }
}

// MARK: - The leaves that were read

private struct ReadPart<Medium: FileSystem>: ~Copyable {
  let pages: PageReader<Medium>
  let adopted: Set<PagePosition>
  var entries = LeafEntries<Medium>()

  mutating func visit(_ reference: PageReference, level: UInt8) throws(StoreError) {
    if adopted.contains(reference.position) { return }
    if level == 0 {
      let page = try pages.page(reference, level: 0, as: LeafPage.self)
      return entries.add(page)
    }
    let page = try pages.page(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    for index in 0..<node.childCount { try visit(node.child(index), level: level - 1) }
  }
}

// MARK: -

/// What leaves hold, added up.
private struct LeafEntries<Medium: FileSystem>: ~Copyable {
  private(set) var fingerprint = EntryFingerprint()
  /// Entries whose values have pages of their own. Those that both sides have need not be read.
  private(set) var values: Set<ExternalEntry> = []
  private let buffer = KeyBuffer()

  mutating func add(_ page: Page) {
    let node = Node(page.bytes)
    buffer.begin(page, node.layout)
    for slot in 0..<node.count {
      let parts = node.parts(slot)
      var hash = EntryHash(schemaVersion: node.schemaVersion)
      hash.append(buffer.key(parts, prefixLength: node.prefixLength, of: page))
      let value = page.bytes.extracting(parts.value)
      if node.isExternal(slot) {
        values.insert(
          ExternalEntry(hash: hash, pages: PageReference(decoding: value, at: 0)))
      } else {
        hash.append(value)
        fingerprint.add(hash)
      }
    }
  }

  /// Adds the values that are not in the same pages on the other side, and of the others the keys.
  mutating func addValues(
    but shared: Set<ExternalEntry>, from pages: PageReader<Medium>
  ) throws(StoreError) {
    var value: [UInt8] = []
    // In the order of their places, in which they were written.
    for entry in values.sorted(by: { $0.pages.position < $1.pages.position }) {
      var hash = entry.hash
      if !shared.contains(entry) {
        value.removeAll(keepingCapacity: true)
        try pages.appendLargeValue(entry.pages, to: &value)
        hash.append(value.rawSpan)
      }
      fingerprint.add(hash)
    }
  }
}

/// An entry whose value has pages of its own: the hash of its key, and where they are.
private struct ExternalEntry: Hashable {
  let hash: EntryHash
  let pages: PageReference
}
