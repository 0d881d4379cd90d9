/// One ordered map of bytes in a page file, with no log, no schema and no transactions.
///
/// The ground floor of the library, open to benchmarks and tools through `@_spi(Raw)`. It promises
/// nothing to stay as it is; programs use a store.
@_spi(Raw) public final class RawTree: Sendable {
  private let tree: Tree

  /// Opens what `RawTreeWriter.finish` returned a reference to.
  ///
  /// - Throws: `.missing`, `.corrupt`, `.newerFormat`, `.io`.
  public init(
    at path: String, _ reference: RawTreeReference, reading mode: ReadMode = .mapped
  ) throws(StoreError) {
    let file = try PageFile(
      opening: reference.footer, in: try PosixFileSystem(at: path), reading: mode)
    tree = Tree(pages: file.pages, root: file.footer.trees.first?.root)
  }

  /// The number of entries. Constant time.
  public var count: Int { tree.count }

  /// The value of `key`, in place; nil if there is none, or if it has pages of its own.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  public func value(for key: RawSpan) throws(StoreError) -> RawSpan? {
    guard let entry = try tree.entry(for: key), !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }

  /// A copy of the value of `key`, wherever it is.
  public func copyValue(for key: RawSpan) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try tree.copyValue(for: key, to: &value) ? value : nil
  }

  /// A cursor that stands nowhere yet.
  public func cursor() -> RawCursor { RawCursor(Cursor(tree)) }

  /// Room for lookups of several keys at once.
  public func batch() -> RawBatch { RawBatch(tree) }

  /// Every fault in the tree's pages, in words.
  public func check() -> [String] { TreeCheck.run(tree).faults.map { "\($0)" } }
}

/// What opens a raw tree: where its footer is.
@_spi(Raw) public struct RawTreeReference: Hashable, Sendable {
  let footer: FooterReference
}

/// A place in a raw tree.
///
/// A class, because a caller in another module moves a noncopyable struct of this size to and fro for
/// every call, which doubled the time of a scan.
@_spi(Raw) public final class RawCursor {
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var cursor: Cursor

  init(_ cursor: consuming Cursor) {
    unsafe self.cursor = cursor
  }

  /// Goes to the first entry; false if there is none.
  public func first() throws(StoreError) -> Bool { try unsafe cursor.first() }

  /// Goes to the first entry not below `key`; false if there is none.
  public func seek(to key: RawSpan) throws(StoreError) -> Bool { try unsafe cursor.seek(to: key) }

  /// Moves on; false behind the last entry.
  public func next() throws(StoreError) -> Bool { try unsafe cursor.next() }

  /// The key of the entry, until the cursor moves.
  public var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  /// The value of the entry in its leaf, until the cursor moves.
  public var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }
}

/// Keys to look up at once, and what was found.
@_spi(Raw) public final class RawBatch {
  private let tree: Tree
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys = KeyBatch()
  @exclusivity(unchecked) private var entries: [LeafEntry?] = []

  init(_ tree: Tree) {
    self.tree = tree
  }

  public func removeAll() { unsafe keys.removeAll() }
  public func append(_ key: RawSpan) { unsafe keys.append(key) }

  /// Looks up all keys that were appended.
  public func find() throws(StoreError) { try unsafe tree.find(keys, to: &entries) }

  /// The value of key `index`, in place; nil if there is none, or if it has pages of its own.
  @_lifetime(borrow self)
  public func value(_ index: Int) -> RawSpan? {
    guard let entry = unsafe entries[index], !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }
}
