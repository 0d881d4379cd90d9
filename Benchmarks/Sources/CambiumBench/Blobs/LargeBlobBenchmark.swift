import Cambium
import FoundationEssentials

/// Large blobs: written and read whole, in part, and as a stream.
struct LargeBlobBenchmark {
  let mebibytes: Int
  let roundCount: Int
  let seed: UInt64
  let scratch: ScratchDirectory
  let progress: Progress

  /// Seconds of each round, by step.
  private(set) var times: [Step: [Double]] = [:]

  enum Step: Hashable {
    case writeText, writeTextByHand, compressText
    case readText, readTextByHand, decompressText
    case writeNoise, writeDirect, writeBuffered
    case readNoise
  }

  init(
    mebibytes: Int, roundCount: Int, seed: UInt64, scratch: ScratchDirectory, progress: Progress
  ) {
    self.mebibytes = mebibytes
    self.roundCount = roundCount
    self.seed = seed
    self.scratch = scratch
    self.progress = progress
  }

  /// The median of a step, in MiB a second.
  func speed(_ step: Step) -> Double { Double(mebibytes) / median(times[step] ?? [.infinity]) }

  mutating func run() throws {
    progress.show("making \(mebibytes) MiB")
    let text = BlobContents.text(mebibytes << 20, seed: seed)
    let noise = BlobContents.noise(mebibytes << 20, seed: seed)
    for round in 0..<roundCount {
      progress.show("large blobs, round \(round + 1) of \(roundCount)")
      let directory = try scratch.makeDirectory("large")
      // The first one changes.
      if round % 2 == 0 {
        try measure(text, noise, in: directory)
        try measureByHand(text, noise, in: directory)
      } else {
        try measureByHand(text, noise, in: directory)
        try measure(text, noise, in: directory)
      }
      try scratch.removeDirectory(directory)
    }
  }

  private mutating func measure(_ text: [UInt8], _ noise: [UInt8], in directory: String) throws {
    let store = try PersistentStore(at: directory + "/store", model: BlobRecord.model)
    for (number, content, write, read) in [
      (1, Data(text), Step.writeText, .readText), (2, Data(noise), .writeNoise, .readNoise),
    ] as [(Int, Data, Step, Step)] {
      try time(write) {
        try store.insert(BlobRecord(id: number, content: store.makeBlob(from: content)))
      }
      let blob = try store.fetch(BlobRecord.self, key: number)?.content
      guard try blob?.data() == content else {
        throw BlobEngineError(engine: "cambium", message: "gave a wrong answer")
      }
      try time(read) { _ = try store.fetch(BlobRecord.self, key: number)?.content.data() }
    }
    try store.close()
  }

  private mutating func measureByHand(
    _ text: [UInt8], _ noise: [UInt8], in directory: String
  ) throws {
    let zstd = StockZstd()
    let workers = Machine.coreCount
    let path = directory + "/text.zst"
    try time(.writeTextByHand) {
      try SequentialFile.write(to: path) { write in
        try zstd.compress(text, level: 1, workers: workers, write)
      }
    }
    try time(.compressText) {
      try zstd.compress(text, level: 1, workers: workers) { _ in }
    }
    let frame = try SequentialFile.read(path)
    try Self.decompress(frame, text, isCompared: true, by: zstd)
    try time(.readTextByHand) {
      try Self.decompress(SequentialFile.read(path), text, by: zstd)
    }
    try time(.decompressText) { try Self.decompress(frame, text, by: zstd) }
    try time(.writeDirect) { try SequentialFile.write(noise, to: directory + "/direct", .direct) }
    try time(.writeBuffered) {
      try SequentialFile.write(noise, to: directory + "/buffered", .buffered)
    }
  }

  private static func decompress(
    _ frame: [UInt8], _ expected: [UInt8], isCompared: Bool = false, by zstd: StockZstd
  ) throws {
    let size = expected.count
    let content = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
    defer { unsafe content.deallocate() }
    let count = try unsafe zstd.decompress(frame.span.bytes, to: content)
    guard count == size, unsafe !isCompared || expected.elementsEqual(content) else {
      throw BlobEngineError(engine: "zstd", message: "gave a wrong answer")
    }
  }

  private mutating func time(_ step: Step, _ body: () throws -> Void) throws {
    times[step, default: []].append(try seconds(body))
  }
}
