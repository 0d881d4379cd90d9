internal import Synchronization

/// When the snapshots were taken that are held.
///
/// Takes no other lock, so that a snapshot may be released under any.
final class SnapshotAges: Sendable {
  private let moments = Mutex<[ObjectIdentifier: ContinuousClock.Instant]>([:])

  func add(_ snapshot: ObjectIdentifier) {
    let now = ContinuousClock.now
    moments.withLock { $0[snapshot] = now }
  }

  func remove(_ snapshot: ObjectIdentifier) {
    moments.withLock { $0[snapshot] = nil }
  }

  /// The age of the oldest snapshot; nil if there is none.
  ///
  /// - Parameter newest: The snapshot of the present state, which holds nothing that is deleted and does not count.
  /// - Complexity: O(snapshots).
  func oldest(but newest: Snapshot?) -> Duration? {
    let newest = newest.map { ObjectIdentifier($0) }
    let first = moments.withLock { moments in
      moments.lazy.filter { $0.key != newest }.map { $0.value }.min()
    }
    return first.map { ContinuousClock.now - $0 }
  }
}
