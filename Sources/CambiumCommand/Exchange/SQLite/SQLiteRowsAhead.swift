import Cambium

/// The rows of a query, which a thread of its own reads and converts while others before them are written.
///
/// Nothing else may use the database before `end()`.
final class SQLiteRowsAhead: @unchecked Sendable {
  private let rows: SQLiteQuery
  private let conversions: [SQLiteConversion]
  private let lock = ThreadLock()
  private let changed: ThreadCondition
  private var thread: BackgroundThread?
  // Under `lock`:
  /// Batches that were read, the first to be taken last.
  private var batches: [[FieldValue]] = []
  private var outcome: Result<Void, any Error>?
  private var isEnded = false
  // Of the caller:
  /// The values of one row after the other.
  private var batch: [FieldValue] = []
  /// The place of the first value of the present row.
  private var start = 0

  /// The number of rows in a batch, so many that handing it over takes no time beside it.
  private static let rowCount = 512
  /// The number of batches that may be ahead.
  private static let batchesMax = 4
  /// The number of rows from which on a thread is worth it.
  static let countMin = 10_000

  /// - Parameter conversions: Those of the columns' values.
  /// - Throws: `StoreError.io` if the system gives out no more threads.
  init(_ rows: SQLiteQuery, _ conversions: [SQLiteConversion]) throws {
    self.rows = rows
    self.conversions = conversions
    changed = ThreadCondition(lock)
    thread = try BackgroundThread(name: "cambium-sqlite") { [self] in
      let outcome = Result { try read() }
      lock.lock()
      self.outcome = outcome
      lock.unlock()
      changed.signal()
    }
  }

  /// Waits until the thread has ended. Rows that it has not read are not read.
  func end() {
    lock.lock()
    isEnded = true
    lock.unlock()
    changed.signal()
    thread?.join()
  }

  private func read() throws {
    var isOn = true
    while isOn {
      var batch: [FieldValue] = []
      batch.reserveCapacity(Self.rowCount * conversions.count)
      for _ in 0..<Self.rowCount {
        isOn = try rows.next()
        guard isOn else { break }
        for column in conversions.indices {
          batch.append(rows.value(column, conversions[column]))
        }
      }
      guard give(batch) else { return }
    }
  }

  /// Hands a batch over, as soon as there is room for it. Returns false if no more are wanted.
  private func give(_ batch: [FieldValue]) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    while batches.count >= Self.batchesMax, !isEnded { changed.wait() }
    batches.insert(batch, at: 0)
    changed.signal()
    return !isEnded
  }

  private func take() throws -> [FieldValue]? {
    lock.lock()
    defer { lock.unlock() }
    while batches.isEmpty, outcome == nil { changed.wait() }
    defer { changed.signal() }
    if let batch = batches.popLast() { return batch }
    try outcome?.get()
    return nil
  }

  /// Goes to the next row. Returns false after the last.
  func next() throws -> Bool {
    start += conversions.count
    while start >= batch.count {
      guard let next = try take() else { return false }
      (batch, start) = (next, 0)
    }
    return true
  }

  /// The value of a column of the present row.
  func value(_ column: Int) -> FieldValue { batch[start + column] }
}
