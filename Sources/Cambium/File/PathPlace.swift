#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A place in the file system where something is or will be: a directory, which is open, and a name in it.
///
/// A path that is a link stands for the link's destination, as it does for opening. A link that leads nowhere stands
/// for itself.
final class PathPlace {
  /// As the caller named it.
  let path: String
  let parent: Syscall.Descriptor
  let parentPath: String
  let name: String

  /// - Throws: `.missing` if the directory does not exist; `.io`.
  init(_ path: String) throws(StoreError) {
    self.path = path
    let resolved = Syscall.resolvedPath(path)
    (parentPath, name) = Self.split(resolved ?? path)
    parent = try Syscall.open(parentPath, O_RDONLY | O_DIRECTORY).get("open", path: parentPath)
  }

  deinit { Syscall.close(parent) }

  /// Forces names that were changed to the disk.
  func sync() throws(StoreError) {
    try Syscall.sync(parent).get("sync directory", path: parentPath)
  }

  /// True if anything has the name, be it a link to nothing.
  func isTaken() throws(StoreError) -> Bool {
    try Syscall.exists(name, in: parent).get("look at", path: path)
  }

  /// Throws if the place is in the directory of a store, at any depth: only files of that store may be there.
  ///
  /// - Throws: `.insideStore`; `.io`.
  func checkIsOutsideStores() throws(StoreError) {
    var directory = try Syscall.openPath(".", in: parent)
      .get("open", path: parentPath)
    defer { Syscall.close(directory) }
    while true {
      if Self.isStore(directory) { throw .insideStore(path: path) }
      let above = try Syscall.openPath("..", in: directory)
        .get("open", path: parentPath)
      let isRoot = Syscall.isSame(directory, above)
      Syscall.close(directory)
      directory = above
      if isRoot { return }
    }
  }

  private static func isStore(_ directory: Syscall.Descriptor) -> Bool {
    func has(_ name: FileName) -> Bool {
      (try? Syscall.exists(name.description, in: directory).get()) ?? false
    }
    return has(.lock) && (has(.log(0)) || has(.log(1)))
  }

  /// The directory that names the one at `path`, and the name.
  private static func split(_ path: String) -> (parent: String, name: String) {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return (".", String(path)) }
    let parent = path[..<slash]
    return (parent.isEmpty ? "/" : String(parent), String(path[path.index(after: slash)...]))
  }
}
