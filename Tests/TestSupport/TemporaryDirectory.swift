#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A directory of a test's own, removed with all that is in it when the last reference goes.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/cambium-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw CannotMakeDirectory(errno: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    TemporaryDirectory.removeAll(at: path)
  }

  private static func removeAll(at path: String) {
    for name in names(in: path) where name != "." && name != ".." {
      removeAll(at: "\(path)/\(name)")
    }
    _ = unsafe remove(path)
  }

  /// Nothing if `path` is no directory. Symbolic links are not followed.
  private static func names(in path: String) -> [String] {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let bytes = unsafe UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
      names.append(unsafe String(cString: bytes.assumingMemoryBound(to: CChar.self)))
    }
    return names
  }

  /// The names of the work directories in it, which nothing leaves that was not killed.
  package func workNames() throws -> [String] {
    Self.names(in: path).filter { $0.hasPrefix(".cambium-work-") }
  }

  struct CannotMakeDirectory: Error {
    let errno: Int32
  }
}
