/// A bound on the work and memory of each query of a store, for queries whose text comes from outside.
///
/// ```swift
/// var options = StoreOptions()
/// options.queryBudget = QueryBudget(rows: 1_000_000, duration: .seconds(2))
/// ```
///
/// It covers scans, lookups of related records, nested counts, sorts and aggregates. A query that needs more throws
/// `StoreError.queryBudgetExceeded`, and so does one whose task was cancelled.
public struct QueryBudget: Hashable, Sendable {
  /// The highest number of rows and index entries that a query reads, those of related records included.
  package var rows: Int
  /// The longest time from the beginning of a query until its last record is read; nil for any. With a cursor, the time
  /// that passes between its records counts, too.
  package var duration: Duration?

  /// Creates a limit of rows and time; without either, there is none.
  public init(rows: Int = .max, duration: Duration? = nil) {
    self.rows = rows
    self.duration = duration
  }
}

/// Counts the part of its budget that a query uses. One query uses it, on one thread at a time.
final class QueryMeter: @unchecked Sendable {
  private let budget: QueryBudget
  private let start = ContinuousClock.now
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var rows = 0

  init(_ budget: QueryBudget) {
    self.budget = budget
  }

  /// Notes that rows or entries are read.
  ///
  /// - Throws: `.queryBudgetExceeded`.
  func use(_ count: Int = 1) throws(StoreError) {
    let before = unsafe rows
    let (sum, isOver) = before.addingReportingOverflow(count)
    unsafe rows = isOver ? .max : sum
    // The clock takes about as long as a hundred rows.
    if unsafe rows > budget.rows || rows / 256 != before / 256 { try check() }
  }

  /// - Throws: `.queryBudgetExceeded` if too much was used, or the task was cancelled.
  func check() throws(StoreError) {
    let duration = start.duration(to: .now)
    if unsafe rows > budget.rows || budget.duration.map({ duration > $0 }) ?? false
      || Task.isCancelled
    {
      throw unsafe .queryBudgetExceeded(rows: rows, duration: duration)
    }
  }
}
