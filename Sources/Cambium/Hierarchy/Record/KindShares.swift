/// About the share of a record's rows that is of each kind, by which plans estimate references to a kind.
///
/// Rows are sampled when a plan asks for a share first, and again when their number has doubled or halved.
final class KindShares: @unchecked Sendable {
  private struct Sample {
    let rowCount: Int
    /// By the place of the kind.
    let shares: [Double]

    func isNear(_ count: Int) -> Bool { count / 2 <= rowCount && rowCount / 2 <= count }
  }

  /// The most rows of a sample; of so many, all are read.
  static var rowsMax: Int { 256 }

  private let lock = ThreadLock()
  /// Requires: lock.
  private var sample: Sample?

  /// Returns the share of a kind, if it was sampled when there were about as many rows.
  func share(ofKind kind: Int, rowCount: Int) -> Double? {
    lock.lock()
    defer { lock.unlock() }
    guard let sample, sample.isNear(rowCount) else { return nil }
    return sample.shares[kind]
  }

  func keep(_ shares: [Double], rowCount: Int) {
    lock.lock()
    defer { lock.unlock() }
    sample = Sample(rowCount: rowCount, shares: shares)
  }
}

extension Entity {
  /// Returns about the number of rows of a kind.
  ///
  /// - Parameter kind: Its place among the layout's kinds; nil for all rows.
  /// - Complexity: O(1), but for up to 256 rows that are read when the number has doubled or halved since they were read last.
  ///   In a transaction none are read: without a sample, all rows are counted.
  /// - Throws: `.corrupt`, `.io`.
  func estimatedCount(ofKind kind: Int?, in trees: TreeAccess) throws(StoreError) -> Int {
    let rowCount = try trees.estimatedCount(in: rows)
    guard let kind, let kinds = layout.kinds, rowCount > 0 else { return rowCount }
    if let share = kinds.shares.share(ofKind: kind, rowCount: rowCount) {
      return Self.count(share, of: rowCount)
    }
    if trees.isChanging { return rowCount }
    let shares = try sampledShares(kinds, rowCount, in: trees)
    kinds.shares.keep(shares, rowCount: rowCount)
    return Self.count(shares[kind], of: rowCount)
  }

  private static func count(_ share: Double, of rowCount: Int) -> Int {
    max(1, Int((share * Double(rowCount)).rounded()))
  }

  /// Reads all rows, or some at equal distances: kinds may be together in the order of keys.
  private func sampledShares(
    _ kinds: RowKinds, _ rowCount: Int, in trees: TreeAccess
  ) throws(StoreError) -> [Double] {
    var counts = [Int](repeating: 0, count: kinds.all.count)
    let cursor = try trees.cursor(in: rows)
    let wanted = min(rowCount, KindShares.rowsMax)
    var read = 0
    for number in 0..<wanted {
      let isOn =
        wanted == rowCount
        ? try cursor.advance() : try cursor.seek(toOffset: number * rowCount / wanted)
      guard isOn else { break }
      let row = try cursor.value()
      read += 1
      for kind in kinds.all.indices where kinds.has(row, kind: kind, in: layout) {
        counts[kind] += 1
      }
    }
    // A kind that the sample does not have may still have some rows.
    return counts.map { max(Double($0), 0.5) / Double(max(read, 1)) }
  }
}
