import Cambium
import Logging
import Synchronization

/// What was called, in order.
final class Calls: Sendable {
  private let names = Mutex<[String]>([])
  var all: [String] { names.withLock { $0 } }

  func add(_ name: String) { names.withLock { $0.append(name) } }
}

/// A log that adds its messages to what was called.
struct Lines: LogHandler {
  let calls: Calls
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { calls.add(event.message.description) }
}

/// The error of the store with which a closure ends; nil if it ends well, or with another.
func storeError<Result>(_ body: () throws -> Result) -> StoreError? {
  do { _ = try body() } catch { return error as? StoreError }
  return nil
}
