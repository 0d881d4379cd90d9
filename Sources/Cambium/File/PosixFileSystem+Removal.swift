#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension PosixFileSystem {
  /// Removes the directory and the store in it: at once, as far as a crash can tell. The remains of such a crash
  /// in a work directory beside it go with the next removal.
  ///
  /// - Throws: `.io` where there is anything in it that is no store's, before anything is touched; `.missing`, also
  ///   where another directory has taken its path.
  package func remove() throws(StoreError) {
    _ = try removableFiles()
    guard try isAtPath() else { throw .missing(path: path) }
    let work = try WorkDirectory(beside: path)
    try work.takeDirectory()
    work.remove()
  }

  /// True if the path leads to this directory, and not to another that took its place.
  private func isAtPath() throws(StoreError) -> Bool {
    let named = try Syscall.openPath(path).get("open", path: path)
    defer { Syscall.close(named) }
    return Syscall.isSame(named, directory)
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
  /// - Parameter suffix: Appended to its name, with a number if that name is taken.
  /// - Returns: its new path.
  /// - Throws: `.io`, `.missing`.
  package func setAside(_ suffix: String) throws(StoreError) -> String {
    let place = try PathPlace(path)
    var newName = place.name + suffix
    var count = 1
    while true {
      let renamed = Syscall.renameToFreeOrLook(
        place.name, in: place.parent, to: newName, in: place.parent)
      guard case .failure(.fileExists) = renamed else {
        try renamed.get("rename", path: path)
        break
      }
      count += 1
      newName = "\(place.name)\(suffix)-\(count)"
    }
    // Also where a link leads to it, a new store may be made at the path.
    try access().createDirectory(place.name, in: place.parent).get("create directory", path: path)
    try place.sync()
    return place.parentPath == "." && !path.hasPrefix(".")
      ? newName : "\(place.parentPath)/\(newName)"
  }

  /// Gives the directory another path, which must be free, and forces that to the disk.
  ///
  /// - Throws: `.io(.fileExists, …)` where there is anything of that path; `.io`.
  package func rename(to newPath: String) throws(StoreError) {
    let (place, newPlace) = (try PathPlace(path), try PathPlace(newPath))
    try Syscall.renameToFreeOrLook(
      place.name, in: place.parent, to: newPlace.name, in: newPlace.parent
    ).get("rename", path: newPath)
    try place.sync()
    try newPlace.sync()
  }

  /// Gives the directory and another one each the other's path, at once, and forces that to the disk. Where the file
  /// system cannot do that (NFS), there is nothing at this path for a moment.
  ///
  /// - Throws: `.io`.
  func exchange(with otherPath: String) throws(StoreError) {
    let (place, other) = (try PathPlace(path), try PathPlace(otherPath))
    let exchanged = Syscall.exchange(
      place.name, in: place.parent, with: other.name, in: other.parent)
    if case .failure(.invalidArgument) = exchanged {
      let work = try WorkDirectory(beside: path)
      try work.takeDirectory()
      try PosixFileSystem(at: otherPath, allowingNetwork: true).rename(to: path)
      try work.give(to: other)
    } else {
      try exchanged.get("rename", path: otherPath)
    }
    try place.sync()
    try other.sync()
  }
}
