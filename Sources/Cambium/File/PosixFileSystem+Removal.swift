internal import Glibc

extension PosixFileSystem {
  /// What a directory is called from the moment on when its store is to be gone.
  private static let removedSuffix = ".removed"

  /// Removes the directory and the store in it: at once, as far as a crash can tell. What such a crash leaves
  /// beside it, under a name of its own, goes with the next removal.
  ///
  /// - Throws: `.io` where there is anything in it that is no store's, before anything is touched; `.missing`.
  package func remove() throws(StoreError) {
    _ = try removableFiles()
    let (parentPath, name) = Self.split(path)
    let parent = try Syscall.open(parentPath, O_RDONLY | O_DIRECTORY)
      .get("open", path: parentPath)
    defer { Syscall.close(parent) }
    let removedName = name + Self.removedSuffix
    try Self.removeRest(removedName, in: parent, parentPath)
    try Syscall.rename(name, to: removedName, in: parent).get("rename", path: path)
    try Syscall.sync(parent).get("sync directory", path: parentPath)
    try Self.removeRest(removedName, in: parent, parentPath)
    try Syscall.sync(parent).get("sync directory", path: parentPath)
  }

  /// The files in the directory, all of them a store's.
  ///
  /// - Throws: `.io` where there is anything else in it.
  package func removableFiles() throws(StoreError) -> [FileName] {
    var files: [FileName] = []
    for name in try Syscall.names(in: directory).get("list", path: path)
    where ![".", ".."].contains(name) {
      guard let file = FileName(name) else {
        throw .failed("remove", .directoryNotEmpty, path: "\(path)/\(name)")
      }
      files.append(file)
    }
    return files
  }

  /// Moves the directory out of the way, at once and with all that is in it.
  ///
  /// - Parameter suffix: What its name has behind it from then on, and a number where there is such a name already.
  /// - Returns: its new path.
  /// - Throws: `.io`, `.missing`.
  package func setAside(_ suffix: String) throws(StoreError) -> String {
    let (parentPath, name) = Self.split(path)
    let parent = try Syscall.open(parentPath, O_RDONLY | O_DIRECTORY)
      .get("open", path: parentPath)
    defer { Syscall.close(parent) }
    var newName = name + suffix
    var count = 1
    while case .success(let taken) = Syscall.open(newName, in: parent, O_RDONLY) {
      Syscall.close(taken)
      count += 1
      newName = "\(name)\(suffix)-\(count)"
    }
    try Syscall.rename(name, to: newName, in: parent).get("rename", path: path)
    try Syscall.sync(parent).get("sync directory", path: parentPath)
    return parentPath == "." && !path.hasPrefix(".") ? newName : "\(parentPath)/\(newName)"
  }

  /// Gives the directory another name beside the one it has, which must be free, and forces that to the medium.
  ///
  /// - Throws: `.io(.fileExists, …)` where there is anything of that name; `.io`.
  package func rename(to newPath: String) throws(StoreError) {
    let (parentPath, name) = Self.split(path)
    let parent = try Syscall.open(parentPath, O_RDONLY | O_DIRECTORY)
      .get("open", path: parentPath)
    defer { Syscall.close(parent) }
    try Syscall.renameToFree(name, to: Self.split(newPath).name, in: parent)
      .get("rename", path: newPath)
    try Syscall.sync(parent).get("sync directory", path: parentPath)
  }

  /// Removes a directory that was a store's, if it is there.
  private static func removeRest(
    _ name: String, in parent: Syscall.Descriptor, _ parentPath: String
  ) throws(StoreError) {
    let path = "\(parentPath)/\(name)"
    let opened = Syscall.open(name, in: parent, O_RDONLY | O_DIRECTORY)
    if case .failure(.noSuchFile) = opened { return }
    let directory = try opened.get("open", path: path)
    defer { Syscall.close(directory) }
    for file in try Syscall.names(in: directory).get("list", path: path)
    where FileName(file) != nil {
      try Syscall.unlink(file, in: directory).get("unlink", path: "\(path)/\(file)")
    }
    Syscall.removeDirectory(path)
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
