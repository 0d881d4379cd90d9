import Cambium
import TestSupport
import Testing

struct SimulatedFileSystemTests {
  let fileSystem = SimulatedFileSystem()

  @Test func `calls are numbered, and counted by site and kind`() throws {
    let file = try fileSystem.open(.pages(1), .create, at: .segmentCreate)
    let bytes = [UInt8](repeating: 1, count: 5)
    unsafe try file.write(bytes.span.bytes, from: 0, at: .pageWrite)
    unsafe try file.write(bytes.span.bytes, from: 3, at: .pageWrite)
    unsafe try file.write(bytes.span.bytes, from: 0, at: .segmentHeaderWrite)
    try file.sync(at: .pageSync)
    #expect(
      fileSystem.calls == [
        Call(operation: .open, site: .segmentCreate), Call(operation: .write, site: .pageWrite),
        Call(operation: .write, site: .pageWrite),
        Call(operation: .write, site: .segmentHeaderWrite),
        Call(operation: .sync, site: .pageSync),
      ])
    #expect(fileSystem.callCount == 5)
    #expect(fileSystem.callCount(at: .pageWrite) == 2)
    #expect(fileSystem.callCount(of: .write) == 3)
    #expect(fileSystem.bytesWritten == 15)
    #expect(fileSystem.bytesWritten(at: .pageWrite) == 10)
    #expect(fileSystem.bytesWritten(at: .pageRead) == 0)
  }

  @Test func `damage shows in files, maps and images`() throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    try fileSystem.syncDirectory(at: .test)
    let mapping = try file.map(capacity: 3, at: .test)
    fileSystem.flipBit(9, of: .pages(1))
    #expect(try file.contents() == [1, 0, 3])
    #expect(mapping.array(0..<3) == [1, 0, 3])
    #expect(fileSystem.crashed(.none).bytes(of: .pages(1)) == [1, 0, 3])
    fileSystem.replaceBytes(of: .pages(1), with: [4])
    #expect(try file.contents() == [4])
    #expect(mapping.array(0..<3) == [4, 0, 0])
    #expect(fileSystem.bytes(of: .pages(2)) == nil)
  }

  @Test func `a file is open until its last reference goes`() throws {
    var files = [try fileSystem.create(.pages(1)), try fileSystem.create(.pages(2))]
    #expect(fileSystem.openFileCount == 2)
    files.removeLast()
    #expect(fileSystem.openFileCount == 1)
    files.removeLast()
    #expect(fileSystem.openFileCount == 0)
  }

  @Test func `threads may write at once`() async throws {
    let fileSystem = fileSystem
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 as Range<UInt32> {
        group.addTask {
          let file = try fileSystem.create(.pages(number))
          for offset in 0..<100 {
            try file.write([UInt8(number)], from: offset)
            if offset % 10 == 0 { try file.sync(at: .test) }
          }
        }
      }
      try await group.waitForAll()
    }
    // Each opened, wrote nothing, then 100 bytes with 10 syncs in between.
    let expectedCount = 8 * 112
    #expect(fileSystem.callCount == expectedCount)
    for number in 0..<8 as Range<UInt32> {
      let expected = [UInt8](repeating: UInt8(number), count: 100)
      #expect(fileSystem.crashed(.all).bytes(of: .pages(number)) == expected)
    }
  }

  @Test func `a failure prints as one line to paste into a test`() {
    let crash = Replay(
      seed: 7, scenario: "fold twice", call: 12, policy: .torn(at: .sector, seed: 3))
    let crashLine = """
      Replay(seed: 7, scenario: "fold twice", \
      crashes: [.init(call: 12, policy: .torn(at: .sector, seed: 3))])
      """
    #expect(crash.description == crashLine)

    let fault = Replay(
      seed: 1, scenario: "put",
      fault: .init(.errorAfter(bytes: 9, .noSpace), at: .operation(.write, 2), .forGood))
    let faultLine = """
      Replay(seed: 1, scenario: "put", \
      fault: .init(.errorAfter(bytes: 9, .init(rawValue: 28)), at: .operation(.write, 2), .forGood))
      """
    #expect(fault.description == faultLine)

    let flush = Replay.PlannedFault(.flush(.errorStillDirty), at: .site(.pageSync, 0), .once)
    let flushLine = """
      Replay(seed: 0, scenario: "", \
      fault: .init(.flush(.errorStillDirty), at: .site(.pageSync, 0), .once))
      """
    #expect(Replay(seed: 0, scenario: "", fault: flush).description == flushLine)
  }
}
