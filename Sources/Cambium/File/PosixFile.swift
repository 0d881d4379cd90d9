/// An open file of the operating system.
package final class PosixFile: Sendable {
  let descriptor: Syscall.Descriptor
  /// For messages; a rename does not change it.
  let path: String
  /// Asked to write past the page cache. Whether it still does, the kernel knows.
  let isDirect: Bool

  /// Takes over the descriptor.
  init(_ descriptor: Syscall.Descriptor, path: String, isDirect: Bool) {
    self.descriptor = descriptor
    self.path = path
    self.isDirect = isDirect
  }

  deinit {
    Syscall.close(descriptor)
  }
}
