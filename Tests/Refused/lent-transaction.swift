// What is meant to compile does.
import Cambium

func count(_ store: PersistentStore) throws -> Int {
  try store.write { transaction in
    try transaction.savepoint { inner in _ = try inner.count(record: "Item") }
    return try transaction.count(record: "Item")
  }
}
