@testable import Cambium

/// Makes the checksums of a store's files right again, whatever was done to them: those of pages in them and in the
/// references to them, from the leaves and the pages of large values upwards; of both copies of the footer, and of the
/// footers and trees that it keeps or has pending; of the log's header and of its frames, one after the other; of the
/// frames and tails of blobs; and the fingerprints of schemas.
///
/// It reads bytes that may be anything, and follows references if it can.
struct StoreMender {
  /// The bytes that can be changed so that some code will look at them.
  struct Piece {
    enum Kind { case leaf, branch, value, footer, logHeader, logFrame, blobFrame, blobTail, schema }

    let kind: Kind
    let file: String
    let bytes: Range<Int>
  }

  /// Where a reference to a page is.
  struct Place {
    let file: String
    let offset: Int
  }

  private(set) var files: StoreFiles
  /// Found by the last mending.
  var pieces: [Piece] = []
  /// True if count and live bytes of references are made those of the pages that they lead to.
  let mendsAggregates: Bool
  var identity = StoreIdentity(low: 0, high: 0)
  /// The checksums of pages that were mended.
  var done: [PagePosition: PageChecksum] = [:]
  /// The seed of the checksums of blobs, once the tree that has it is mended.
  var blobSeed: BlobSeed?

  init(_ files: StoreFiles, mendsAggregates: Bool = false) {
    self.files = files
    self.mendsAggregates = mendsAggregates
  }

  /// Takes files that were changed, to be mended next.
  mutating func replace(_ files: StoreFiles) { self.files = files }

  mutating func mend() {
    pieces = []
    done = [:]
    blobSeed = nil
    guard let log = logInUse else { return }
    identity = StoreIdentity(low: number(log, 16), high: number(log, 24))
    mendFooter(at: Place(file: log, offset: 96))
    for offset in footersInFrames(of: log) { mendFooter(at: Place(file: log, offset: offset)) }
    mendLog(log)
  }
}

// MARK: Bytes

extension StoreMender {
  func size(of file: String) -> Int { files.contents[file]?.count ?? 0 }

  /// The bytes of a file, as many of them as there are.
  func bytes(_ file: String, _ range: Range<Int>) -> [UInt8] {
    guard let bytes = files.contents[file] else { return [] }
    return Array(bytes[range.clamped(to: 0..<bytes.count)])
  }

  func number(_ file: String, _ offset: Int) -> UInt64 { number(file, offset, as: UInt64.self) }

  /// The number at `offset`; 0 if the file ends before it does.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ file: String, _ offset: Int, as type: Number.Type
  ) -> Number {
    guard let bytes = files.contents[file], offset + MemoryLayout<Number>.size <= bytes.count
    else { return 0 }
    return bytes.rawSpan.load(offset, as: type)
  }

  mutating func store<Number: FixedWidthInteger>(_ number: Number, _ file: String, _ offset: Int) {
    let size = MemoryLayout<Number>.size
    guard offset + size <= self.size(of: file) else { return }
    for index in 0..<size {
      files.contents[file]?[offset + index] = UInt8(
        truncatingIfNeeded: number >> Number(8 * index))
    }
  }

  mutating func replace(_ range: Range<Int>, of file: String, by bytes: [UInt8]) {
    guard range.upperBound <= size(of: file) else { return }
    files.contents[file]?.replaceSubrange(range, with: bytes)
  }
}
