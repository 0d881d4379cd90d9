import FoundationEssentials

@testable import Cambium

/// The files of a closed store, by their names.
struct StoreFiles {
  var contents: [String: [UInt8]] = [:]

  init() {}

  init(at path: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where FileName(name)?.isBesidesContent != true {
      contents[name] = [UInt8](try Data(contentsOf: URL(filePath: path + "/" + name)))
    }
  }

  /// Writes them to a directory that has nothing else in it afterwards.
  func write(to path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in contents {
      try Data(bytes).write(to: URL(filePath: path + "/" + name))
    }
  }
}

// MARK: - Archives

/// As one small file: `tar --zstd -xf store.tar.zst` makes a store of it again.
extension StoreFiles {
  /// More than all that is archived here comes to.
  private static let archiveSizeMax = 16 << 20
  private static let blockSize = 512

  /// - Returns: nil if it is not an archive of files that `archived` made, or another tool alike.
  init?(archive: [UInt8]) {
    guard let size = ZstdFrame.contentLength(of: archive.rawSpan), size <= Self.archiveSizeMax,
      let decompressor = ZstdDecompressor()
    else { return nil }
    var tar = [UInt8](repeating: 0, count: Int(size))
    var span = tar.mutableSpan
    var content = unsafe span.mutableBytes
    guard decompressor.decompress(archive.rawSpan, to: &content) else { return nil }
    var offset = 0
    while offset + Self.blockSize <= tar.count, tar[offset] != 0 {
      let header = Array(tar[offset..<offset + Self.blockSize])
      let name = String(decoding: header[..<100].prefix { $0 != 0 }, as: UTF8.self)
      let digits = String(decoding: header[124..<135], as: UTF8.self)
      guard let size = Int(digits, radix: 8), size >= 0, !name.contains("/") else { return nil }
      offset += Self.blockSize
      guard size <= tar.count - offset else { return nil }
      contents[name] = Array(tar[offset..<offset + size])
      offset += (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize
    }
  }

  func archived(level: Int = 3) -> [UInt8] {
    var tar: [UInt8] = []
    for (name, bytes) in contents.sorted(by: { $0.key < $1.key }) {
      tar += Self.header(of: name, size: bytes.count)
      tar += bytes
      tar += [UInt8](repeating: 0, count: -bytes.count & (Self.blockSize - 1))
    }
    tar += [UInt8](repeating: 0, count: 2 * Self.blockSize)
    var frame = [UInt8](repeating: 0, count: BlobLayout.frameSizeMax(length: tar.count))
    var span = frame.mutableSpan
    var room = unsafe span.mutableBytes
    let size = ZstdCompressor()?.compress(tar.rawSpan, level: level, to: &room) ?? 0
    return Array(frame.prefix(size))
  }

  /// A header as POSIX has it, of a file that has no owner and never changes.
  private static func header(of name: String, size: Int) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: blockSize)
    func put(_ text: String, at offset: Int) {
      header.replaceSubrange(offset..<offset + text.utf8.count, with: Array(text.utf8))
    }
    func octal(_ number: Int, _ count: Int) -> String {
      let digits = String(number, radix: 8)
      return String(repeating: "0", count: count - digits.utf8.count) + digits
    }
    put(name, at: 0)
    for (offset, number) in [(100, 0o644), (108, 0), (116, 0)] { put(octal(number, 7), at: offset) }
    put(octal(size, 11), at: 124)
    put(octal(0, 11), at: 136)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    // The sum of all bytes, with spaces where it will be.
    put("        ", at: 148)
    put(octal(header.reduce(0) { $0 + Int($1) }, 6), at: 148)
    header[154] = 0
    return header
  }
}
