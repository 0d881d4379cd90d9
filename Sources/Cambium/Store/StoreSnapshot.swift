/// One committed state of a store, which stays as it is for as long as it is held.
///
/// It keeps its segments on disk and what is in no tree yet in memory. Any number of threads may read it.
public final class StoreSnapshot: RecordReading, Sendable {
  let types: RecordTypes
  private let state: StoreState

  enum StoreState: Sendable {
    case posix(SnapshotTrees<PosixFileSystem>)
    case memory(SnapshotTrees<InMemoryFileSystem>)
  }

  init(_ types: RecordTypes, _ state: StoreState) {
    self.types = types
    self.state = state
  }

  public func recordReader() -> RecordReader {
    RecordReader(types: types, trees: trees)
  }

  var trees: TreeAccess {
    switch state {
    case .posix(let trees): .posix(trees)
    case .memory(let trees): .memory(trees)
    }
  }

  /// The number of the last commit that is in it. Commits are numbered from 1.
  public var sequence: UInt64 {
    switch state {
    case .posix(let trees): trees.sequence
    case .memory(let trees): trees.sequence
    }
  }

  /// Of the store that it is of.
  var identity: StoreIdentity {
    switch state {
    case .posix(let trees): trees.identity
    case .memory(let trees): trees.identity
    }
  }

  /// How the store's records are described, in the version that the snapshot has.
  public var schema: Schema { types.schema }
}
