/// One committed state of a raw store. Any number of threads may read it.
@_spi(Raw) public final class RawSnapshot: Sendable {
  private let snapshot: Snapshot<PosixFileSystem>

  init(_ snapshot: Snapshot<PosixFileSystem>) {
    self.snapshot = snapshot
  }

  /// The last commit that is in it.
  public var sequence: UInt64 { snapshot.state.sequence }

  /// The number of entries. Constant time.
  public func count(in tree: RawTreeName) -> Int { snapshot.tree(tree.slot).count }

  /// A copy of the value of `key`; nil if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  public func value(for key: RawSpan, in tree: RawTreeName) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try snapshot.tree(tree.slot).copyValue(for: key, to: &value) ? value : nil
  }
}
