// Nothing that outlives the closure can hold on to the transaction.
@_spi(Raw) import Cambium

func capturedByAClosure(_ store: RawStore, _ tree: RawTreeName) throws {
  var later: [() throws -> Int] = []
  try store.write { transaction in  // expected-note {{parameter 'transaction' is declared 'inout'}}
    later.append { try transaction.count(in: tree) }  // expected-error {{escaping closure captures 'inout' parameter 'transaction'}} expected-note {{captured here}}
  }
}
