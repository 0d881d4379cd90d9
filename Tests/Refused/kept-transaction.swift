// A transaction is lent: it can be neither put aside nor handed out.
@_spi(Raw) import Cambium

func putAside(_ store: RawStore) throws {
  var kept: RawTransaction?
  try store.write { transaction in  // expected-error {{missing reinitialization of inout parameter 'transaction' after consume}}
    kept = consume transaction  // expected-note {{consumed here}}
  }
  _ = consume kept
}

func handedOut(_ store: RawStore) throws {
  let kept = try store.write { transaction in  // expected-error {{missing reinitialization of inout parameter 'transaction' after consume}}
    return transaction  // expected-note {{consumed here}}
  }
  _ = consume kept
}

func handedOutOfASavepoint(_ store: RawStore) throws {
  try store.write { transaction in
    let kept = try transaction.savepoint { inner in  // expected-error {{missing reinitialization of inout parameter 'inner' after consume}}
      return inner  // expected-note {{consumed here}}
    }
    _ = consume kept
  }
}
