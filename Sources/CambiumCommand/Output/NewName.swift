import Cambium
import Glibc

/// The names of files and directories that are made beside their place, and renamed when they are whole.
enum NewName {
  static func temporary(for path: String) -> String { path + ".new-\(getpid())" }

  /// Whether there is anything at `path`, be it a link to nothing.
  static func isTaken(_ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Whether `path` is a device, a pipe or a socket, which has no content to be replaced.
  static func isOfStream(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// The file that a link leads to; other paths as they are.
  static func target(of path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Renames what is at `path`, in place of what is at `other`.
  static func move(_ path: String, to other: String) throws {
    guard unsafe rename(path, other) == 0 else {
      throw OutputFailure(
        message: "\(path) cannot be renamed: \(SystemErrorCode(rawValue: errno)).")
    }
  }

  /// Makes the name of what is at `path` survive a power cut.
  static func syncDirectory(of path: String) throws {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw OutputFailure(
        message: "\(parent) cannot be flushed: \(SystemErrorCode(rawValue: errno)).")
    }
  }
}
