internal import Glibc

/// Tells one running thread from another.
package struct ThreadIdentity: Sendable {
  private let thread: pthread_t

  /// That of the caller.
  package static var current: ThreadIdentity { ThreadIdentity(thread: pthread_self()) }

  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }
}
