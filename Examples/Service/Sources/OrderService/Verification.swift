import Cambium
import FoundationEssentials

/// Looks for orders that were acknowledged.
enum Verification {
  /// Reads ids from the standard input and fails if one of them is not in the store.
  static func run(_ path: String) throws {
    let store = try PersistentStore(at: path, model: Order.model, migration: .deferred)
    defer { try? store.close() }
    var (found, missing) = (0, 0)
    while let line = readLine() {
      guard let id = UUID(uuidString: line) else { continue }
      if try store.fetch(Order.self, key: id) != nil {
        found += 1
      } else {
        missing += 1
        print("lost: \(id)")
      }
    }
    let faults = try store.snapshot().check()
    print("\(found) acknowledged orders are there, \(missing) are lost; \(faults.count) faults")
    if missing > 0 || !faults.isEmpty { throw Lost() }
  }

  struct Lost: Error {}
}
