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

  /// Gives the directory another path, which must be free, and forces that to the medium.
  ///
  /// - Throws: `.io(.fileExists, …)` where there is anything of that path; `.io`.
  package func rename(to newPath: String) throws(StoreError) {
    try withParents(newPath) { parent, name, other, otherName throws(StoreError) in
      try Syscall.renameToFree(name, to: otherName, in: parent, newDirectory: other)
        .get("rename", path: newPath)
    }
  }

  /// Gives the directory and another one each the other's path, at once, and forces that to the medium.
  ///
  /// - Throws: `.io`.
  func exchange(with otherPath: String) throws(StoreError) {
    try withParents(otherPath) { parent, name, other, otherName throws(StoreError) in
      try Syscall.exchange(name, in: parent, with: otherName, in: other)
        .get("rename", path: otherPath)
    }
  }

  /// Changes the names of the directory and of another, and forces the directories that name them to the medium.
  private func withParents(
    _ otherPath: String,
    _ change: (Syscall.Descriptor, String, Syscall.Descriptor, String) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (parentPath, name) = Self.split(path)
    let (otherParentPath, otherName) = Self.split(otherPath)
    let parent = try Syscall.open(parentPath, O_RDONLY | O_DIRECTORY)
      .get("open", path: parentPath)
    defer { Syscall.close(parent) }
    let other = try Syscall.open(otherParentPath, O_RDONLY | O_DIRECTORY)
      .get("open", path: otherParentPath)
    defer { Syscall.close(other) }
    try change(parent, name, other, otherName)
    try Syscall.sync(parent).get("sync directory", path: parentPath)
    try Syscall.sync(other).get("sync directory", path: otherParentPath)
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
