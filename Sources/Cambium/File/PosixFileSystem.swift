internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A directory of the operating system's.
///
/// It is bound to the directory itself, by descriptor: renaming a parent, or putting something else
/// in its place, does not lead a store elsewhere. `site` is ignored throughout.
package final class PosixFileSystem: FileSystem {
  package let path: String
  let directory: Syscall.Descriptor
  private let written = Atomic<Int>(0)

  /// Binds to the directory at `path`.
  ///
  /// With `creating` it is made if it is not there, for its owner only, and is on the disk when
  /// this returns.
  ///
  /// - Throws: `.networkFileSystem` unless `allowingNetwork`; `.missing`, `.io`, `.full`.
  package init(
    at path: String, creating: Bool = false, allowingNetwork: Bool = false
  ) throws(StoreError) {
    let isMade = creating ? try PosixFileSystem.makeDirectory(path) : false
    directory = try Syscall.open(path, O_RDONLY | O_DIRECTORY).get("open", path: path)
    self.path = path
    if !allowingNetwork { try refuseNetwork(removing: isMade) }
    if creating { try syncParent() }
  }

  deinit {
    Syscall.close(directory)
  }

  /// The bytes that were to be written by all calls so far.
  package var bytesWritten: Int { written.load(ordering: .relaxed) }

  func noteWriting(_ count: Int) {
    written.wrappingAdd(count, ordering: .relaxed)
  }

  package var isShared: Bool { true }

  package var volumeSize: Int? { try? Syscall.volumeSize(directory).get() }

  func path(of name: FileName) -> String { "\(path)/\(name)" }
}

// MARK: - The directory

extension PosixFileSystem {
  /// - Returns: false if there was one.
  private static func makeDirectory(_ path: String) throws(StoreError) -> Bool {
    let made = Syscall.makeDirectory(path, mode: S_IRWXU)
    if case .failure(.fileExists) = made { return false }
    try made.get("create directory", path: path)
    return true
  }

  /// - Parameter isMade: True if the directory is new; then it does not stay.
  private func refuseNetwork(removing isMade: Bool) throws(StoreError) {
    let medium = try Syscall.mediumKind(directory).get("look at file system", path: path)
    guard case .network(let kind) = medium else { return }
    if isMade { Syscall.removeDirectory(path) }
    throw .networkFileSystem(path: path, kind: kind)
  }

  /// Syncs the directory that names this one. Also where this one was there before: the process that
  /// made it may have been killed before it could.
  ///
  /// A parent that may be passed through but not read cannot be synced by this process; then
  /// the directory was most likely created by another user, long ago.
  private func syncParent() throws(StoreError) {
    let opened = Syscall.open("..", in: directory, O_RDONLY | O_DIRECTORY)
    if case .failure(.permissionDenied) = opened { return }
    let parent = try opened.get("open", path: path + "/..")
    defer { Syscall.close(parent) }
    try Syscall.sync(parent).get("sync directory", path: path + "/..")
  }

  package func syncDirectory(at site: Site) throws(StoreError) {
    try Syscall.sync(directory).get("sync directory", path: path)
  }

  package func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    let renamed = Syscall.renameToFreeOrLook(
      name.description, in: directory, to: newName.description, in: directory)
    if case .failure(.fileExists) = renamed {
      throw .failed("rename", .fileExists, path: path(of: newName))
    }
    try renamed.get("rename", path: path(of: name))
  }

  package func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    try Syscall.unlink(name.description, in: directory).get("unlink", path: path(of: name))
  }

  package var bytesFree: Int? { try? Syscall.bytesFree(at: path).get() }

  package func list(at site: Site) throws(StoreError) -> [FileName] {
    try Syscall.names(in: directory).get("list", path: path).compactMap { FileName($0) }
  }
}

// MARK: - Opening

extension PosixFileSystem {
  package func open(_ name: FileName, _ mode: OpenMode, at site: Site) throws(StoreError)
    -> any File
  {
    let path = path(of: name)
    let descriptor = try openDescriptor(name.description, mode)
      .get(mode.creates ? "create" : "open", path: path)
    let isDirect = mode.isDirect && PosixFileSystem.goDirect(descriptor)
    let file = PosixFile(descriptor, path: path, isDirect: isDirect, in: self)
    try PosixFileSystem.checkOrdinary(file)
    return file
  }

  private func openDescriptor(
    _ name: String, _ mode: OpenMode
  ) throws(StoreError) -> Result<Syscall.Descriptor, SystemErrorCode> {
    guard mode.creates else { return Syscall.open(name, in: directory, mode.flags) }
    return try access().createFile(name, in: directory, mode.flags)
  }

  /// The access rights of the directory now.
  func access() throws(StoreError) -> DirectoryAccess {
    try DirectoryAccess(of: directory, path: path)
  }

  /// Set after the file is open: an `open` that asks for it creates the file and then fails where the
  /// file system cannot. Such files are written through the page cache.
  private static func goDirect(_ descriptor: Syscall.Descriptor) -> Bool {
    if case .success = Syscall.setDirect(descriptor, true) { true } else { false }
  }

  /// Refuses anything but a plain file of this directory's own: a device or pipe would hang a read, and
  /// a second link would let a write reach a file outside the store.
  private static func checkOrdinary(_ file: PosixFile) throws(StoreError) {
    let status = try Syscall.status(file.descriptor).get("open", path: file.path)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError.failed("open as a regular file", .invalidArgument, path: file.path)
    }
    // Unlinked since it was opened, as a segment is under a reader: the same as a moment later.
    if status.st_nlink == 0 { throw .missing(path: file.path) }
    guard status.st_nlink == 1 else {
      throw StoreError.failed("open as the only link", .tooManyLinks, path: file.path)
    }
  }
}

extension OpenMode {
  /// `O_NONBLOCK` means nothing to a regular file, and keeps opening a pipe from waiting for its
  /// other end.
  fileprivate var flags: Int32 {
    let always = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    return switch self {
    case .read: always | O_RDONLY
    case .readWrite, .readWriteDirect: always | O_RDWR
    case .create, .createDirect: always | O_RDWR | O_CREAT | O_EXCL
    }
  }
}

// MARK: - Lock

extension PosixFileSystem {
  /// By a description of its own, as the lock belongs to the description.
  package func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
    let descriptor = try Syscall.open(".", in: directory, O_RDONLY | O_DIRECTORY)
      .get("open", path: path)
    let file = PosixFile(descriptor, path: path, isDirect: false, in: self)
    let result = Syscall.lockDirectory(descriptor)
    switch result {
    case .failure(.wouldBlock): throw .locked(path: path, holder: nil)
    case .failure(let errno) where PosixFileSystem.saysUnknown.contains(errno): return nil
    default: try result.get("lock directory", path: path)
    }
    file.noteLock()
    return file
  }

  /// How media say that they have no locks on directories.
  private static let saysUnknown: Set<SystemErrorCode> = [
    .badDescriptor, .invalidArgument, .noLocks, .notSupported, .notImplemented,
  ]
}
