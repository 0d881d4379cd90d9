/// Many blobs of some KiB, in engines that take turns.
struct SmallBlobBenchmark {
  let count: Int
  let size: Int
  let batch: Int
  let roundCount: Int
  let seed: UInt64
  let scratch: ScratchDirectory
  let progress: Progress

  private(set) var writes: [BlobEngineName: [Double]] = [:]
  private(set) var reads: [BlobEngineName: [Double]] = [:]
  private(set) var sizes: [BlobEngineName: Int] = [:]

  init(
    count: Int, size: Int, batch: Int, roundCount: Int, seed: UInt64, scratch: ScratchDirectory,
    progress: Progress
  ) {
    self.count = count
    self.size = size
    self.batch = batch
    self.roundCount = roundCount
    self.seed = seed
    self.scratch = scratch
    self.progress = progress
  }

  mutating func run() throws {
    progress.show("making \(count) blobs")
    let contents = (0..<count).map { BlobContents.text(size, seed: seed &+ UInt64($0)) }
    let engines = BlobEngineName.allCases
    for round in 0..<roundCount {
      let first = round % engines.count
      for name in engines[first...] + engines[..<first] {
        progress.show("batches of \(batch), round \(round + 1) of \(roundCount): \(name.rawValue)")
        try run(name, contents, round)
      }
    }
  }

  private mutating func run(
    _ name: BlobEngineName, _ contents: [[UInt8]], _ round: Int
  ) throws {
    let directory = try scratch.makeDirectory(name.rawValue)
    let engine = try name.makeEngine(directory: directory)
    try engine.open()
    writes[name, default: []].append(
      try seconds {
        for start in stride(from: 0, to: count, by: batch) {
          try engine.write(contents[start..<min(start + batch, count)], from: start)
        }
        try engine.settle()
      })
    sizes[name] = try diskUse(of: directory)
    // Every byte is compared, and afterwards in memory.
    for (index, content) in contents.enumerated() {
      try engine.read(index) { try check($0, is: content, name) }
    }
    var random = SplitMix64(seed: seed)
    let order = (0..<count).shuffled(using: &random)
    reads[name, default: []].append(
      try seconds {
        for index in order {
          try engine.read(index) { bytes in
            guard bytes.byteCount == size else { throw wrong(name) }
          }
        }
      })
    try engine.close()
    try scratch.removeDirectory(directory)
  }

  private func check(_ bytes: RawSpan, is content: [UInt8], _ name: BlobEngineName) throws {
    var (found, expected) = (Digest(), Digest())
    found.add(bytes)
    unsafe expected.add(content.span.bytes)
    guard found == expected else { throw wrong(name) }
  }

  private func wrong(_ name: BlobEngineName) -> BlobEngineError {
    BlobEngineError(engine: name.rawValue, message: "gave a wrong answer")
  }
}

/// How long something takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}
