import Cambium

extension PostgresError {
  /// True if the transaction may succeed when it is run again: it conflicted with another one.
  var isConflict: Bool {
    // Unique values were looked up before, so another transaction has written them since.
    state == "40001" || state == "40P01" || state == "23505" && isOfOtherTransaction
  }

  /// True unless the row is refused by a condition that only the server knows.
  private var isOfOtherTransaction: Bool {
    // The name of a constraint of another server is in the message alone.
    constraint.map { $0.hasSuffix("_pkey") } ?? message.contains("_pkey\"")
  }

  /// True if its connection is of no use any more: it is lost, or leads to a server that stops, or that is no primary any more, as
  /// may happen after a pooler.
  var isLoss: Bool {
    isOfConnection
      || state.map { state in
        ["08", "57P"].contains { state.hasPrefix($0) } || state == "25006"
      } ?? false
  }

  /// The error as programs see it.
  var ofStore: PostgresStoreError {
    if isLoss { return .connectionLost(message) }
    return .server(
      state: state ?? "", message: state == "23505" ? constraint ?? message : message)
  }
}
