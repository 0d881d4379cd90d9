import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension PersistentStore {
  /// Calls `body` with each state that programs commit from now on, until the command is interrupted.
  ///
  /// - Throws: As `refresh()`; errors of `body`.
  func follow(_ body: (StoreSnapshot) throws -> Void) throws {
    while !Interruption.isRequested {
      StandardOutput.finish()
      usleep(Self.pauseBetweenLooks)
      if try refresh() { try body(try snapshot()) }
    }
  }

  /// In microseconds.
  private static var pauseBetweenLooks: UInt32 { 100_000 }
}
