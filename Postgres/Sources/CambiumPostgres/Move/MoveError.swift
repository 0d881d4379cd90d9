import Cambium

/// The reason for which a move or a comparison ends early. Its `description` says what to do.
package enum MoveError: Error, Hashable, CustomStringConvertible {
  /// A record that the database cannot hold.
  case impossible(record: String, key: String, field: String?, loss: ValueLoss)
  /// The database has another store.
  case otherStore(found: String)
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

  package var description: String {
    switch self {
    case .impossible(let record, let key, let field, let loss):
      "\(record) \(key): \(field.map { "its field \($0)" } ?? "it") \(loss.text). Change the record, and begin again;"
        + " \"plan --scan\" counts all of them."
    case .otherStore(let found):
      "The database has the store \(found). Move this one into a database of its own."
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
    }
  }
}
