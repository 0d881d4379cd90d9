@testable import Cambium

extension StoreMender {
  var logInUse: String? {
    ["log-0", "log-1"].filter { size(of: $0) >= LogLayout.firstFrameBlock * Layout.blockSize }
      .max { number($0, 64, as: UInt64.self) < number($1, 64, as: UInt64.self) }
  }

  /// Where the frames of the log are, as far as they can be followed.
  private func frames(of log: String) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start = LogLayout.firstFrameBlock * Layout.blockSize
    let end = size(of: log)
    let salt = number(log, 88)
    while start + Layout.blockSize <= end, number(log, start + 16) == salt {
      let size = FrameHeader.size + Int(number(log, start + 32, as: UInt32.self))
      guard start + size <= end else { break }
      found.append(start..<start + size)
      start += (size + Layout.blockSize - 1) / Layout.blockSize * Layout.blockSize
    }
    return found
  }

  func footersInFrames(of log: String) -> [Int] {
    frames(of: log).filter {
      number(log, $0.lowerBound + 36, as: UInt8.self) == FrameKind.footer.rawValue
        && $0.count >= FrameHeader.size + FooterReference.size
    }.map { $0.lowerBound + FrameHeader.size }
  }

  mutating func mendLog(_ log: String) {
    pieces.append(Piece(kind: .logHeader, file: log, bytes: 0..<LogHeader.size))
    let block = bytes(log, 0..<Layout.blockSize)
    var checksum = PageChecksum.ofBlock(block.rawSpan, but: LogHeader.checksumOffset)
    store(checksum.rawValue, log, LogHeader.checksumOffset)
    let copy = Int(LogLayout.copyBlocks[1]) * Layout.blockSize
    replace(copy..<copy + Layout.blockSize, of: log, by: bytes(log, 0..<Layout.blockSize))
    for frame in frames(of: log) {
      pieces.append(Piece(kind: .logFrame, file: log, bytes: frame))
      store(checksum.rawValue, log, frame.lowerBound + 8)
      checksum = FrameHeader.checksum(of: bytes(log, frame).rawSpan, in: identity)
      store(checksum.rawValue, log, frame.lowerBound)
    }
  }
}
