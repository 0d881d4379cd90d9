import Cambium
import Foundation

/// Keeps the package index of a machine in a store, and takes that through four versions of the program.
///
///     package-index [store directory] [file of packages]
///
/// The store must not exist yet. Without a file, apt is asked.
@main enum PackageIndex {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let path = arguments.first ?? "packages.cambium"
    let file = arguments.dropFirst().first
    var story = Story(at: path, from: file.map { .file(path: $0) } ?? .apt)
    do {
      try await story.tell()
    } catch {
      print("package-index: \(error)")
      exit(1)
    }
    print("\n== What happened")
    for line in story.lines { print("- \(line)") }
  }
}
