import Cambium
import TestSupport
import Testing

struct InMemoryFileSystemTests {
  @Test func `a file that outgrows its capacity is full and unchanged`() throws {
    let fileSystem = InMemoryFileSystem(path: "scratch", capacity: 8192)
    let file = try fileSystem.create(.pages(1), [1])
    let full = StoreError.full(path: "scratch/pages-0000000001")
    #expect(throws: full) { try file.write([1, 2], from: 8191) }
    #expect(throws: full) { try file.truncate(to: 8193, at: .test) }
    #expect(throws: StoreError.self) { _ = try file.map(capacity: 8193, at: .test) }
    #expect(try file.contents() == [1])
    try file.write([2], from: 8191)
    #expect(try file.size(at: .test) == 8192)
  }

  @Test func `a map outlives the file and its file system`() throws {
    let mapping = try mapOfFileThatIsGone()
    #expect(mapping.array(0..<3) == [7, 8, 9])
  }

  private func mapOfFileThatIsGone() throws -> FileMapping {
    let fileSystem = InMemoryFileSystem()
    let file = try fileSystem.create(.pages(1), [7, 8, 9])
    try fileSystem.unlink(.pages(1), at: .test)
    return try file.map(capacity: 4096, at: .test)
  }

  @Test func `cutting a file gives its memory back as zeros`() throws {
    let fileSystem = InMemoryFileSystem()
    for size in [0, 1, 4095, 4096, 4097, 12_288] {
      let file = try fileSystem.create(.log(UInt32(size)), [UInt8](repeating: 3, count: 20_000))
      let mapping = try file.map(capacity: 32_768, at: .test)
      try file.truncate(to: size, at: .test)
      try file.truncate(to: 20_000, at: .test)
      let expected =
        [UInt8](repeating: 3, count: size) + [UInt8](repeating: 0, count: 20_000 - size)
      #expect(try file.contents() == expected)
      #expect(mapping.array(0..<20_000) == expected)
    }
  }
}
