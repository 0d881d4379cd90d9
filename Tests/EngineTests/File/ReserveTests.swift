import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct ReserveTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private var path: String { directory.path + "/RESERVE" }

  /// The bytes that the file takes on the disk, and its size.
  private func sizes() throws -> (allocated: Int, size: Int) {
    var status = stat()
    try #require(unsafe stat(path, &status) == 0)
    return (Int(status.st_blocks) * 512, Int(status.st_size))
  }

  private func reserve() throws -> Reserve {
    Reserve(in: try PosixFileSystem(at: directory.path), atMost: 1 << 20)
  }

  @Test func `the reserve is allocated, and is as large as the store needs it`() throws {
    for (pages, size) in [
      (0, 64 << 10), (64 << 10, 64 << 10), (65 << 10, 128 << 10), (300 << 10, 512 << 10),
      (1 << 20, 1 << 20), (1 << 40, 1 << 20),
    ] {
      let reserve = try reserve()
      reserve.hold(for: pages)
      #expect(try sizes().size == size)
      #expect(try sizes().allocated >= size)
    }
    // That of a store that has become smaller is cut when it is opened.
    try reserve().hold(for: 0)
    #expect(try sizes().size == 64 << 10)
  }

  @Test func `the reserve grows with the store, and is released once`() throws {
    let reserve = try reserve()
    #expect(!reserve.release())
    reserve.hold(for: 0)
    reserve.hold(for: 100 << 10)
    #expect(try sizes().size == 128 << 10)
    // It does not shrink while the store is open.
    reserve.hold(for: 0)
    #expect(try sizes().size == 128 << 10)
    #expect(reserve.release())
    #expect(try sizes().allocated == 0)
    #expect(!reserve.release())
    reserve.hold()
    #expect(try sizes().allocated >= 128 << 10)
  }

  @Test func `a reserve that a copy left sparse is allocated`() throws {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0)
    ftruncate(descriptor, 64 << 10)
    close(descriptor)
    #expect(try sizes().allocated == 0)
    try reserve().hold(for: 0)
    #expect(try sizes().allocated >= 64 << 10)
  }

  @Test func `a reserve that is a link, or has another name, is replaced`() throws {
    let other = directory.path + "/other"
    close(unsafe open(other, O_RDWR | O_CREAT, 0o600))
    for isSymbolic in [false, true] {
      _ = unsafe unlink(path)
      if isSymbolic {
        try #require(unsafe symlink(other, path) == 0)
      } else {
        try #require(unsafe link(other, path) == 0)
      }
      let reserve = try reserve()
      reserve.hold(for: 0)
      #expect(try sizes().allocated >= 64 << 10)
      var status = stat()
      try #require(unsafe stat(other, &status) == 0)
      #expect(status.st_size == 0)
      #expect(reserve.release())
    }
  }

  @Test func `a directory in the place of the reserve, or no space for one, is no error`() throws {
    try #require(unsafe mkdir(path, 0o700) == 0)
    let blocked = try reserve()
    blocked.hold(for: 0)
    #expect(!blocked.release())

    let medium = SimulatedFileSystem()
    medium.limitDisk(to: 12 << 10)
    let reserve = Reserve(in: medium, atMost: 64 << 10)
    reserve.hold(for: 0)
    #expect(medium.diskUsage == 0)
    #expect(!reserve.release())
    // It takes half or a quarter where there is no space for more.
    medium.limitDisk(to: 60 << 10)
    reserve.hold()
    #expect(medium.diskUsage == 32 << 10)
    #expect(reserve.release())
  }

  @Test func `the reserve takes a 64th of a volume at most, and of one too small nothing`() throws {
    #expect(EngineOptions().fitting(volume: nil).reserveSize == 0)
    #expect(EngineOptions().fitting(volume: 1 << 40).reserveSize == 1 << 20)
    #expect(EngineOptions().fitting(volume: 8 << 20).reserveSize == 128 << 10)
    let medium = SimulatedFileSystem()
    Reserve(in: medium, atMost: Reserve.sizeMax(onVolume: (1 << 20) - 1)).hold(for: 1 << 20)
    #expect(medium.names == [])
    Reserve(in: medium, atMost: Reserve.sizeMax(onVolume: 1 << 20)).hold(for: 1 << 20)
    #expect(medium.bytes(of: .reserve)?.count == 16 << 10)
  }
}
