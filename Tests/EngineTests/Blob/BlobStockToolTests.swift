import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What the stock `zstd` makes of blobs that were cut out of their segments.
@Suite struct BlobStockToolTests {
  private let directory: TemporaryDirectory
  private let world = BlobWorld(crewSize: 1)

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test(arguments: [0, 1, 300, 4096, 70_000, 256 << 10, 900_000])
  func `it decompresses whole blobs`(length: Int) throws {
    for (name, content) in [("text", Bytes.text(length)), ("noise", Bytes.noise(length))] {
      for compression in [BlobCompression.none, .standard, .zstd(level: 22)] {
        let blob = try world.write(content, compression)
        #expect(try decompress(world.bytes(of: blob.place)) == content, "\(name), \(compression)")
      }
    }
  }

  @Test func `it lists the frames`() throws {
    let blob = try world.write(.text(900_000))
    try write(world.bytes(of: blob.place), to: "blob.zst")
    #expect(run("zstd -l \(directory.path)/blob.zst > \(directory.path)/list") == 0)
    let fields = try String(decoding: contents("list"), as: UTF8.self).split(separator: "\n")[1]
      .split(separator: " ")
    #expect(fields.prefix(2) == ["6", "2"], "six frames, of which two are to be skipped")
  }

  @Test func `the seek table leads to each frame`() throws {
    let content = Bytes.text(900_000)
    let blob = try world.write(content)
    let bytes = try world.bytes(of: blob.place)
    let table = SeekTable(bytes)
    #expect(table.entries.map(\.length) == [262_144, 262_144, 262_144, 900_000 - 3 * 262_144, 0])
    var offset = 0
    for (index, entry) in table.entries.dropLast().enumerated() {
      let frame = Bytes(bytes[offset..<offset + entry.size])
      let start = index * 262_144
      #expect(try decompress(frame) == Bytes(content[start..<start + entry.length]))
      offset += entry.size
    }
    #expect(offset + table.entries[4].size + table.size == bytes.count)
  }

  /// A seek table, read by the words of zstd's seekable format alone.
  private struct SeekTable {
    let entries: [(size: Int, length: Int)]
    let size: Int

    init(_ bytes: Bytes) {
      func word(_ offset: Int) -> Int { Int(bytes.rawSpan.load(offset, as: UInt32.self)) }
      let end = bytes.count
      #expect(word(end - 4) == 0x8f92_eab1)
      #expect(bytes[end - 5] == 0)
      let count = word(end - 9)
      size = 8 + 8 * count + 9
      let start = end - size
      #expect(word(start) == 0x184d_2a5e)
      #expect(word(start + 4) == size - 8)
      entries = (0..<count).map { (word(start + 8 + 8 * $0), word(start + 12 + 8 * $0)) }
    }
  }

  private func decompress(_ bytes: Bytes) throws -> Bytes {
    try write(bytes, to: "in.zst")
    let (source, target) = ("\(directory.path)/in.zst", "\(directory.path)/out")
    try #require(run("zstd -d -q -f \(source) -o \(target)") == 0)
    return try contents("out")
  }

  private func run(_ command: String) -> Int32 { unsafe system(command) }

  private func write(_ bytes: Bytes, to name: String) throws {
    guard let file = unsafe fopen("\(directory.path)/\(name)", "w") else {
      throw Disagreement(description: "\(name) cannot be written")
    }
    defer { unsafe fclose(file) }
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    #expect(count == bytes.count)
  }

  private func contents(_ name: String) throws -> Bytes {
    guard let file = unsafe fopen("\(directory.path)/\(name)", "r") else {
      throw Disagreement(description: "\(name) cannot be read")
    }
    defer { unsafe fclose(file) }
    var bytes = Bytes(repeating: 0, count: 2 << 20)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return Bytes(bytes.prefix(count))
  }
}
