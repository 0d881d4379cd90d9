import Foundation
import Synchronization

/// Runs a closure on a thread with 512 KiB of stack.
func onSmallStack<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
  let outcome = Outcome<Value>()
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    let result = Result(catching: body)
    outcome.result.withLock { $0 = result }
    end.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  end.wait()
  guard let result = outcome.result.withLock({ $0 }) else { preconditionFailure("it never ran") }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}
