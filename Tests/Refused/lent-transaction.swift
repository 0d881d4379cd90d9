// What is meant to compile does.
@_spi(Raw) import Cambium

func count(_ store: RawStore, _ tree: RawTreeName) throws -> Int {
  try store.write { transaction in
    try transaction.savepoint { inner in _ = try inner.count(in: tree) }
    return try transaction.count(in: tree)
  }
}
