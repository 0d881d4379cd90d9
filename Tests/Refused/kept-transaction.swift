// A transaction is lent: it can be neither put aside nor handed out.
import Cambium

func putAside(_ store: PersistentStore) throws {
  var kept: WriteTransaction?
  // expected-error@+1 {{missing reinitialization of inout parameter 'transaction'}}
  try store.write { transaction in
    kept = consume transaction  // expected-note {{consumed here}}
  }
  _ = consume kept
}

func handedOut(_ store: PersistentStore) throws {
  // expected-error@+1 {{missing reinitialization of inout parameter 'transaction'}}
  let kept = try store.write { transaction in
    return transaction  // expected-note {{consumed here}}
  }
  _ = consume kept
}

func handedOutOfASavepoint(_ store: PersistentStore) throws {
  try store.write { transaction in
    // expected-error@+1 {{missing reinitialization of inout parameter 'inner'}}
    let kept = try transaction.savepoint { inner in
      return inner  // expected-note {{consumed here}}
    }
    _ = consume kept
  }
}
