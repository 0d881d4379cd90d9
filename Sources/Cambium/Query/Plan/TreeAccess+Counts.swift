extension TreeAccess {
  /// About how many entries a tree has in a range.
  func estimatedCount(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let high = range.high ?? KeyRange.highest
    return try estimatedCount(from: range.low.rawSpan, upTo: high.rawSpan, in: tree)
  }

  /// Returns the number of entries that a tree has in a range.
  ///
  /// - Complexity: O(log count); O(count) for what a transaction that spills has changed.
  func count(of range: KeyRange, in tree: TreeSlot) throws(StoreError) -> Int {
    let end =
      if let high = range.high { try rank(of: high.rawSpan, in: tree) } else {
        try count(in: tree)
      }
    if range.low.isEmpty { return end }
    return max(0, end - (try rank(of: range.low.rawSpan, in: tree)))
  }
}
