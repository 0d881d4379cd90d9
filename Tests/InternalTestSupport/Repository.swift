import Glibc
import TestSupport

/// Files of this repository, found from where this one lies.
enum Repository {
  static func path(_ relative: String) -> String {
    let folders = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return folders.joined(separator: "/") + "/" + relative
  }

  static func text(_ relative: String) throws -> String {
    let path = path(relative)
    guard let file = unsafe fopen(path, "r") else {
      throw Disagreement(description: "\(path) cannot be read")
    }
    defer { unsafe fclose(file) }
    var text: Bytes = []
    var buffer = Bytes(repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += buffer.prefix(count)
    }
  }
}
