/// One committed state of a store. It does not change for as long as it is held.
///
/// It keeps its segments on disk, and the changes that are in no tree yet in memory. Any number of threads may read it.
public final class StoreSnapshot: RecordReading, Sendable {
  let entities: Entities
  /// The trees of the state.
  let state: SnapshotTrees

  init(_ entities: Entities, _ state: SnapshotTrees) {
    self.entities = entities
    self.state = state
  }

  public func recordReader() -> RecordReader {
    RecordReader(entities: entities, trees: trees)
  }

  var trees: TreeAccess { .state(state) }

  /// Returns a finder of the blobs of old rows, as far as they still exist.
  func oldBlobFinder() throws(StoreError) -> BlobFinder? { trees.oldBlobFinder(entities.blobs) }

  /// The number of the last commit in it. Commits are numbered from 1.
  public var sequence: UInt64 { state.sequence }

  /// The identity of the store.
  var identity: StoreIdentity { state.identity }

  /// The footer of the trees that it reads.
  var footer: Footer { state.footer }

  /// The description of the store's records, in the version that the snapshot has.
  public var schema: Schema { entities.schema }
}
