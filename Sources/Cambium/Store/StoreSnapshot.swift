/// One committed state of a store, which stays as it is for as long as it is held.
///
/// It keeps its segments on disk and what is in no tree yet in memory. Any number of threads may read it.
public final class StoreSnapshot: RecordReading, Sendable {
  let types: RecordTypes
  /// The trees of the state.
  let state: SnapshotTrees

  init(_ types: RecordTypes, _ state: SnapshotTrees) {
    self.types = types
    self.state = state
  }

  public func recordReader() -> RecordReader {
    RecordReader(types: types, trees: trees)
  }

  var trees: TreeAccess { .state(state) }

  /// What finds the blobs of rows of the past, as far as they are still there.
  func oldBlobFinder() throws(StoreError) -> BlobFinder? { trees.oldBlobFinder(types.blobs) }

  /// The number of the last commit that is in it. Commits are numbered from 1.
  public var sequence: UInt64 { state.sequence }

  /// Of the store that it is of.
  var identity: StoreIdentity { state.identity }

  /// Of the trees that it reads.
  var footer: Footer { state.footer }

  /// How the store's records are described, in the version that the snapshot has.
  public var schema: Schema { types.schema }
}
