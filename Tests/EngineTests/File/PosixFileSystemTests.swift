import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

struct PosixFileSystemTests {
  let temporary: TemporaryDirectory
  let path: String

  init() throws {
    temporary = try TemporaryDirectory()
    path = temporary.path + "/store.cambium"
  }

  // MARK: The directory

  @Test func `a store's directory and files are its owner's only`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    _ = try fileSystem.create(.pages(1), [1])
    let present = umask(0)
    umask(present)
    #expect(mode(of: path) == S_IFDIR | 0o700 & ~present)
    #expect(mode(of: path + "/pages-0000000001") == S_IFREG | 0o600 & ~present)
  }

  @Test func `a directory that is there is taken as it is`() throws {
    _ = try PosixFileSystem(at: path, creating: true).create(.lock)
    for creating in [true, false] {
      let again = try PosixFileSystem(at: path, creating: creating)
      #expect(try again.list(at: .test) == [.lock])
      try again.syncDirectory(at: .test)
    }
  }

  @Test func `a directory that is not there is an error, not made`() {
    #expect(throws: StoreError.missing(path: path)) { _ = try PosixFileSystem(at: path) }
    let deep = path + "/a/b"
    #expect(throws: StoreError.missing(path: deep)) {
      _ = try PosixFileSystem(at: deep, creating: true)
    }
    #expect(mode(of: path) == nil)
  }

  @Test(arguments: [true, false])
  func `a file in the directory's place is refused`(creating: Bool) throws {
    _ = try PosixFileSystem(at: temporary.path).create(.lock)
    let place = temporary.path + "/LOCK"
    #expect(throws: StoreError.failed("open", SystemErrorCode(rawValue: ENOTDIR), path: place)) {
      _ = try PosixFileSystem(at: place, creating: creating)
    }
  }

  @Test func `a store follows its directory, not the path`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    let moved = temporary.path + "/elsewhere"
    #expect(unsafe rename(path, moved) == 0)
    #expect(unsafe mkdir(path, 0o700) == 0)
    _ = try fileSystem.create(.lock)
    #expect(mode(of: moved + "/LOCK") != nil)
    #expect(mode(of: path + "/LOCK") == nil)
  }

  @Test func `what is no file of a store is not listed`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    _ = try fileSystem.create(.log(7))
    for name in ["notes.txt", "log-07", "pages-1", String(repeating: "x", count: 255)] {
      #expect(unsafe mkdir("\(path)/\(name)", 0o700) == 0)
    }
    #expect(try fileSystem.list(at: .test) == [.log(7)])
  }

  @Test func `a name that is taken is refused where the medium does not do it`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    _ = try fileSystem.create(.pages(1), [1])
    #expect(unsafe symlink("nowhere", path + "/LOCK") == 0)
    for taken in [FileName.lock, .pages(1)] {
      guard case .failure(.fileExists) = renameAfterLooking(.pages(1), to: taken, in: fileSystem)
      else {
        Issue.record("\(taken) was replaced")
        continue
      }
    }
    guard case .success = renameAfterLooking(.pages(1), to: .pages(2), in: fileSystem) else {
      Issue.record("a free name was refused")
      return
    }
    #expect(try fileSystem.contents(of: .pages(2)) == [1])
  }

  private func renameAfterLooking(
    _ name: FileName, to newName: FileName, in medium: PosixFileSystem
  ) -> Result<Void, SystemErrorCode> {
    Syscall.renameAfterLooking(
      name.description, in: medium.directory, to: newName.description, in: medium.directory)
  }

  // MARK: What is no plain file

  @Test(arguments: [OpenMode.read, .readWrite])
  func `a symbolic link is refused`(mode: OpenMode) throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    let outside = try PosixFileSystem(at: temporary.path)
    _ = try outside.create(.lock, [1, 2, 3])
    #expect(unsafe symlink("../LOCK", path + "/LOCK") == 0)
    #expect(throws: StoreError.failed("open", .tooManySymbolicLinks, path: path + "/LOCK")) {
      _ = try fileSystem.open(.lock, mode, at: .test)
    }
    #expect(try outside.contents(of: .lock) == [1, 2, 3])
  }

  @Test func `a file is not created through a symbolic link`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    #expect(unsafe symlink("../LOCK", path + "/LOCK") == 0)
    #expect(throws: StoreError.failed("create", .fileExists, path: path + "/LOCK")) {
      _ = try fileSystem.open(.lock, .create, at: .test)
    }
    #expect(self.mode(of: temporary.path + "/LOCK") == nil)
  }

  @Test(arguments: [OpenMode.read, .readWrite])
  func `a file with a second link is refused`(mode: OpenMode) throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    _ = try fileSystem.create(.pages(1), [1])
    let file = path + "/pages-0000000001"
    #expect(unsafe link(file, temporary.path + "/other") == 0)
    #expect(throws: StoreError.failed("open as the only link", .tooManyLinks, path: file)) {
      _ = try fileSystem.open(.pages(1), mode, at: .test)
    }
    #expect(unsafe unlink(temporary.path + "/other") == 0)
    #expect(try fileSystem.contents(of: .pages(1)) == [1])
  }

  @Test(.timeLimit(.minutes(60)), arguments: [OpenMode.read, .readWrite])
  func `a pipe or a directory is refused and does not hang`(mode: OpenMode) throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    #expect(unsafe mkfifo(path + "/log-1", 0o600) == 0)
    #expect(unsafe mkdir(path + "/log-2", 0o700) == 0)
    for name in [FileName.log(1), .log(2)] {
      #expect(throws: StoreError.self) { _ = try fileSystem.open(name, mode, at: .test) }
    }
  }

  // MARK: Descriptors

  @Test func `descriptors are closed on exec and when the file goes`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    var file = try fileSystem.create(.lock) as? PosixFile
    let descriptor = try #require(file?.descriptor)
    #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
    #expect(descriptor > STDERR_FILENO)
    file = nil
    // Another test may have got the number since, but not with this file in it.
    #expect((try? Syscall.status(descriptor).get())?.st_ino != inode(of: path + "/LOCK"))
  }

  @Test func `standard streams that are closed stay out of the store`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      for descriptor in 0...2 { close(Int32(descriptor)) }
      let fileSystem = try PosixFileSystem(at: path, creating: true)
      guard let file = try fileSystem.create(.lock) as? PosixFile else { exit(2) }
      let store = try Set(
        ["", "/LOCK"].map { name in
          try Syscall.open(path + name, O_RDONLY).flatMap(Syscall.status).get().st_ino
        })
      // The system's own threads may have taken one for themselves meanwhile.
      let standardStreams = (0...2).compactMap { try? Syscall.status($0).get().st_ino }
      exit(file.descriptor > 2 && store.isDisjoint(with: standardStreams) ? 0 : 1)
    }
  }

  @Test func `running out of descriptors is an error and leaks none`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let fileSystem = try PosixFileSystem(at: path, creating: true)
      _ = try fileSystem.create(.lock)
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
        exit(1)
      }
      for _ in 0..<200 {
        _ = try fileSystem.open(.lock, .read, at: .test)
        _ = try fileSystem.list(at: .test)
        _ = try? PosixFileSystem(at: path + "/LOCK")
      }
      var files: [any File] = []
      do {
        while files.count < 100 { files.append(try fileSystem.open(.lock, .read, at: .test)) }
      } catch StoreError.io(.tooManyOpenFiles, "open", _) {
        exit(files.count > 30 ? 0 : 2)
      }
      exit(3)
    }
  }

  // MARK: Writing

  @Test func `a file that may not grow further is full`() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let fileSystem = try PosixFileSystem(at: path, creating: true)
      let file = try fileSystem.create(.pages(1), [1, 2, 3])
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 8192, rlim_max: 8192)
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
        exit(1)
      }
      let full = StoreError.full(path: path + "/pages-0000000001")
      // The first part of the write fits: the kernel cuts it short, and refuses the rest.
      #expect(throws: full) {
        try file.write([UInt8](repeating: 5, count: 10_000), from: 0)
      }
      guard try file.size(at: .test) == 8192 else { exit(2) }
      #expect(throws: full) { try file.truncate(to: 10_000, at: .test) }
      exit(0)
    }
  }

  @Test func `a misaligned direct write goes through the cache`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    let file = try fileSystem.open(.pages(1), .createDirect, at: .test)
    let bytes = (0..<10_001).map { UInt8(truncatingIfNeeded: $0) }
    try file.write(bytes, from: 3)
    #expect(try file.contents() == [0, 0, 0] + bytes)
    #expect(try fileSystem.contents(of: .pages(1)) == [0, 0, 0] + bytes)
  }

  // MARK: Locks

  @Test func `the holder of a lock is named where the kernel knows it`() throws {
    let fileSystem = try PosixFileSystem(at: path, creating: true)
    let file = try fileSystem.create(.lock)
    // A POSIX lock belongs to the process, and conflicts with this one's own OFD locks.
    let other = unsafe open(path + "/LOCK", O_RDWR)
    defer { close(other) }
    var whole = flock()
    whole.l_type = Int16(F_WRLCK)
    #expect(unsafe fcntl(other, F_SETLK, &whole) == 0)
    #expect(throws: StoreError.locked(path: path + "/LOCK", holder: getpid())) {
      try file.lock(at: .test)
    }
    whole.l_type = Int16(F_UNLCK)
    #expect(unsafe fcntl(other, F_SETLK, &whole) == 0)
    try file.lock(at: .test)
    let second = try fileSystem.open(.lock, .readWrite, at: .test)
    #expect(throws: StoreError.locked(path: path + "/LOCK", holder: nil)) {
      try second.lock(at: .test)
    }
  }

  // MARK: Looking behind the file system's back

  private func status(of path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private func mode(of path: String) -> mode_t? { status(of: path)?.st_mode }
  private func inode(of path: String) -> ino_t? { status(of: path)?.st_ino }
}
