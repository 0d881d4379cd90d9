import Cambium

/// A value under a lock of the operating system's. ThreadSanitizer knows those; of the standard library's `Mutex`, which
/// waits in the kernel by itself, it reports races.
///
/// Unchecked, as every access is made under `lock`.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = ThreadLock()
  private var value: Value

  package init(_ value: Value) {
    self.value = value
  }

  package func withLock<Result>(
    _ body: (inout Value) throws -> Result
  ) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
