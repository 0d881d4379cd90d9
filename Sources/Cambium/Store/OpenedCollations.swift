/// The collations that the program has given for an open store.
final class OpenedCollations: Sendable {
  // Set by opening alone, before the backend is shared.
  private nonisolated(unsafe) var provided: [Collation] = []

  var all: [Collation] { unsafe provided }

  func set(_ collations: [Collation]) { unsafe provided = collations }
}
