internal import CCambium

/// Tells one running thread from another.
package struct ThreadIdentity: Sendable {
  private let thread: UInt

  /// That of the caller.
  package static var current: ThreadIdentity { ThreadIdentity(thread: cambium_current_thread()) }

  /// That of no thread that asks.
  package static var another: ThreadIdentity { ThreadIdentity(thread: 0) }

  package var isCurrent: Bool { thread == cambium_current_thread() }
}
