#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PersistentStore {
  /// The author of commits that delete expired records, which observers and the history see.
  public static var expiryAuthor: String { "cambium.expiry" }

  /// Deletes the records that have expired, in small transactions between those of others.
  ///
  /// A store that is open for writing does the same in the background, every ``StoreOptions/expiryInterval``. Each record is
  /// deleted as by `delete`: hooks run, delete rules apply, and the record stays if its deletion is denied.
  ///
  /// ```swift
  /// let report = try store.collectExpired()
  /// print("\(report.deleted) sessions have ended")
  /// ```
  ///
  /// - Returns: The numbers of records that were deleted, and that stayed.
  /// - Complexity: A seek in an index for each type with an ``Expiry``, and the deletion of each expired record.
  /// - Throws: As `write`, but for the deletions that are denied. Records that were deleted by then stay deleted.
  @discardableResult
  public func collectExpired() throws -> ExpiryReport {
    try collectExpired(endsWhen: { false })
  }

  /// Deletes the records that have expired, while the task is suspended. If the task is cancelled, it ends after a transaction.
  ///
  /// ```swift
  /// let report = try await store.collectExpired()
  /// ```
  ///
  /// - Returns: The numbers of records that were deleted, and that stayed.
  /// - Complexity: As the synchronous one.
  /// - Throws: As the synchronous one; `CancellationError`.
  @discardableResult
  @concurrent
  public func collectExpired() async throws -> ExpiryReport {
    let report = try await TaskThreads.working.run {
      try collectExpired(endsWhen: { Task.isCancelled })
    }
    if report.isPartial { try Task.checkCancellation() }
    return report
  }

  /// As the public one.
  ///
  /// - Parameter endsWhen: Asked before each transaction; if it returns true, the rest is left.
  func collectExpired(endsWhen isOver: () -> Bool) throws -> ExpiryReport {
    if backend.isReadOnly { throw StoreError.readOnly(path: path) }
    let now = currentDate()
    var report = ExpiryReport()
    for entity in entities.all {
      guard let expiry = entity.record.expiry else { continue }
      let collection = try ExpiryCollection(self, entity, expiry, now)
      try collection.run(&report, endsWhen: isOver)
      if report.isPartial { break }
    }
    return report
  }
}

/// The collection of the expired records of one type.
private struct ExpiryCollection {
  private let store: PersistentStore
  private let entity: Entity
  /// The place of the date among the columns.
  private let column: Int
  /// Records have expired whose date is not later.
  private let limit: Date
  private let found: FoundRecords

  /// The number of records that are deleted in one transaction: few, since others wait for their turn meanwhile.
  private static var sliceCount: Int { 128 }
  private static var refusalsMax: Int { 10 }

  init(
    _ store: PersistentStore, _ entity: Entity, _ expiry: ExpirySchema, _ now: Date
  ) throws(StoreError) {
    self.store = store
    self.entity = entity
    limit = now.addingTimeInterval(-expiry.seconds)
    column = entity.layout.index(number: expiry.field) ?? 0
    let field = entity.layout.columns[column].field.name
    // Of a snapshot, so that records which stay are met once. No budget of the program's queries bounds it.
    let query = FieldQuery(condition: .comparison(field: field, .lessOrEqual, .date(limit)))
    let reader = RecordReader(
      entities: store.entities, trees: .state(try store.backend.snapshot()))
    found = try QueryRunner(entity, in: reader).find(query)
  }

  func run(_ report: inout ExpiryReport, endsWhen isOver: () -> Bool) throws {
    while true {
      var keys: [[UInt8]] = []
      while keys.count < Self.sliceCount, try found.next() { keys.append(found.key.array()) }
      if keys.isEmpty { return }
      report.isPartial = isOver()
      if report.isPartial { return }
      do {
        report.deleted += try delete(keys)
      } catch {
        guard error.deniesDeletion else { throw error }
        try deleteSingly(keys, &report)
      }
    }
  }

  /// Deletes those of some records that can be deleted, each in a transaction of its own.
  private func deleteSingly(_ keys: [[UInt8]], _ report: inout ExpiryReport) throws {
    for key in keys {
      do {
        report.deleted += try delete([key])
      } catch {
        guard error.deniesDeletion else { throw error }
        report.kept += 1
        if report.refusals.count < Self.refusalsMax {
          report.refusals.append(
            .init(
              record: entity.record.name, key: entity.text(ofKey: key.rawSpan), error: error))
        }
      }
    }
  }

  /// Deletes records in one transaction, if they are still expired.
  private func delete(_ keys: [[UInt8]]) throws -> Int {
    try store.write(author: PersistentStore.expiryAuthor) { transaction in
      let writer = transaction.writer
      let expired = try keys.filter { try isExpired($0, in: writer.trees) }
      if writer.hasRules(for: entity) { return try writer.deleteWithHooks(expired, of: entity) }
      var count = 0
      for key in expired where try writer.deleteWithHook(key, of: entity) { count += 1 }
      return count
    }
  }

  /// Returns true unless a record was deleted, or got a later date, since it was found.
  private func isExpired(
    _ key: [UInt8], in trees: TransactionTrees
  ) throws(StoreError) -> Bool {
    var bytes: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: entity.rows, to: &bytes) else { return false }
    let row = try entity.row(key: key.rawSpan, row: bytes.rawSpan)
    guard case .date(let date) = try row.value(column) else { return false }
    return date <= limit
  }
}

extension Error {
  /// True if it is of a record that is to be deleted, not of the store: of a hook, or since others depend on it.
  fileprivate var deniesDeletion: Bool {
    guard let error = self as? StoreError else { return !(self is CancellationError) }
    return switch error {
    case .deleteDenied, .danglingReference, .relationCount, .uniqueConflict, .invalidValue,
      .duplicateKey, .noSuchRecord, .limitExceeded, .unknownRecord, .invalidQuery:
      true
    default: false
    }
  }
}
