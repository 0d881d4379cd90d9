internal import Cambium

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A value that is another for each thread, for as long as a closure runs there: a message of a test to code that it
/// cannot hand anything.
///
/// `TaskLocal` would be the means, but its synchronous `withValue` crashes at -O in Swift 6.3.1.
package final class PerThread<Value: Sendable>: @unchecked Sendable {
  private let lock = ThreadLock()
  private let standard: Value
  // Under `lock`.
  private var values: [UInt: Value] = [:]

  /// - Parameter standard: The value where no closure runs.
  package init(_ standard: Value) {
    self.standard = standard
  }

  /// The calling thread's value.
  package var value: Value {
    lock.lock()
    defer { lock.unlock() }
    return values[Self.thread] ?? standard
  }

  /// Runs `body` with another value on this thread.
  package func withValue<Result>(_ value: Value, _ body: () throws -> Result) rethrows -> Result {
    let before = exchange(value)
    defer { _ = exchange(before) }
    return try body()
  }

  private func exchange(_ value: Value?) -> Value? {
    lock.lock()
    defer { lock.unlock() }
    let before = values[Self.thread]
    values[Self.thread] = value
    return before
  }

  private static var thread: UInt { UInt(pthread_self()) }
}
