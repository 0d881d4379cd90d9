/// A committed state of a store, as observers compare it with a later one.
protocol ObservedState: AnyObject, Sendable {
  /// The last commit that is in it.
  var sequence: UInt64 { get }
  var trees: TreeAccess { get }
}

/// A store, as observers see it.
protocol ObservedStore: AnyObject, Sendable {
  /// The newest committed state; of a store that was closed, the last.
  ///
  /// - Throws: `.forked`.
  func newestState() throws(StoreError) -> any ObservedState

  /// The last commit that may have been begun by now.
  var begunSequence: UInt64 { get }

  var path: String { get }
}
