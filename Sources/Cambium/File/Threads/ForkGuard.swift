internal import CCambium

/// Knows whether the process that asks is still the one that made it.
///
/// A forked child has its parent's memory and open files, but none of its threads; and it shares the
/// descriptions of the files, so a lock does not keep the two apart. Code that must not run in a child
/// asks first, for less than a nanosecond.
package struct ForkGuard: Sendable {
  private let generation = cambium_fork_generation()

  package init() {}

  /// True if this is a forked child, or the child of one.
  ///
  /// Not noticed are children made past the C library's `fork`, by the system call itself.
  @inline(__always)
  package var isForked: Bool { generation != cambium_fork_generation() }
}
