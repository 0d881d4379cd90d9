#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads a text that is kept beside a program.
enum TextFile {
  enum Fault: Error {
    case missing
    case notUTF8
    case io(reason: String)
  }

  static func text(at path: String) throws(Fault) -> String {
    guard FileManager.default.fileExists(atPath: path) else { throw .missing }
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch { throw .io(reason: "\(error)") }
    guard let text = String(validating: data, as: UTF8.self) else { throw .notUTF8 }
    return text
  }
}
