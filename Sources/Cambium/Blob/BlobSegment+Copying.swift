extension BlobSegment {
  /// The bytes that are copied at once.
  private static var pieceSize: Int { 1 << 20 }

  /// Copies the first `end` bytes of the file into another directory, byte for byte, where they are on the disk then,
  /// but for the name: checksums hold there too, since they are bound to the seed and not to the store.
  ///
  /// - Parameter monitor: Is told after each piece how many bytes it had, and ends the copy by throwing.
  /// - Throws: `.corrupt` where the file is shorter, `.full`, `.io`, and errors of the monitor.
  func copy(
    through end: UInt64, to target: any FileSystem,
    _ monitor: BackupMonitor
  ) throws(StoreError) {
    let copy = try target.open(.blobs(number), .create, at: .blobSegmentCreate)
    let piece = try BlobMemory(count: Self.pieceSize)
    let end = Int(clamping: end)
    var offset = 0
    while offset < end {
      let count = min(piece.count, end - offset)
      var span = piece.mutableBytes(0..<count)
      guard try file.read(into: &span, from: offset, at: .blobRead) == count else {
        throw .corrupt(
          .blobSegment(number), invariant: .blobExists,
          reason: "there are blobs up to byte \(end), and the file ends before")
      }
      try copy.write(piece.bytes(0..<count), from: offset, at: .blobWrite)
      offset += count
      try monitor.stepBlob(count)
    }
    try copy.sync(at: .blobSync)
  }
}
