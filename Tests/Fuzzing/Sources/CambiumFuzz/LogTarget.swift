@testable import Cambium

/// The file of a log in use: headers, frames, commits and operations. Its checksums are mended first.
enum LogTarget: FuzzTarget {
  private static let sizeMax = 1 << 20

  static func seeds(of store: StoreFiles) -> [[UInt8]] {
    let mender = StoreMender(store)
    guard let log = mender.logInUse, let bytes = store.contents[log] else { return [] }
    return [Array(bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)])]
  }

  static func run(_ input: [UInt8]) throws {
    guard input.count >= LogLayout.firstFrameBlock * Layout.blockSize, input.count <= sizeMax
    else { return }
    let medium = InMemoryFileSystem(capacity: 2 * sizeMax)
    for (name, bytes) in mended(input).contents {
      let name: FileName = name == "log-0" ? .log(0) : .log(1)
      let file = try medium.open(name, .create, at: .test)
      try file.write(bytes.rawSpan, from: 0, at: .test)
    }
    var reader = LogReader(try LogFiles(opening: medium, writing: false))
    var size = 0
    while let frame = try reader.next() {
      size += reader.payload.byteCount
      try read(reader.payload, of: frame)
    }
    guard reader.end != nil, size <= sizeMax else {
      throw WrongUse(
        description: "\(size) bytes of payload are read, and then \(reader.end as Any)")
    }
  }

  /// Both files of a log: the input, and a spare of the same store.
  private static func mended(_ input: [UInt8]) -> StoreFiles {
    let blocks = Int(input.rawSpan.load(12, as: UInt32.self))
    let size = min(sizeMax, max(blocks, LogLayout.blocksMin) * Layout.blockSize)
    var log = input + [UInt8](repeating: 0, count: max(0, size - input.count))
    // The file is that of an odd use. The spare has the use before, and nothing but its header.
    let use = log.rawSpan.load(64, as: UInt64.self) | 1
    var spare = [UInt8](repeating: 0, count: LogLayout.blocksMin * Layout.blockSize)
    spare.replaceSubrange(0..<40, with: log[0..<40])
    spare.replaceSubrange(12..<16, with: [UInt8(LogLayout.blocksMin), 0, 0, 0])
    for (index, byte) in little(use - 1).enumerated() { spare[64 + index] = byte }
    for (index, byte) in little(use).enumerated() { log[64 + index] = byte }
    // First sequence 1; segment 1, block 1, of 1 block.
    spare[80] = 1
    spare.replaceSubrange(96..<104, with: [1, 0, 0, 0, 1, 0, 0, 1])
    var files = StoreFiles()
    files.contents["log-0"] = spare
    var mender = StoreMender(files)
    mender.mend()
    spare = mender.files.contents["log-0"] ?? []
    files.contents["log-0"] = log
    mender.replace(files)
    mender.mend()
    files = mender.files
    files.contents["log-1"] = spare
    return files
  }

  private static func little(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: number)
    return bytes
  }

  private static func read(_ payload: RawSpan, of frame: LogFrame) throws {
    let place = StoreError.CorruptPlace.log(file: 0, block: frame.blocks.lowerBound)
    switch frame.kind {
    case .commits:
      var commits = CommitReader(payload, sequences: frame.sequences, at: place)
      while let operations = try commits.next() { try read(operations, at: place) }
    case .overlay: try read(payload, at: place)
    case .footer, .seal: break
    }
  }

  /// The contents of an accepted frame can be read.
  private static func read(_ operations: RawSpan, at place: StoreError.CorruptPlace) throws {
    do throws(StoreError) {
      var reader = OperationReader(operations, at: place)
      while let operation = try reader.next() {
        _ = (operation.key.array(), operation.value.array())
      }
    } catch {
      throw WrongUse(description: "the log accepts what cannot be read: \(error)")
    }
  }
}
