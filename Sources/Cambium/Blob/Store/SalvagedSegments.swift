/// The blob segments of a damaged store, and their copies.
struct SalvagedSegments {
  private let source: PosixFileSystem
  private let target: PosixFileSystem

  /// The bytes that are copied at once.
  private static var pieceSize: Int { 1 << 20 }

  init(_ source: PosixFileSystem, _ target: PosixFileSystem) {
    self.source = source
    self.target = target
  }

  /// The highest that has a file; 0 where none has.
  var highest: UInt32 {
    get throws(StoreError) { try source.blobSegments().last ?? 0 }
  }

  /// The seed in the first header that is whole; nil if none is.
  var seed: BlobSeed? {
    get throws(StoreError) {
      for number in try source.blobSegments() {
        if let seed = seed(of: number) { return seed }
      }
      return nil
    }
  }

  private func seed(of number: UInt32) -> BlobSeed? {
    do throws(StoreError) {
      let file = try source.open(.blobs(number), .read, at: .blobSegmentOpen)
      let block = try BlobMemory(count: Layout.blockSize)
      var span = block.mutableBytes(0..<Layout.blockSize)
      let count = try file.read(into: &span, from: 0, at: .blobHeaderRead)
      return try BlobSegmentHeader(
        decoding: block.bytes(0..<count), number: number, path: source.path
      ).seed
    } catch { return nil }
  }

  /// Copies segments, as far as they are there; what is gone of one is not in the copy.
  ///
  /// - Throws: `.full`, `.io` of the copies.
  func copy(_ numbers: [UInt32], _ seed: BlobSeed) throws(StoreError) {
    for number in numbers { try copy(number, seed) }
    try target.syncDirectory(at: .blobDirectorySync)
  }

  /// The header is made anew: what it says is known, and it may be what is damaged.
  private func copy(_ number: UInt32, _ seed: BlobSeed) throws(StoreError) {
    let copy = try target.open(.blobs(number), .create, at: .blobSegmentCreate)
    let memory = try BlobMemory(count: Self.pieceSize)
    var block = memory.mutableBytes(0..<Layout.blockSize)
    BlobSegmentHeader(seed: seed, number: number).encode(to: &block)
    try copy.write(
      memory.bytes(0..<Layout.blockSize), from: 0, at: .blobHeaderWrite)
    var offset = BlobLayout.firstOffset
    if let file = try? source.open(.blobs(number), .read, at: .blobSegmentOpen) {
      while true {
        let count = read(file, from: offset, into: memory)
        if count == 0 { break }
        try copy.write(memory.bytes(0..<count), from: offset, at: .blobWrite)
        offset += count
      }
    }
    try copy.sync(at: .blobSync)
  }

  /// Returns the number of bytes read, up to a piece: none at the end, and if they cannot be read.
  private func read(
    _ file: any File, from offset: Int, into memory: BlobMemory
  ) -> Int {
    var span = memory.mutableBytes(0..<memory.count)
    do throws(StoreError) {
      return try file.read(into: &span, from: offset, at: .blobRead)
    } catch { return 0 }
  }

  /// Returns the number of blobs that cannot be read completely in the copies.
  ///
  /// - Throws: `.io`.
  func countDamaged(
    _ entries: [(identity: BlobIdentity, entry: BlobEntry)], _ seed: BlobSeed
  ) throws(StoreError) -> Int {
    let files = BlobFiles(in: target, seed: seed, from: .max)
    var count = 0
    for (identity, entry) in entries {
      do throws(StoreError) {
        try files.reader(of: identity, at: entry.place).check(deep: true)
      } catch {
        guard case .corrupt = error else { throw error }
        count += 1
      }
    }
    return count
  }
}
