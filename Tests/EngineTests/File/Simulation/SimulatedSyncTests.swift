import Cambium
import TestSupport
import Testing

@testable import InternalTestSupport

struct SimulatedSyncTests {
  let fileSystem = SimulatedFileSystem()

  @Test func `a synced file without a synced name is lost`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try file.sync(at: .test)
    #expect(fileSystem.crashed(.none).names.isEmpty)
    try fileSystem.syncDirectory(at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [1])
  }

  @Test func `a synced name without synced bytes is an empty file`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try fileSystem.syncDirectory(at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [])
    try file.sync(at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [1])
  }

  @Test func `a sync forces its own file only`() throws {
    let one = try fileSystem.create(.pages(1), [1])
    _ = try fileSystem.create(.pages(2), [2])
    try fileSystem.syncDirectory(at: .test)
    try one.sync(at: .test)
    let crashed = fileSystem.crashed(.none)
    #expect(crashed.bytes(of: .pages(1)) == [1])
    #expect(crashed.bytes(of: .pages(2)) == [])
  }

  @Test func `sizes wait for a sync as bytes do`() throws {
    let file = try fileSystem.create(.log(1), [1, 2, 3])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    try file.truncate(to: 5, at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .log(1)) == [1, 2, 3])
    #expect(fileSystem.crashed(.all).bytes(of: .log(1)) == [1, 2, 3, 0, 0])
    try file.truncate(to: 1, at: .test)
    #expect(fileSystem.crashed(.prefix(1)).bytes(of: .log(1)) == [1, 2, 3, 0, 0])
    try file.sync(at: .test)
    #expect(fileSystem.crashed(.none).bytes(of: .log(1)) == [1])
  }

  @Test func `an unlinked file comes back until the directory is synced`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    try fileSystem.unlink(.pages(1), at: .test)
    #expect(fileSystem.names.isEmpty)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [1])
    try fileSystem.syncDirectory(at: .test)
    #expect(fileSystem.crashed(.none).names.isEmpty)
    #expect(try file.contents() == [1])
  }

  @Test func `what survived a crash is there to stay, and is worked on`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try fileSystem.syncDirectory(at: .test)
    var crashed = fileSystem.crashed(.all)
    #expect(crashed.callCount == 0)
    let again = try crashed.open(.pages(1), .readWrite, at: .test)
    try again.write([2], from: 1)
    _ = try crashed.create(.pages(2), [3])
    #expect(try file.contents() == [1])
    crashed = crashed.crashed(.none)
    #expect(crashed.bytes(of: .pages(1)) == [1])
    #expect(crashed.names == [.pages(1)])
  }

  @Test func `a crash frees locks and closes files`() throws {
    let file = try fileSystem.create(.lock)
    try file.lock(at: .test)
    let crashed = fileSystem.crashed(.all)
    #expect(crashed.openFileCount == 0)
    try crashed.open(.lock, .readWrite, at: .test).lock(at: .test)
    withExtendedLifetime(file) {}
  }

  @Test func `a map of a crashed file shows the image, not the file before`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    let mapping = try file.map(capacity: 4096, at: .test)
    try file.write([2], from: 0)
    let crashed = fileSystem.crashed(.none)
    let image = try (crashed.open(.pages(1), .read, at: .test)).map(capacity: 4096, at: .test)
    #expect(mapping.array(0..<1) == [2])
    #expect(image.array(0..<1) == [1])
  }

  @Test func `an ignored sync of a file loses what it should have kept`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try fileSystem.syncDirectory(at: .test)
    fileSystem.ignoreSyncs(at: .pageSync)
    try file.sync(at: .pageSync)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [])
    #expect(fileSystem.callCount(at: .pageSync) == 1)
    try file.sync(at: .segmentHeaderSync)
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [1])
  }

  @Test func `an ignored sync of the directory loses the name`() throws {
    _ = try fileSystem.create(.pages(1))
    fileSystem.ignoreSyncs(at: .segmentDirectorySync)
    try fileSystem.syncDirectory(at: .segmentDirectorySync)
    #expect(fileSystem.crashed(.none).names.isEmpty)
    fileSystem.heal()
    try fileSystem.syncDirectory(at: .segmentDirectorySync)
    #expect(fileSystem.crashed(.none).names == [.pages(1)])
  }

  @Test func `a large file with little in it costs little`() throws {
    let file = try fileSystem.create(.pages(1))
    for offset in [0, 1 << 20, (1 << 30) - 4096] {
      try file.write([UInt8](repeating: 1, count: 4096), from: offset)
    }
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    #expect(fileSystem.diskUsage == 3 * 4096)
    let crashed = fileSystem.crashed(.none)
    #expect(crashed.diskUsage == 3 * 4096)
    let again = try crashed.open(.pages(1), .read, at: .test)
    #expect(try again.size(at: .test) == 1 << 30)
  }
}
