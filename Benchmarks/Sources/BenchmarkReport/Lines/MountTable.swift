/// The mounted file systems, as `/proc/self/mountinfo` lists them.
public struct MountTable: Sendable {
  private var mounts: [(point: String, type: String)] = []

  /// - Parameter text: Lines such as `36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/sda rw`: the fifth word is
  ///   where it is mounted, and the one after the lone dash its type.
  public init(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 5, let dash = words.firstIndex(of: "-"), dash + 1 < words.count else {
        continue
      }
      mounts.append((Self.unescaped(words[4]), String(words[dash + 1])))
    }
  }

  /// The type of the file system that holds an absolute path without links, or nil if there is none.
  ///
  /// Of several mounted at one place, the last one hides the others.
  public func type(holding path: String) -> String? {
    let holding = mounts.filter { mount in
      mount.point == "/" || path == mount.point || path.hasPrefix(mount.point + "/")
    }
    let longest = holding.map(\.point.utf8.count).max()
    return holding.last { $0.point.utf8.count == longest }?.type
  }

  /// Spaces and the like are written as a backslash and three octal digits.
  private static func unescaped(_ word: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = word.utf8[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), let code = UInt8(String(Substring(digits)), radix: 8) {
        bytes.append(code)
        rest.removeFirst(digits.count)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
