import Cambium

/// The reason for which a move or a comparison ends early. Its `description` says what to do.
package enum MoveError: Error, Hashable, CustomStringConvertible {
  /// A record that the database cannot hold.
  case impossible(record: String, key: String, field: String?, loss: ValueLoss)
  /// The database has another store.
  case otherStore(found: String)
  /// Another move, or one that follows, is running; described by its connection.
  case running(String)
  /// The store was moved already, and has changed since.
  case isMoved(MoveStage, sequence: UInt64)
  /// The move is finished: programs use the database.
  case finished
  /// The store was used again after the move was finished, while the database had changes of its own.
  case abandoned
  /// The history of the store does not reach back to the commit that the database has.
  case historyExpired(sequence: UInt64, kept: UInt64?)
  /// The database has a commit that the store does not have.
  case storeIsOlder(moved: UInt64, now: UInt64)
  /// The store is written by a process, so that it cannot be fenced.
  case stillWritten(process: Int32?, place: String)
  /// The store says that its records were moved to another place.
  case fencedElsewhere(String)
  /// The database differs from the store.
  case different(Verification)
  /// Objects that the move did not make depend on its tables.
  case dependents(String)
  /// The store has changed since the move began.
  case changed(moved: UInt64, now: UInt64)
  /// The move was begun with other choices, or of another version.
  case otherPlan
  /// The move has not ended.
  case unfinished
  /// There was no move into the database.
  case noMove
  /// The database has another encoding than UTF-8.
  case encoding(String)
  /// The server is too old.
  case oldServer(String)
  /// Records cannot be divided so, or not over these servers.
  case division(String)

  package var description: String {
    switch self {
    case .impossible(let record, let key, let field, let loss):
      "\(record) \(key): \(field.map { "its field \($0)" } ?? "it") \(loss.text). Change the record, and begin again;"
        + " \"plan --scan\" counts all of them."
    case .otherStore(let found):
      "The database has the store \(found). Move this one into a database of its own."
    case .running(let other):
      "Another move into the database is running, or follows the store: \(other). Wait for its end, or end it first."
    case .isMoved(.abandoned, _): MoveError.abandoned.description
    case .isMoved(_, let sequence):
      "The store was moved already; the database has its commit \(sequence). \"follow\" applies the commits since; --restart"
        + " drops the tables that the move made, and begins again."
    case .finished:
      "The move is finished: programs use the tables, and the store is fenced. \"back-out\" takes that back first."
    case .abandoned:
      "The move was backed out of by force, and the database has changes that the store does not have. Begin again with"
        + " \"move --restart\", or drop the tables with \"back-out\"."
    case .historyExpired(let sequence, let kept):
      "The store's history \(kept.map { "begins after commit \($0)" } ?? "is not kept"), and the database has commit"
        + " \(sequence). Open the store with `StoreOptions.history`, for longer than following may be interrupted, and begin"
        + " again with \"move --restart\"."
    case .storeIsOlder(let moved, let now):
      "The database has commit \(moved), and the store only commit \(now): it is an older copy. Use the newer one, or begin"
        + " again with \"move --restart\"."
    case .stillWritten(let process, let place):
      "The store is open for writing\(process.map { " by process \($0)" } ?? ""), so it cannot be fenced. Stop the program, and"
        + " finish again; or have it fence its store, by `store.fence(movedTo: \"\(place)\")`."
    case .fencedElsewhere(let place):
      "The store says that its records were moved to \(place). If that is not so, remove its fence with"
        + " `PersistentStore.liftFence(at:)`."
    case .different(let found):
      "\(found.differenceCount) records differ between the database and the store."
    case .dependents(let message):
      "The tables are not dropped, since others depend on them: \(message). Drop those, or force it."
    case .changed(let moved, let now):
      "The move began with commit \(moved) of the store, which has commit \(now) now. Begin again with --restart, which"
        + " drops the tables that the move made, and stop the program that writes the store meanwhile."
    case .otherPlan:
      "The move began with other options, or with another version of the store. Use the same options, or begin again with"
        + " --restart, which drops the tables that the move made."
    case .unfinished: "The move into the database has not ended. Run \"move\" again first."
    case .noMove: "No store was moved into the database. Run \"move\" first."
    case .encoding(let name):
      "The database has the encoding \(name). Create one with the encoding UTF8."
    case .oldServer(let version):
      "The server is PostgreSQL \(version). At least version 12 is needed."
    case .division(let reason): reason
    }
  }
}
