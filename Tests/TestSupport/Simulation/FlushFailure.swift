/// The ways in which a flush goes wrong that were seen on real systems.
package enum FlushFailure: Hashable, Sendable, CaseIterable {
  /// The pending bytes are lost and count as clean; reads continue showing them. (ext4, xfs)
  case errorCacheShowsNew
  /// The pending bytes are lost, and reads show those from before. (btrfs)
  case errorCacheReverts
  /// Nothing is lost: a later flush may well succeed.
  case errorStillDirty
  /// The pending bytes are lost, and only the next sync says so. No engine can keep a commit that
  /// was acknowledged on this one's word through a power cut; it must notice at the next.
  case errorOneCallLate
  /// Lost, and only the caller is told: another file open on the same bytes syncs without an error.
  case errorOnOneDescriptor
}

extension FlushFailure {
  var losesPending: Bool { self != .errorStillDirty }
  var tellsOnlyTheCaller: Bool { self == .errorOnOneDescriptor }
  var isToldLate: Bool { self == .errorOneCallLate }

  /// Sizes are kept apart from bytes, and no cache forgets them.
  func keeps(_ change: PendingChange) -> Bool { change.isResize }
}
