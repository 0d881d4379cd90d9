#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A directory in which a store or file is made until it is complete and gets its name, or to which it is moved to be removed.
///
/// It lies in the directory of the place that it is for, under a random new name, and only its owner may enter it. A file in
/// it, its mark, says that it is ours. The process that made it keeps the mark locked. **Nothing in a directory without a
/// mark is ever removed.** The work directory of a killed process has a complete mark that is not locked; it is removed
/// when the next work directory is made beside it.
///
///     orders.cambium                        the place
///     .cambium-work-9f41b06c2e77d035/
///       MARK                                says what the directory is
///       content                             the store or file that will be at the place, or was
package final class WorkDirectory {
  /// The place that it is for.
  private let place: PathPlace
  private let name: String
  private let directory: Syscall.Descriptor
  /// Nil if the file system has no locks. Then the mark stays empty, and no process removes the directory but this one.
  private let mark: PosixFile?
  private let forks = ForkGuard()
  private var isRemoved = false

  private static let prefix = ".cambium-work-"
  private static let markName = "MARK"
  private static let contentName = "content"
  static let markText =
    "A work directory of Cambium. When no process has this file locked any more, the next one removes the directory.\n"

  /// Makes a work directory beside `path`, and removes those that killed processes left there.
  ///
  /// - Throws: `.missing` if there is no directory that `path` could be in; `.full`, `.io`.
  package init(beside path: String) throws(StoreError) {
    place = try PathPlace(path)
    Self.removeRest(in: place.parent)
    (name, directory, mark) = try Self.make(in: place)
    do throws(StoreError) {
      if let mark {
        try mark.write(Array(Self.markText.utf8).rawSpan, from: 0, at: .lockWrite)
        try mark.sync(at: .lockWrite)
      }
      try Syscall.sync(directory).get("sync directory", path: path)
      try place.sync()
    } catch {
      remove()
      throw error
    }
  }

  deinit {
    remove()
    Syscall.close(directory)
  }

  /// The path of the work directory.
  private var path: String { "\(place.parentPath)/\(name)" }

  /// Where the store or file is made.
  package var content: String { "\(path)/\(Self.contentName)" }
}

extension WorkDirectory {
  /// Throws if a path is in the directory of a store, at any depth.
  ///
  /// - Throws: `.insideStore`; `.missing`, `.io`.
  package static func checkIsOutsideStores(_ path: String) throws(StoreError) {
    try PathPlace(path).checkIsOutsideStores()
  }
}

// MARK: - Making

extension WorkDirectory {
  private static func make(
    in place: PathPlace
  ) throws(StoreError) -> (String, Syscall.Descriptor, PosixFile?) {
    while true {
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      let name = prefix + String(repeating: "0", count: 16 - digits.count) + digits
      let made = Syscall.makeDirectory(name, in: place.parent, mode: S_IRWXU)
      if case .failure(.fileExists) = made { continue }
      let path = "\(place.parentPath)/\(name)"
      try made.get("create directory", path: path)
      let directory = try Syscall.open(name, in: place.parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        .get("open", path: path)
      do throws(StoreError) {
        let mark = try makeMark(in: directory, path)
        return (name, directory, mark)
      } catch {
        _ = Syscall.unlink(markName, in: directory)
        Syscall.close(directory)
        Syscall.removeDirectory(name, in: place.parent)
        // Another process had the mark locked for a moment, to see whether it may remove the directory.
        guard case .locked = error else { throw error }
      }
    }
  }

  /// Locked before it is written: so a mark that is whole and not locked is of a process that has ended.
  private static func makeMark(
    in directory: Syscall.Descriptor, _ path: String
  ) throws(StoreError) -> PosixFile? {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    let descriptor = try Syscall.open(markName, in: directory, flags, mode: S_IRUSR | S_IWUSR)
      .get("create", path: "\(path)/\(markName)")
    let mark = PosixFile(descriptor, path: "\(path)/\(markName)")
    do throws(StoreError) {
      try mark.lock(at: .lockTake)
      return mark
    } catch {
      if case .locked = error { throw error }
      return nil
    }
  }

  /// Makes an empty directory for a store.
  ///
  /// - Parameter access: Its access rights; without it, its owner's only.
  package func makeStoreDirectory(like access: DirectoryAccess?) throws(StoreError) {
    let made =
      access?.createDirectory(Self.contentName, in: directory)
      ?? Syscall.makeDirectory(Self.contentName, in: directory, mode: S_IRWXU)
    try made.get("create directory", path: content)
  }

  /// Makes an empty file with the permissions of a store's files in a directory with that access.
  ///
  /// - Returns: its descriptor, open for writing.
  package func makeFile(like access: DirectoryAccess) throws(StoreError) -> Int32 {
    try access.createFile(Self.contentName, in: directory, O_WRONLY).get("create", path: content)
  }
}

// MARK: - Renaming

extension WorkDirectory {
  /// Gives the finished store or file its name, for good, and removes the work directory.
  ///
  /// - Parameter isReplacing: True if a file of that name is replaced.
  /// - Throws: `.io(.fileExists, …)` if there is anything at the place, even a link, and it is not replaced; `.io`.
  package func finish(replacing isReplacing: Bool = false) throws(StoreError) {
    let renamed =
      isReplacing
      ? Syscall.rename(Self.contentName, in: directory, to: place.name, in: place.parent)
      : Syscall.renameToFreeOrLook(
        Self.contentName, in: directory, to: place.name, in: place.parent)
    try renamed.get("rename", path: place.path)
    try place.sync()
    remove()
  }

  /// Moves the content to another place, where nothing exists.
  func give(to other: PathPlace) throws(StoreError) {
    try Syscall.renameToFreeOrLook(
      Self.contentName, in: directory, to: other.name, in: other.parent
    )
    .get("rename", path: other.path)
    try other.sync()
  }

  /// Moves the directory at the place into the work directory, and forces that to the disk.
  func takeDirectory() throws(StoreError) {
    try Syscall.rename(place.name, in: place.parent, to: Self.contentName, in: directory)
      .get("rename", path: place.path)
    try place.sync()
    try Syscall.sync(directory).get("sync directory", path: path)
  }
}

// MARK: - Removing

extension WorkDirectory {
  /// Removes the work directory and the files of a store in it. If there are other files, they stay, and so does the directory.
  package func remove() {
    if isRemoved || forks.isForked { return }
    isRemoved = true
    Self.remove(directory, named: name, in: place.parent)
  }

  /// Removes the work directories of killed processes, as far as they can be recognized and removed.
  private static func removeRest(in parent: Syscall.Descriptor) {
    guard case .success(let names) = Syscall.names(in: parent) else { return }
    for name in names where isOfWork(name) {
      guard
        case .success(let directory) = Syscall.open(
          name, in: parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      else { continue }
      defer { Syscall.close(directory) }
      guard let mark = claimRest(directory) else { continue }
      remove(directory, named: name, in: parent)
      withExtendedLifetime(mark) {}
    }
  }

  private static func isOfWork(_ name: String) -> Bool {
    let digits = name.utf8.dropFirst(prefix.utf8.count)
    return name.hasPrefix(prefix) && digits.count == 16
      && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Locks and returns the mark of a work directory that no process uses any more; nil for any other directory.
  private static func claimRest(_ directory: Syscall.Descriptor) -> PosixFile? {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
    guard case .success(let status) = Syscall.status(directory), status.st_uid == Syscall.user,
      case .success(let descriptor) = Syscall.open(markName, in: directory, flags)
    else { return nil }
    let mark = PosixFile(descriptor, path: markName)
    guard case .success(let markStatus) = Syscall.status(descriptor),
      markStatus.st_mode & S_IFMT == S_IFREG, (try? mark.lock(at: .lockTake)) != nil,
      isWhole(mark)
    else { return nil }
    return mark
  }

  private static func isWhole(_ mark: PosixFile) -> Bool {
    var text = [UInt8](repeating: 0, count: markText.utf8.count + 1)
    var span = text.mutableSpan
    var bytes = unsafe span.mutableBytes
    guard let count = try? mark.read(into: &bytes, from: 0, at: .lockRead) else { return false }
    return text[..<count].elementsEqual(markText.utf8)
  }

  /// The mark is removed last, so that a directory which cannot be removed now still has it.
  private static func remove(
    _ directory: Syscall.Descriptor, named name: String, in parent: Syscall.Descriptor
  ) {
    // A copy of a whole store that is made in it has a work directory of its own.
    removeRest(in: directory)
    removeContent(of: directory)
    guard case .success(let names) = Syscall.names(in: directory),
      names.allSatisfy({ [".", "..", markName].contains($0) })
    else { return }
    _ = Syscall.unlink(markName, in: directory)
    Syscall.removeDirectory(name, in: parent)
  }

  private static func removeContent(of directory: Syscall.Descriptor) {
    if case .success = Syscall.unlink(contentName, in: directory) { return }
    guard
      case .success(let content) = Syscall.open(
        contentName, in: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    else { return }
    defer { Syscall.close(content) }
    guard case .success(let names) = Syscall.names(in: content) else { return }
    for name in names where FileName(name) != nil { _ = Syscall.unlink(name, in: content) }
    Syscall.removeDirectory(contentName, in: directory)
  }
}
