internal import Glibc

/// Tells one running thread from another.
package struct ThreadIdentity: Sendable {
  private let thread: pthread_t

  /// That of the caller.
  package static var current: ThreadIdentity { ThreadIdentity(thread: pthread_self()) }

  /// That of no thread that asks.
  package static var another: ThreadIdentity { ThreadIdentity(thread: 0) }

  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }
}
