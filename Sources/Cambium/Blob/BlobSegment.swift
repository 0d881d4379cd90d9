/// One file of blobs, open. It closes when nobody reads or writes it any more, and keeps its bytes until
/// then, also without its name.
final class BlobSegment<Medium: FileSystem>: Sendable {
  let number: UInt32
  let file: Medium.File

  init(number: UInt32, file: Medium.File) {
    self.number = number
    self.file = file
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
