/// How far a store has come on its way into a database.
///
///     none ─move─▶ copying ─▶ moved ─follow─▶ following ─finish─▶ finished ─back-out─▶ moved, or abandoned if forced
///                     └──────────┴────────────────┴──back-out──▶ none
package enum MoveStage: String, Sendable, CaseIterable, Encodable {
  /// Rows are copied.
  case copying
  /// The database has one state of the store, with keys, indexes and foreign keys.
  case moved
  /// The database is brought to later states of the store. There are no foreign keys until it is finished.
  case following
  /// Programs use the database, and the store is fenced.
  case finished
  /// Programs use the store again, and the database has changes that the store does not have.
  case abandoned
}
