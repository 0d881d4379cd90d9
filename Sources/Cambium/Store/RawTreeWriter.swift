/// Writes a raw tree from entries that come in ascending order.
@_spi(Raw) public struct RawTreeWriter: ~Copyable {
  private let appender: PageAppender<PosixFileSystem>
  private let identity: StoreIdentity
  private var builder: TreeBuilder<PosixFileSystem>

  /// Begins a tree in a new directory at `path`.
  ///
  /// - Parameter direct: Whether pages go past the page cache.
  public init(creatingAt path: String, direct: Bool = true) throws(StoreError) {
    var random = SystemRandomNumberGenerator()
    identity = StoreIdentity(using: &random)
    appender = PageAppender(
      to: try PosixFileSystem(at: path, creating: true), of: identity, from: 1,
      output: direct ? .direct : .buffered)
    builder = TreeBuilder(appendingTo: appender, base: nil)
  }

  /// Adds an entry; its key is above all before it.
  ///
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  public mutating func append(_ key: RawSpan, _ value: RawSpan) throws(StoreError) {
    try builder.append(key, value, schemaVersion: 1)
  }

  /// Adds all of `entries`, in the order of their keys.
  public mutating func append(_ entries: consuming RawEntries) throws(StoreError) {
    var sorted = entries.entries.sorted()
    while try sorted.advance() { try Self.append(sorted, to: &builder) }
  }

  private static func append(
    _ input: borrowing SortedEntries, to builder: inout TreeBuilder<PosixFileSystem>
  ) throws(StoreError) {
    try builder.append(input.key, input.value, schemaVersion: 1)
  }

  /// Completes the tree; when this returns, it is on the medium.
  public consuming func finish() throws(StoreError) -> RawTreeReference {
    let root = try builder.finish()
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
@_spi(Raw) public struct RawEntries: ~Copyable {
  var entries = UnsortedEntries()

  public init() {}

  public mutating func append(_ key: RawSpan, _ value: RawSpan) {
    entries.append(key, value)
  }
}
