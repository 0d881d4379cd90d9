import Foundation
import Synchronization

@testable import InternalTestSupport

/// Runs a closure on a thread with 512 KiB of stack, as those of Dispatch have.
///
/// Unoptimized code gives each temporary value a place of its own in its frame, and inlines nothing: parsing, checking and
/// running a condition, and releasing one that was made by hand, then take some ten times as much stack for each level. A
/// debug build shows only that nesting is bounded at all; that the bounds fit a small stack is for optimized code to show.
func onSmallStack<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
  let outcome = Outcome<Value>()
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    let result = Result(catching: body)
    outcome.result.withLock { $0 = result }
    end.signal()
  }
  thread.stackSize = scaled(512, debug: 16 << 10) << 10
  thread.start()
  end.wait()
  guard let result = outcome.result.withLock({ $0 }) else { preconditionFailure("it never ran") }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}
