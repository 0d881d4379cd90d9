import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// New files may be used by those who may use their directory.
struct DirectoryAccessTests {
  private struct Case {
    let directory: mode_t
    let mask: mode_t
    let file: mode_t
  }

  private static let cases = [
    Case(directory: 0o700, mask: 0, file: 0o600),
    Case(directory: 0o770, mask: 0o022, file: 0o640),
    Case(directory: 0o2770, mask: 0o007, file: 0o660),
    Case(directory: 0o2770, mask: 0o022, file: 0o640),
    Case(directory: 0o2770, mask: 0o077, file: 0o600),
    Case(directory: 0o755, mask: 0, file: 0o644),
    Case(directory: 0o2775, mask: 0, file: 0o664),
    // Those who may only pass through, or only list names, can read nothing.
    Case(directory: 0o711, mask: 0, file: 0o600),
    Case(directory: 0o744, mask: 0, file: 0o600),
    Case(directory: 0o722, mask: 0, file: 0o600),
    // An owner who forgot himself can still open what he made.
    Case(directory: 0o300, mask: 0, file: 0o600),
  ]

  @Test func `files are as open as their directory, less the mask`() async throws {
    let temporary = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = temporary.path as String] in
      for (number, place) in Self.cases.enumerated() {
        let store = "\(path)/\(number)"
        umask(0)
        let medium = try PosixFileSystem(at: store, creating: true)
        try #require(unsafe chmod(store, place.directory) == 0)
        umask(place.mask)
        for name in [FileName.lock, .log(0), .pages(1).temporary, .blobs(7)] {
          _ = try medium.open(name, .create, at: .test)
          _ = try medium.open(name, .readWrite, at: .test)
          let found = try #require(mode(of: "\(store)/\(name)")) & 0o7777
          #expect(found == place.file, "\(String(place.directory, radix: 8)), \(name)")
        }
      }
    }
  }

  /// As root: somebody else's directory. Else: one's own.
  @Test func `files belong to the owner and group of their directory`() async throws {
    let temporary = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = temporary.path as String] in
      let isRoot = geteuid() == 0
      let (owner, group): (uid_t, gid_t) = isRoot ? (65_533, 65_532) : (geteuid(), getegid())
      let store = path + "/store"
      umask(0o022)
      let medium = try PosixFileSystem(at: store, creating: true)
      try #require(unsafe chmod(path, 0o755) == 0 && chown(store, owner, group) == 0)
      try #require(unsafe chmod(store, 0o750) == 0)
      _ = try medium.create(.log(0), [1, 2, 3])
      let made = try #require(status(of: store + "/log-0"))
      #expect(made.st_uid == owner && made.st_gid == group)
      #expect(made.st_mode & 0o7777 == 0o640)
      // What others made is left as it is.
      let other = store + "/log-1"
      let file = unsafe open(other, O_CREAT | O_WRONLY, 0o600)
      close(file)
      _ = try medium.open(.log(1), .readWrite, at: .test)
      #expect(try #require(status(of: other)).st_uid == geteuid())
      guard isRoot else { return }
      // The service.
      try #require(setegid(group) == 0 && seteuid(owner) == 0)
      _ = try PosixFileSystem(at: store).open(.log(0), .readWrite, at: .test)
    }
  }

  @Test func `a group that is not the directory's gets no more than all others`() async throws {
    let temporary = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = temporary.path as String] in
      let store = path + "/store"
      umask(0)
      let medium = try PosixFileSystem(at: store, creating: true)
      let isRoot = geteuid() == 0
      // Without privileges there is no way to make a directory of a strange group: this one is the own.
      if isRoot { try #require(unsafe chown(store, 65_533, 65_532) == 0) }
      try #require(unsafe chmod(store, 0o775) == 0 && chmod(path, 0o755) == 0)
      if isRoot { try #require(setegid(65_531) == 0 && seteuid(65_533) == 0) }
      _ = try medium.create(.log(0), [1])
      let found = try #require(mode(of: store + "/log-0")) & 0o7777
      #expect(found == (isRoot ? 0o644 : 0o664))
    }
  }
}

private func mode(of path: String) -> mode_t? { status(of: path)?.st_mode }

private func status(of path: String) -> stat? {
  var status = stat()
  return unsafe lstat(path, &status) == 0 ? status : nil
}
