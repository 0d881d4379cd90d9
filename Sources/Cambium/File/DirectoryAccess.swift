#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The owner, the group and the permissions of a directory.
///
/// New files of a store get theirs from its directory, so that they can be used by all who may use the others: also if
/// an administrator made them. They never allow more than the directory does.
package struct DirectoryAccess: Hashable, Sendable {
  let mode: mode_t
  let owner: uid_t
  let group: gid_t

  init(of directory: Syscall.Descriptor, path: String) throws(StoreError) {
    let status = try Syscall.status(directory).get("look at", path: path)
    (mode, owner, group) = (status.st_mode & 0o7777, status.st_uid, status.st_gid)
  }

  /// Reads the access to the directory at a path.
  ///
  /// - Throws: `.missing`, `.io`.
  package init(at path: String) throws(StoreError) {
    let directory = try Syscall.openPath(path).get("look at", path: path)
    defer { Syscall.close(directory) }
    try self.init(of: directory, path: path)
  }

  /// The permissions of a file in the directory, before the process's mask: of each class as the directory's, where
  /// that class may also pass through the directory; and always the owner's own.
  var fileMode: mode_t {
    let passing = mode & 0o111
    return mode & 0o666 & (passing << 1 | passing << 2) | S_IRUSR | S_IWUSR
  }
}

extension DirectoryAccess {
  /// Creates a file, which must not exist, with the permissions that the process's mask leaves.
  func createFile(
    _ name: String, in directory: Syscall.Descriptor, _ flags: Int32
  ) -> Result<Syscall.Descriptor, SystemErrorCode> {
    // A file that root creates has root's group for a moment, before it gets the right one.
    let mode = isInherited || Syscall.isRoot ? fileMode : withoutGroup(fileMode)
    let flags = flags | O_CREAT | O_EXCL | O_NOFOLLOW
    return Syscall.open(name, in: directory, flags, mode: mode)
      .map { file in
        giveOwner(to: file)
        return file
      }
  }

  /// Creates a directory like this one, which must not exist, within one that no other user may enter.
  func createDirectory(
    _ name: String, in directory: Syscall.Descriptor
  ) -> Result<Void, SystemErrorCode> {
    Syscall.makeDirectory(name, in: directory, mode: mode & 0o777 | S_IRWXU).flatMap {
      Syscall.open(name, in: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }.map { made in
      defer { Syscall.close(made) }
      giveOwner(to: made, mode & S_ISGID)
    }
  }

  /// True if new files get the directory's group by themselves.
  private var isInherited: Bool { mode & S_ISGID != 0 || Syscall.group == group }

  /// The permissions if the file keeps another group: its members get no more than other users.
  private func withoutGroup(_ mode: mode_t) -> mode_t { mode & (~0o070 | (mode & 0o007) << 3) }

  /// Gives a new file to the directory's group, and by root to its owner. Where the system refuses that, members of
  /// the other group get no more than other users.
  private func giveOwner(to made: Syscall.Descriptor, _ bits: mode_t = 0) {
    guard case .success(var status) = Syscall.status(made) else { return }
    let newOwner = Syscall.isRoot ? owner : status.st_uid
    if (status.st_uid, status.st_gid) != (newOwner, group) {
      _ = Syscall.setOwner(made, newOwner, group)
      if case .success(let new) = Syscall.status(made) { status = new }
    }
    let old = status.st_mode & 0o7777
    let new = status.st_gid == group ? old | bits : withoutGroup(old)
    if new != old { _ = Syscall.setMode(made, new) }
  }
}
