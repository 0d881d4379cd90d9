/// Whose segments can be emptied, slice by slice.
protocol CompactedStore: AnyObject, Sendable {
  /// What its page segments hold; as if no state were kept, if that is asked for.
  func spaceUsage(droppingKept: Bool) throws(StoreError) -> SpaceUsage

  /// Does the next slice of a compaction; nil where there is nothing to gain.
  func compact(_ request: CompactionRequest) throws(StoreError) -> CompactedSlice?
}

extension Engine: CompactedStore {}
