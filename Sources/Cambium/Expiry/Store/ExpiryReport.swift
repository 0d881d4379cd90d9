/// The result of a collection of expired records.
public struct ExpiryReport: Sendable {
  /// The number of expired records that were deleted, without those that delete rules have deleted with them.
  public internal(set) var deleted = 0
  /// The number of expired records that stayed, since a hook or another record has denied their deletion.
  public internal(set) var kept = 0
  /// The first of those that stayed, at most ten.
  public internal(set) var refusals: [Refusal] = []
  /// True if the task was cancelled before all expired records were looked at.
  public internal(set) var isPartial = false

  /// An expired record that stayed.
  public struct Refusal: Sendable {
    /// The stored name of its type.
    public let record: String
    /// Its primary key as text.
    public let key: String
    /// The error of its deletion.
    public let error: any Error
  }
}

extension ExpiryReport: CustomStringConvertible {
  /// The report as a sentence.
  public var description: String {
    let kept = kept == 0 ? "" : "; \(kept) stayed, since their deletion was denied"
    return
      "\(deleted) expired records were deleted\(kept)\(isPartial ? "; there may be more" : "")."
  }
}
