/// One ordered map of bytes in a page file, with no log, no schema and no transactions.
///
/// The ground floor of the library, for benchmarks and tests. Programs use a store of records.
package final class RawTree: Sendable {
  private let tree: Tree

  /// Opens the tree that `RawTreeWriter.finish` returned a reference to.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  package init(
    at path: String, _ reference: RawTreeReference, reading mode: ReadMode = .mapped
  ) throws(StoreError) {
    let file = try PageFile(
      opening: reference.footer, in: try PosixFileSystem(at: path), reading: mode)
    tree = Tree(pages: file.pages, root: file.footer.trees.first?.root)
  }

  /// The number of entries. Constant time.
  package var count: Int { tree.count }

  /// The value of `key`, in place; nil if there is none, or if it has pages of its own.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  package func value(for key: RawSpan) throws(StoreError) -> RawSpan? {
    guard let entry = try tree.entry(for: key), !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }

  /// A cursor that stands nowhere yet.
  package func cursor() -> RawCursor { RawCursor(Cursor(tree)) }

  /// Room for lookups of several keys at once.
  package func batch() -> RawBatch { RawBatch(tree) }
}

/// The place of a raw tree's footer, which opens it.
package struct RawTreeReference: Hashable, Sendable {
  let footer: FooterReference
}

/// A place in a raw tree.
///
/// A class, because a caller in another module moves a noncopyable struct of this size to and fro for
/// every call, which doubled the time of a scan.
package final class RawCursor {
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var cursor: Cursor

  init(_ cursor: consuming Cursor) {
    unsafe self.cursor = cursor
  }

  /// Goes to the first entry; false if there is none.
  package func first() throws(StoreError) -> Bool { try unsafe cursor.first() }

  /// Goes to the first entry not below `key`; false if there is none.
  package func seek(to key: RawSpan) throws(StoreError) -> Bool { try unsafe cursor.seek(to: key) }

  /// Moves on; false after the last entry.
  package func next() throws(StoreError) -> Bool { try unsafe cursor.next() }

  /// The key of the entry, until the cursor moves.
  package var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  /// The value of the entry in its leaf, until the cursor moves.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }
}

/// Keys to look up at once, and the entries found.
package final class RawBatch {
  private let tree: Tree
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys = KeyBatch()
  @exclusivity(unchecked) private var entries: [LeafEntry?] = []

  init(_ tree: Tree) {
    self.tree = tree
  }

  package func removeAll() { unsafe keys.removeAll() }
  package func append(_ key: RawSpan) { unsafe keys.append(key) }

  /// Looks up all keys that were appended.
  package func find() throws(StoreError) { try unsafe tree.find(keys, to: &entries) }

  /// The value of key `index`, in place; nil if there is none, or if it has pages of its own.
  @_lifetime(borrow self)
  package func value(_ index: Int) -> RawSpan? {
    guard let entry = unsafe entries[index], !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }
}

// MARK: - Writing

/// Writes a raw tree from entries that come in ascending order.
package final class RawTreeWriter {
  private let medium: any FileSystem
  private let appender: PageAppender
  private let identity: StoreIdentity
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var builder: TreeBuilder

  /// Begins a tree in a new directory at `path`.
  ///
  /// - Parameter direct: True if pages go past the page cache.
  package init(creatingAt path: String, direct: Bool = true) throws(StoreError) {
    medium = try PosixFileSystem(at: path, creating: true)
    var random = SystemRandomNumberGenerator()
    identity = StoreIdentity(using: &random)
    appender = PageAppender(
      to: medium, of: identity, from: 1, output: direct ? .direct : .buffered)
    unsafe builder = TreeBuilder(appendingTo: appender, base: nil)
  }

  /// Adds an entry; its key is above all before it.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  package func append(_ key: RawSpan, _ value: RawSpan) throws(StoreError) {
    try unsafe builder.append(key, value, schemaVersion: 1)
  }

  /// Entries in any order, to be added at once.
  package func entries() -> RawEntries {
    RawEntries(
      in: RunPlace(of: identity, SpillSupport(segmentNumbers: appender.numbers), in: medium))
  }

  /// Adds all of `entries`, which are above all before them, in the order of their keys. It leaves none after.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  package func append(_ entries: RawEntries) throws(StoreError) {
    var sorted = entries.takeSorted()
    while try sorted.advance() { try unsafe Self.append(sorted, to: &builder) }
  }

  private static func append(
    _ input: borrowing RunMerge, to builder: inout TreeBuilder
  ) throws(StoreError) {
    try builder.append(input.key, input.value, schemaVersion: 1)
  }

  /// Completes the tree; when this returns, it is on the disk.
  package func finish() throws(StoreError) -> RawTreeReference {
    let root = try unsafe builder.finish()
    try appender.sync()
    var footer = Footer(identity: identity)
    footer.trees = [NamedTree(name: "raw", root: root)]
    footer.segments = appender.extents.map {
      SegmentExtent(
        kind: .pages, number: $0.number, end: UInt64($0.endBlock),
        liveBytes: UInt64($0.endBlock) * UInt64(Layout.blockSize))
    }
    return RawTreeReference(footer: try appender.publish(footer))
  }
}
