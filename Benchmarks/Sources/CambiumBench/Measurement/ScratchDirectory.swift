import Dispatch
import FoundationEssentials
import Glibc

/// A directory for the stores of one run. Removed with them by `remove`, and when the run is
/// interrupted or asked to end.
final class ScratchDirectory {
  let path: String
  private let interruptions: [any DispatchSourceSignal]

  /// Makes a directory in `parent`, and so on that directory's disk.
  init(in parent: String) throws {
    let path = "\(parent)/cambium-bench-\(getpid())"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    self.path = path
    interruptions = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        // Twice, because the run continues meanwhile and may make another file.
        for _ in 0..<2 { try? FileManager.default.removeItem(atPath: path) }
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func makeDirectory(_ name: String) throws -> String {
    let directory = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    return directory
  }

  func removeDirectory(_ directory: String) throws {
    try FileManager.default.removeItem(atPath: directory)
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
