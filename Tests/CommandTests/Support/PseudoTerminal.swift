import Glibc

/// Runs the command on a terminal, and records its screen.
enum PseudoTerminal {
  // TIOCSPTLCK and TIOCGPTN, which Swift's Glibc module does not name.
  private static var unlock: UInt { 0x4004_5431 }
  private static var numberOfOther: UInt { 0x8004_5430 }

  static func run(
    _ arguments: String..., environment: [String] = []
  ) throws -> (status: Int32, shown: String) {
    let main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (lock, number): (Int32, UInt32) = (0, 0)
    guard main >= 0, unsafe ioctl(main, unlock, &lock) == 0,
      unsafe ioctl(main, numberOfOther, &number) == 0
    else { throw ChildProcess.NotStarted(errno: errno) }
    defer { close(main) }
    let path = "/dev/pts/\(number)"
    let child = try ChildProcess(
      arguments, files: ["/dev/null", path, path], environment: environment)
    var shown: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    // The last end that is closed ends it, with an error.
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe read(main, $0.baseAddress, $0.count)
      }
      if count <= 0 { break }
      shown += chunk[..<count]
    }
    return (child.wait(), String(decoding: shown, as: UTF8.self))
  }
}
