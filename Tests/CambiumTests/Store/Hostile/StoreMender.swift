import TestSupport

@testable import Cambium

/// Makes the checksums of a store's files right again, whatever was done to them: those of pages in them and in the
/// references to them, from the leaves upwards; those of both copies of the footer; of the log's header and of its
/// frames, one behind the other.
///
/// It reads what may be anything, and follows what can be followed.
struct StoreMender {
  /// What can be changed so that somebody will look at it.
  struct Piece {
    enum Kind { case leaf, branch, value, footer, logHeader, logFrame }

    let kind: Kind
    let file: String
    let bytes: Range<Int>
  }

  private(set) var files: StoreFiles
  /// Found by the last mending.
  private(set) var pieces: [Piece] = []
  /// Whether count and live bytes of references are made those of the pages that they lead to.
  private let mendsAggregates: Bool
  private var identity = StoreIdentity(low: 0, high: 0)
  private var done: [PagePosition: Checksum] = [:]

  init(_ files: StoreFiles, mendsAggregates: Bool = false) {
    self.files = files
    self.mendsAggregates = mendsAggregates
  }

  /// Takes files that were changed, to be mended next.
  mutating func replace(_ files: StoreFiles) { self.files = files }

  mutating func mend() {
    pieces = []
    done = [:]
    guard let log = logInUse else { return }
    identity = StoreIdentity(low: number(log, 16), high: number(log, 24))
    mendFooter(at: (log, 88))
    for place in footersInFrames(of: log) { mendFooter(at: (log, place)) }
    mendLog(log)
  }
}

// MARK: Bytes

extension StoreMender {
  private func number(_ file: String, _ offset: Int) -> UInt64 {
    number(file, offset, as: UInt64.self)
  }

  private func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ file: String, _ offset: Int, as type: Number.Type
  ) -> Number {
    guard let bytes = files.contents[file], offset + MemoryLayout<Number>.size <= bytes.count
    else { return 0 }
    return bytes.rawSpan.load(offset, as: type)
  }

  private mutating func store<Number: FixedWidthInteger>(
    _ number: Number, _ file: String, _ offset: Int
  ) {
    let size = MemoryLayout<Number>.size
    guard let count = files.contents[file]?.count, offset + size <= count else { return }
    for index in 0..<size {
      files.contents[file]?[offset + index] = UInt8(
        truncatingIfNeeded: number >> Number(8 * index))
    }
  }
}

// MARK: Pages

extension StoreMender {
  private static func file(_ segment: UInt32) -> String { "\(FileName.pages(segment))" }

  /// Mends the page that a reference leads to, and the reference.
  private mutating func mendPage(at reference: (file: String, offset: Int), depth: Int = 0) {
    let segment = number(reference.file, reference.offset, as: UInt32.self)
    let place = number(reference.file, reference.offset + 4, as: UInt32.self)
    let position = PagePosition(segment: segment, block: place & 0xff_ffff)
    let file = Self.file(segment)
    let start = Int(position.block) * Layout.blockSize
    let bytes = start..<start + Int(place >> 24) * Layout.blockSize
    guard depth < 60, position.block > 0, !bytes.isEmpty,
      bytes.upperBound <= files.contents[file]?.count ?? 0
    else { return }
    if done[position] == nil {
      done[position] = Checksum()
      mendChildren(file, bytes, depth)
      done[position] = seal(file, bytes, position)
    }
    store(done[position]?.rawValue ?? 0, reference.file, reference.offset + 8)
    if mendsAggregates { mendAggregates(file, bytes, at: reference) }
  }

  private mutating func seal(
    _ file: String, _ bytes: Range<Int>, _ position: PagePosition
  ) -> Checksum {
    let page = Array(files.contents[file]?[bytes] ?? [])
    let checksum = Checksum.ofPage(page.rawSpan, at: position, in: identity)
    store(checksum.rawValue, file, bytes.lowerBound)
    return checksum
  }

  private mutating func mendChildren(_ file: String, _ bytes: Range<Int>, _ depth: Int) {
    switch number(file, bytes.lowerBound + 4, as: UInt8.self) {
    case PageKind.leaf.rawValue: pieces.append(Piece(kind: .leaf, file: file, bytes: bytes))
    case PageKind.branch.rawValue:
      pieces.append(Piece(kind: .branch, file: file, bytes: bytes))
      for offset in children(file, bytes) { mendPage(at: (file, offset), depth: depth + 1) }
    default: pieces.append(Piece(kind: .value, file: file, bytes: bytes))
    }
  }

  /// Where a branch has its references.
  private func children(_ file: String, _ bytes: Range<Int>) -> [Int] {
    let count = Int(number(file, bytes.lowerBound + 8, as: UInt16.self))
    let prefix = Int(number(file, bytes.lowerBound + 10, as: UInt16.self))
    let first = bytes.lowerBound + 32 + (prefix + 7) / 8 * 8 + 8 * count
    return (0...count).map { first + PageReference.size * $0 }
      .filter { $0 + PageReference.size <= bytes.upperBound }
  }

  private mutating func mendAggregates(
    _ file: String, _ bytes: Range<Int>, at reference: (file: String, offset: Int)
  ) {
    let kind = number(file, bytes.lowerBound + 4, as: UInt8.self)
    var count = UInt64(number(file, bytes.lowerBound + 8, as: UInt16.self))
    var live = UInt64(bytes.count)
    if kind == PageKind.branch.rawValue {
      count = 0
      for child in children(file, bytes) {
        count &+= number(file, child + 16)
        live &+= number(file, child + 24)
      }
    } else if number(file, bytes.lowerBound + 7, as: UInt8.self) & 1 != 0 {
      // What its large values take is in the leaf alone.
      return store(count, reference.file, reference.offset + 16)
    }
    store(count, reference.file, reference.offset + 16)
    store(live, reference.file, reference.offset + 24)
  }
}

// MARK: Footers

extension StoreMender {
  /// Mends the footer that a reference leads to, with all that it leads to itself.
  private mutating func mendFooter(
    at reference: (file: String, offset: Int), depth: Int = 0
  ) {
    let segment = number(reference.file, reference.offset, as: UInt32.self)
    let place = number(reference.file, reference.offset + 4, as: UInt32.self)
    let (block, size) = (place & 0xff_ffff, Int(place >> 24) * Layout.blockSize)
    let file = Self.file(segment)
    let start = Int(block) * Layout.blockSize
    guard depth < 8, size > 0, start + 2 * size <= files.contents[file]?.count ?? 0 else { return }
    let position = PagePosition(segment: segment, block: block)
    if done[position] == nil {
      done[position] = Checksum()
      pieces.append(Piece(kind: .footer, file: file, bytes: start..<start + size))
      for offset in roots(file, start, size) { mendPage(at: (file, offset)) }
      done[position] = seal(file, start..<start + size, position)
    }
    store(done[position]?.rawValue ?? 0, reference.file, reference.offset + 8)
    // The second copy says the same, in another place.
    let copy = start + size..<start + 2 * size
    let bytes = Array(files.contents[file]?[start..<start + size] ?? [])
    files.contents[file]?.replaceSubrange(copy, with: bytes)
    let copyPosition = PagePosition(segment: segment, block: block + (place >> 24))
    store(seal(file, copy, copyPosition).rawValue, reference.file, reference.offset + 12)
  }

  /// Where the catalog has its roots.
  private func roots(_ file: String, _ start: Int, _ size: Int) -> [Int] {
    var found: [Int] = []
    var offset = start + Footer.fixedSize
    let end = min(start + size, offset + Int(number(file, start + 8, as: UInt32.self)))
    while offset + 12 <= end {
      let length = Int(number(file, offset + 4, as: UInt32.self))
      if number(file, offset, as: UInt16.self) == Footer.Section.trees.rawValue {
        let count = Int(number(file, offset + 8, as: UInt32.self))
        found += roots(file, count: count, offset + 12, end)
      }
      offset += 8 + length
    }
    return found
  }

  private func roots(_ file: String, count: Int, _ start: Int, _ end: Int) -> [Int] {
    var found: [Int] = []
    var offset = start
    for _ in 0..<min(count, 10_000) {
      offset += 1 + Int(number(file, offset, as: UInt8.self))
      guard offset + 1 + PageReference.size <= end else { break }
      let level = number(file, offset, as: UInt8.self)
      offset += 1
      if level == 0xff { continue }
      found.append(offset)
      offset += PageReference.size
    }
    return found
  }
}

// MARK: The log

extension StoreMender {
  private var logInUse: String? {
    ["log-0", "log-1"].filter { files.contents[$0]?.count ?? 0 >= 2 * Layout.blockSize }
      .max { number($0, 40, as: UInt64.self) < number($1, 40, as: UInt64.self) }
  }

  /// Where the frames of the log are, as far as they can be followed.
  private func frames(of log: String) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start = LogLayout.headerBlocks * Layout.blockSize
    let end = files.contents[log]?.count ?? 0
    let salt = number(log, 48)
    while start + Layout.blockSize <= end, number(log, start + 8) == salt {
      let size = FrameHeader.size + Int(number(log, start + 24, as: UInt32.self))
      guard start + size <= end else { break }
      found.append(start..<start + size)
      start += (size + Layout.blockSize - 1) / Layout.blockSize * Layout.blockSize
    }
    return found
  }

  private func footersInFrames(of log: String) -> [Int] {
    frames(of: log).filter {
      number(log, $0.lowerBound + 28, as: UInt8.self) == FrameKind.footer.rawValue
        && $0.count >= FrameHeader.size + FooterReference.size
    }.map { $0.lowerBound + FrameHeader.size }
  }

  private mutating func mendLog(_ log: String) {
    pieces.append(Piece(kind: .logHeader, file: log, bytes: 0..<LogHeader.size))
    let block = Array(files.contents[log]?[0..<Layout.blockSize] ?? [])
    var checksum = Checksum()
    let (head, rest) = (Array(block[..<12]), Array(block[16...]))
    checksum.update(head.rawSpan)
    checksum.update(rest.rawSpan)
    store(checksum.rawValue, log, 12)
    let header = Array(files.contents[log]?[0..<Layout.blockSize] ?? [])
    files.contents[log]?.replaceSubrange(Layout.blockSize..<2 * Layout.blockSize, with: header)
    for frame in frames(of: log) {
      pieces.append(Piece(kind: .logFrame, file: log, bytes: frame))
      store(checksum.rawValue, log, frame.lowerBound + 4)
      let bytes = Array(files.contents[log]?[frame] ?? [])
      checksum = FrameHeader.checksum(of: bytes.rawSpan, in: identity)
      store(checksum.rawValue, log, frame.lowerBound)
    }
  }
}
