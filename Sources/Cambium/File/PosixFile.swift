internal import Synchronization

/// An open file of the operating system.
package final class PosixFile: Sendable {
  let descriptor: Syscall.Descriptor
  /// For messages; a rename does not change it.
  let path: String
  /// Asked to write past the page cache. Whether it still does, the kernel knows.
  let isDirect: Bool
  private let forks = ForkGuard()
  private let hasLock = Atomic(false)

  /// Takes over the descriptor.
  init(_ descriptor: Syscall.Descriptor, path: String, isDirect: Bool) {
    self.descriptor = descriptor
    self.path = path
    self.isDirect = isDirect
  }

  /// Remembers that a lock was taken.
  func noteLock() {
    hasLock.store(true, ordering: .relaxed)
  }

  /// Closing gives a lock back only with the last descriptor of the description, and a forked child has
  /// one too. So the parent gives it back in so many words, and a child never.
  deinit {
    if hasLock.load(ordering: .relaxed), !forks.isForked {
      Syscall.unlock(descriptor)
      Syscall.unlockDirectory(descriptor)
    }
    Syscall.close(descriptor)
  }
}
