import Cambium
import FoundationEssentials

/// One very large blob, written and read piece by piece: ranges out of it, and the memory it takes.
struct BlobStreaming {
  let mebibytes: Int
  let ranges: Int
  let seed: UInt64

  /// The most that a stream's memory grew by, in bytes.
  private(set) var writingGrowth = 0
  private(set) var readingGrowth = 0
  /// Of ranges of 4 KiB, in seconds and ascending.
  private(set) var times: [Double] = []
  /// Of the first, in a store that was just opened.
  private(set) var firstTime = 0.0

  static let rangeLength = 4096

  init(mebibytes: Int, ranges: Int, seed: UInt64) {
    self.mebibytes = mebibytes
    self.ranges = ranges
    self.seed = seed
  }

  mutating func run(in directory: String) throws {
    let piece = BlobContents.text(1 << 20, seed: seed)
    try write(piece, in: directory)
    let store = try PersistentStore(at: directory, model: BlobRecord.model)
    try readRanges(of: store, piece)
    try readAll(of: store, piece)
    try store.close()
  }

  private mutating func write(_ piece: [UInt8], in directory: String) throws {
    let store = try PersistentStore(at: directory, model: BlobRecord.model)
    let (watch, task) = MemoryWatch.begin()
    let writer = try store.makeBlobWriter()
    for _ in 0..<mebibytes { try unsafe writer.append(piece.span.bytes) }
    try store.insert(BlobRecord(id: 1, content: writer.finish()))
    task.cancel()
    writingGrowth = watch.growth
    try store.close()
  }

  private mutating func readRanges(of store: PersistentStore, _ piece: [UInt8]) throws {
    var random = SplitMix64(seed: seed)
    let last = (mebibytes << 20) - Self.rangeLength
    for index in 0...ranges {
      let start = Int(random.next() % UInt64(last))
      var found = Data()
      let time = try seconds {
        let record = try store.fetch(BlobRecord.self, key: 1)
        found = try record?.content.data(in: start..<start + Self.rangeLength) ?? Data()
      }
      let expected = (start..<start + Self.rangeLength).lazy.map { piece[$0 % piece.count] }
      guard found.elementsEqual(expected) else {
        throw BlobEngineError(engine: "cambium", message: "gave a wrong range")
      }
      if index == 0 { firstTime = time } else { times.append(time) }
    }
    times.sort()
  }

  private mutating func readAll(of store: PersistentStore, _ piece: [UInt8]) throws {
    let (watch, task) = MemoryWatch.begin()
    guard let reader = try store.fetch(BlobRecord.self, key: 1)?.content.reader() else { return }
    var count = 0
    while let piece = try reader.read(upTo: 256 << 10) { count += piece.count }
    task.cancel()
    readingGrowth = watch.growth
    guard count == mebibytes << 20 else {
      throw BlobEngineError(engine: "cambium", message: "gave \(count) bytes")
    }
  }
}
