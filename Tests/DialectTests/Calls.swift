import Cambium
import Synchronization

/// What was called, in order.
final class Calls: Sendable {
  private let names = Mutex<[String]>([])
  var all: [String] { names.withLock { $0 } }

  func add(_ name: String) { names.withLock { $0.append(name) } }
}

/// The error of the store with which a closure ends; nil if it ends well, or with another.
func storeError<Result>(_ body: () throws -> Result) -> StoreError? {
  do { _ = try body() } catch { return error as? StoreError }
  return nil
}
