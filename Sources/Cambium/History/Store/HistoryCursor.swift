/// A place in a store's history, after one commit. It stays valid across restarts, for as long as the history keeps
/// the commits after it.
public struct HistoryCursor: Hashable, Sendable, Codable, Comparable {
  /// The number of the commit before this place.
  public let sequence: UInt64
  /// Which store it is of.
  private let low: UInt64
  private let high: UInt64

  init(_ sequence: UInt64, of identity: StoreIdentity) {
    self.sequence = sequence
    low = identity.low
    high = identity.high
  }

  func isOf(_ identity: StoreIdentity) -> Bool { low == identity.low && high == identity.high }

  /// Compares places in one store.
  public static func < (one: HistoryCursor, other: HistoryCursor) -> Bool {
    one.sequence < other.sequence
  }
}
