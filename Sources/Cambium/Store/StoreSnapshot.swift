/// One committed state of a store. It does not change for as long as it is held.
///
/// It keeps its segments on disk, and the changes that are in no tree yet in memory. Any number of threads may read it.
public final class StoreSnapshot: RecordReading, Sendable {
  let types: RecordTypes
  private let state: StoreState

  enum StoreState: Sendable {
    case posix(SnapshotTrees<PosixFileSystem>)
    case memory(SnapshotTrees<InMemoryFileSystem>)
    /// On a medium of the tests.
    case other(any StateTrees)
  }

  init(_ types: RecordTypes, _ state: StoreState) {
    self.types = types
    self.state = state
  }

  public func recordReader() -> RecordReader {
    RecordReader(types: types, trees: trees)
  }

  var trees: TreeAccess { state.trees }

  /// Returns a finder of the blobs of old rows, as far as they still exist.
  func oldBlobFinder() throws(StoreError) -> BlobFinder? { trees.oldBlobFinder(types.blobs) }

  /// The number of the last commit in it. Commits are numbered from 1.
  public var sequence: UInt64 { state.any.sequence }

  /// The identity of the store.
  var identity: StoreIdentity { state.any.identity }

  /// The footer of the trees that it reads.
  var footer: Footer { state.any.footer }

  /// The description of the store's records, in the version that the snapshot has.
  public var schema: Schema { types.schema }
}

extension StoreSnapshot.StoreState {
  @inline(__always)
  var trees: TreeAccess {
    switch self {
    case .posix(let trees): .posix(trees)
    case .memory(let trees): .memory(trees)
    case .other(let trees): .other(trees)
    }
  }

  var any: any StateTrees {
    switch self {
    case .posix(let trees): trees
    case .memory(let trees): trees
    case .other(let trees): trees
    }
  }
}
