/// One file of blobs, open for reading. It closes when it is no longer read or written, and keeps its bytes
/// until then, also without its name.
final class BlobSegment: Sendable {
  let number: UInt32
  let file: any File
  /// True if this program may append to it.
  let isWritable: Bool

  /// Takes an open file whose header is known to be right.
  init(number: UInt32, file: any File, isWritable: Bool = true) {
    self.number = number
    self.file = file
    self.isWritable = isWritable
  }

  /// Opens segment `number`, and checks its header.
  ///
  /// - Throws: `.missing`, `.newerFormat`, `.corrupt`, `.io`.
  convenience init(
    opening number: UInt32, _ mode: OpenMode = .read, seed: BlobSeed, in medium: any FileSystem
  ) throws(StoreError) {
    let file = try medium.open(.blobs(number), mode, at: .blobSegmentOpen)
    let block = try BlobMemory(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    let count = try file.read(into: &span, from: 0, at: .blobHeaderRead)
    let header = try BlobSegmentHeader(
      decoding: block.bytes(0..<count), number: number, path: medium.path)
    guard header.seed == seed else {
      throw .corrupt(
        .blobSegment(number), invariant: .blobSegmentHeader, reason: "it has another store's seed")
    }
    self.init(number: number, file: file, isWritable: header.features.access == .writing)
  }
}

/// Keeps a segment from being collected for as long as it is kept: something in it is not committed yet.
final class BlobPin: Sendable {
  let segment: UInt32
  private let unpin: @Sendable () -> Void

  init(_ segment: UInt32, _ unpin: @escaping @Sendable () -> Void) {
    self.segment = segment
    self.unpin = unpin
  }

  deinit {
    unpin()
  }
}
