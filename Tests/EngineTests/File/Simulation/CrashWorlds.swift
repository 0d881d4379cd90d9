import Cambium
import TestSupport

/// Small worlds: a few changes on the way to the medium, so few that every crash can be written down.
enum CrashWorlds {
  /// `pages-1` holds `aaaa` on the medium. Pending: 0 `b` at 0, 1 `c` at 1, 2 `d` at 5.
  static func bytes() throws -> SimulatedFileSystem {
    let fileSystem = SimulatedFileSystem()
    let file = try fileSystem.create(.pages(1), Array("aaaa".utf8))
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    try file.write(Array("b".utf8), from: 0)
    try file.write(Array("c".utf8), from: 1)
    try file.write(Array("d".utf8), from: 5)
    return fileSystem
  }

  /// `pages-1` holds `old` on the medium, `log-1` holds `log`. Pending: 0 create `pages-2.new`,
  /// 1 write `new` to it, 2 rename it to `pages-2`, 3 unlink `pages-1`, 4 cut `pages-2` to one byte,
  /// 5 unlink `log-1`, 6 rename `pages-2` to `log-1`.
  static func names() throws -> SimulatedFileSystem {
    let fileSystem = SimulatedFileSystem()
    for (name, text) in [(FileName.pages(1), "old"), (.log(1), "log")] {
      try (fileSystem.create(name, Array(text.utf8))).sync(at: .test)
    }
    try fileSystem.syncDirectory(at: .test)
    let new = try fileSystem.create(.pages(2).temporary, Array("new".utf8))
    try fileSystem.rename(.pages(2).temporary, to: .pages(2), at: .test)
    try fileSystem.unlink(.pages(1), at: .test)
    try new.truncate(to: 1, at: .test)
    try fileSystem.unlink(.log(1), at: .test)
    try fileSystem.rename(.pages(2), to: .log(1), at: .test)
    return fileSystem
  }

  /// A file of `size` bytes of `x` on the medium, and one write of `y` over it from `offset` on.
  static func oneWrite(
    size: Int, over range: Range<Int>
  ) throws -> SimulatedFileSystem {
    let fileSystem = SimulatedFileSystem()
    let file = try fileSystem.create(.log(1), [UInt8](repeating: x, count: size))
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    try file.write(
      [UInt8](repeating: y, count: range.count), from: range.lowerBound)
    return fileSystem
  }

  static let x = UInt8(ascii: "x")
  static let y = UInt8(ascii: "y")
}

extension SimulatedFileSystem {
  /// What every file holds, in one line that a test can be read across: `log-1:log pages-1:bc..d`.
  /// Zero bytes are dots, and the zeros of long names are left out.
  var summary: String {
    names.map { name in
      let text = (bytes(of: name) ?? []).map { $0 == 0 ? "." : String(UnicodeScalar($0)) }
      return "\(name)".filter { $0 != "0" } + ":" + text.joined()
    }.sorted().joined(separator: " ")
  }
}
