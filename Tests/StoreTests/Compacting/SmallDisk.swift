import Glibc
import TestSupport

@testable import Cambium

/// A file system of its own in memory, with as much room as it is given. Only root may mount one.
final class SmallDisk {
  private let directory: TemporaryDirectory
  private(set) var kibibytes: Int
  var path: String { directory.path }

  /// - Throws: `.io`, with what the system says.
  init(kibibytes: Int) throws {
    directory = try TemporaryDirectory()
    self.kibibytes = kibibytes
    try mount(flags: 0)
  }

  deinit {
    _ = unsafe umount2(directory.path, Int32(MNT_DETACH))
  }

  /// Gives it more room; what is there stays.
  func grow(kibibytes added: Int) throws {
    kibibytes += added
    try mount(flags: UInt(MS_REMOUNT))
  }

  private func mount(flags: UInt) throws {
    let result = unsafe "size=\(kibibytes)k".withCString { size in
      unsafe Glibc.mount("cambium", directory.path, "tmpfs", flags, size)
    }
    if result != 0 {
      throw StoreError.io(SystemErrorCode(rawValue: errno), operation: "mount", path: path)
    }
  }

  static let isAllowed = (try? SmallDisk(kibibytes: 64)) != nil
}
