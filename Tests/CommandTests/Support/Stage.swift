import Glibc
import TestSupport

@testable import Cambium

/// Stores in every condition that the command meets.
struct Stage {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func path(_ name: String) -> String { directory.path + "/" + name }

  enum Condition: String, CaseIterable {
    case good, damaged, locked, newer, empty, missing, file
  }

  /// The path of a store in a condition; of a locked one, who has it open.
  func store(_ condition: Condition) throws -> (path: String, holder: PersistentStore?) {
    let path = path("shop.cambium")
    switch condition {
    case .missing: break
    case .file: try write("This is no store.", to: path)
    case .empty: _ = unsafe mkdir(path, 0o700)
    case .good: try Shop.make(at: path)
    case .damaged:
      try Shop.make(at: path)
      for number in 1...9 where exists("\(path)/pages-000000000\(number)") {
        try Self.damage("\(path)/pages-000000000\(number)")
      }
    case .newer:
      try Shop.make(at: path)
      for file in ["log-0", "log-1"] { try Self.makeNewer(path + "/" + file) }
    case .locked:
      try Shop.make(at: path)
      return (path, try PersistentStore(at: path, model: Shop.model, options: Shop.options))
    }
    return (path, nil)
  }

  /// Starts an export of a store into a file, and stops it while it is under way: however slow the machine is, a test can then
  /// do something beside it. If the export has ended before, it is tried again.
  ///
  /// - Parameter isUnderWay: True from the moment for which the test waits until the export ends.
  func stoppedExport(
    of store: String, to file: String, while isUnderWay: () throws -> Bool
  ) throws -> ChildProcess {
    while true {
      let child = try ChildProcess(
        ["export", store, "-o", file], files: ["/dev/null", "/dev/null", path("error")])
      while try !isUnderWay(), !child.hasEnded { usleep(500) }
      child.stop()
      if try isUnderWay(), !exists(file) { return child }
      kill(child.number, SIGCONT)
      _ = child.wait()
      _ = unsafe unlink(file)
    }
  }

  /// Changes a byte in the middle of every block after the segment's header.
  private static func damage(_ path: String) throws {
    var all = try bytes(of: path)
    for block in stride(from: 4096 + 100, to: all.count, by: 4096) { all[block] ^= 0x10 }
    try write(all, to: path)
  }

  /// Gives both copies of a log's header the next version of the format.
  private static func makeNewer(_ path: String) throws {
    var all = try bytes(of: path)
    for copy in LogLayout.copyBlocks.map({ Int($0) * Layout.blockSize }) {
      all[copy + 8] = 2
      var block = Array(all[copy..<copy + Layout.blockSize])
      let offset = LogHeader.checksumOffset
      let checksum = PageChecksum.ofBlock(block.rawSpan, but: offset)
      for byte in 0..<PageChecksum.size {
        block[offset + byte] = UInt8(truncatingIfNeeded: checksum.rawValue >> (8 * UInt64(byte)))
      }
      all.replaceSubrange(copy..<copy + Layout.blockSize, with: block)
    }
    try write(all, to: path)
  }
}
