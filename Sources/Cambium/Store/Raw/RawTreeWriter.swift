/// Writes a raw tree from entries that come in ascending order.
@_spi(Raw) public final class RawTreeWriter {
  private let appender: PageAppender
  private let identity: StoreIdentity
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var builder: TreeBuilder

  /// Begins a tree in a new directory at `path`.
  ///
  /// - Parameter direct: True if pages go past the page cache.
  public init(creatingAt path: String, direct: Bool = true) throws(StoreError) {
    let medium = try PosixFileSystem(at: path, creating: true)
    var random = SystemRandomNumberGenerator()
    identity = StoreIdentity(using: &random)
    appender = PageAppender(
      to: medium, of: identity, from: 1, output: direct ? .direct : .buffered)
    unsafe builder = TreeBuilder(appendingTo: appender, base: nil)
  }

  /// Adds an entry; its key is above all before it.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  public func append(_ key: RawSpan, _ value: RawSpan) throws(StoreError) {
    try unsafe builder.append(key, value, schemaVersion: 1)
  }

  /// Adds all of `entries`, which are above all before them, in the order of their keys. It leaves none
  /// behind.
  public func append(_ entries: RawEntries) throws(StoreError) {
    var sorted = entries.takeSorted()
    while try sorted.advance() { try unsafe Self.append(sorted, to: &builder) }
  }

  private static func append(
    _ input: borrowing SortedEntries, to builder: inout TreeBuilder
  ) throws(StoreError) {
    try builder.append(input.key, input.value, schemaVersion: 1)
  }

  /// Completes the tree; when this returns, it is on the medium.
  public func finish() throws(StoreError) -> RawTreeReference {
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

/// Entries in any order, to be sorted; of those with the same key the last counts.
@_spi(Raw) public final class RawEntries {
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var entries = UnsortedEntries()

  public init() {}

  public func append(_ key: RawSpan, _ value: RawSpan) {
    unsafe entries.append(key, value)
  }

  func takeSorted() -> SortedEntries {
    var taken = UnsortedEntries()
    unsafe swap(&taken, &entries)
    return taken.sorted()
  }
}
