import Foundation

/// Where packages are read from: the machine's own index, or the excerpt of one that is in the repository.
enum PackageSource {
  case apt
  case file(path: String)

  var description: String {
    switch self {
    case .apt: "this machine's package index (apt-cache dumpavail)"
    case .file(let path): path
    }
  }

  func text() throws -> String {
    switch self {
    case .apt: try Self.output(of: "/usr/bin/apt-cache", "dumpavail")
    case .file(let path): try String(contentsOfFile: path, encoding: .utf8)
    }
  }

  private static func output(of program: String, _ arguments: String...) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
