/// A disk that a write found full, until one finds space.
struct DiskShortage {
  /// The free space with which a store is not full, whatever was found before.
  private static var enough: Int { 16 << 20 }
  /// How long a failed write stands for a limit that free space does not show, such as the quota of a user.
  private static var memory: Duration { .seconds(10) }

  private let found = ContinuousClock.now

  /// Returns true if the disk counts as full.
  ///
  /// - Parameter free: The bytes that are free now; nil if the system does not say.
  func lasts(_ free: Int?) -> Bool {
    guard let free, free >= Self.enough else { return true }
    return ContinuousClock.now - found < Self.memory
  }
}
