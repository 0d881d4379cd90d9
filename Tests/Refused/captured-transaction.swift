// Nothing that outlives the closure can hold on to the transaction.
import Cambium

func capturedByAClosure(_ store: PersistentStore) throws {
  var later: [() throws -> Int] = []
  // expected-note@+1 {{parameter 'transaction' is declared 'inout'}}
  try store.write { transaction in
    // expected-error@+2 {{escaping closure captures 'inout' parameter 'transaction'}}
    // expected-note@+1 {{captured here}}
    later.append { try transaction.count(record: "Item") }
  }
}
