/// Some of a record's rows, by which plans estimate numbers that no index has: the share of rows that is of a kind, and the share
/// that meets a condition.
struct RowSample: Sendable {
  /// The most rows of a sample; of so many, all are read.
  static var rowsMax: Int { 256 }
  /// The most bytes of a row and its key. Longer ones are left out, so that a sample takes 256 KiB at most.
  static var sizeMax: Int { 1_024 }

  /// The number of rows that the record had.
  let rowCount: Int
  private var rows: [(key: [UInt8], row: [UInt8])] = []

  /// Creates a sample without rows, which knows no shares.
  init(of rowCount: Int) {
    self.rowCount = rowCount
  }

  /// Reads all rows, or some at equal distances: similar ones may be together in the order of keys.
  ///
  /// - Throws: `.corrupt`, `.io`.
  init(of entity: Entity, in trees: TreeAccess, rowCount: Int) throws(StoreError) {
    self.rowCount = rowCount
    let cursor = try trees.cursor(in: entity.rows)
    let wanted = min(rowCount, Self.rowsMax)
    // As a number that no count of a damaged tree overflows.
    let distance = Double(rowCount) / Double(wanted)
    rows.reserveCapacity(wanted)
    for number in 0..<wanted {
      let isOn =
        wanted == rowCount
        ? try cursor.advance() : try cursor.seek(nearOffset: Int(Double(number) * distance))
      guard isOn else { break }
      let row = try cursor.value()
      if cursor.key.byteCount + row.byteCount <= Self.sizeMax {
        rows.append((cursor.key.array(), row.array()))
      }
    }
  }

  /// Returns true if the number of rows has neither doubled nor halved since.
  func isNear(_ count: Int) -> Bool { count / 2 <= rowCount && rowCount / 2 <= count }

  /// Returns about the share of rows that a function accepts, which is above zero; nil if the sample has no rows.
  ///
  /// - Parameter isWanted: Rows for which it throws are not accepted: the query itself says what is damaged, if it reads them.
  /// - Complexity: O(256).
  func share(
    where isWanted: (_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> Bool
  ) -> Double? {
    if rows.isEmpty { return nil }
    var count = 0
    for (key, row) in rows {
      if let isAccepted = try? isWanted(key.rawSpan, row.rawSpan), isAccepted { count += 1 }
    }
    // The rows that are not in the sample may have some.
    return max(Double(count), 0.5) / Double(rows.count)
  }
}

/// The latest sample of a record's rows, once a plan has asked for one. Queries on all threads share it.
final class LatestSample: @unchecked Sendable {
  private let lock = ThreadLock()
  /// Requires: lock.
  private var latest: RowSample?

  /// Returns the sample, if there were about as many rows when it was taken.
  func sample(near rowCount: Int) -> RowSample? {
    lock.lock()
    defer { lock.unlock() }
    guard let latest, latest.isNear(rowCount) else { return nil }
    return latest
  }

  func keep(_ sample: RowSample) {
    lock.lock()
    defer { lock.unlock() }
    latest = sample
  }
}

extension Entity {
  /// Returns a sample of the rows; nil if there are none, and in a transaction if none is kept.
  ///
  /// - Complexity: O(1), but for up to 256 rows that are read when their number has doubled or halved since they were read
  ///   last.
  /// - Throws: `.io`.
  func sample(in trees: TreeAccess) throws(StoreError) -> RowSample? {
    let rowCount = try trees.estimatedCount(in: rows)
    if rowCount <= 0 { return nil }
    if let sample = layout.latestSample.sample(near: rowCount) { return sample }
    if trees.isChanging { return nil }
    let sample = try readSample(rowCount, in: trees)
    layout.latestSample.keep(sample)
    return sample
  }

  /// Reads a sample. A damaged page leaves it empty: it need not be one that the query reads.
  private func readSample(
    _ rowCount: Int, in trees: TreeAccess
  ) throws(StoreError) -> RowSample {
    do throws(StoreError) {
      return try RowSample(of: self, in: trees, rowCount: rowCount)
    } catch {
      switch error {
      case .corrupt, .newerFormat: return RowSample(of: rowCount)
      default: throw error
      }
    }
  }

  /// Returns about the number of rows of a kind.
  ///
  /// - Parameter kind: Its place among the layout's kinds; nil for all rows.
  /// - Complexity: As `sample`. Without a sample, all rows are counted.
  /// - Throws: `.io`.
  func estimatedCount(ofKind kind: Int?, in trees: TreeAccess) throws(StoreError) -> Int {
    let rowCount = try trees.estimatedCount(in: rows)
    let layout = layout
    guard let kind, let kinds = layout.kinds,
      let share = try sample(in: trees)?.share(where: { _, row in
        kinds.has(row, kind: kind, in: layout)
      })
    else { return rowCount }
    return max(1, Int((share * Double(rowCount)).rounded()))
  }
}
