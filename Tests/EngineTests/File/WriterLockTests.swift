import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

struct WriterLockTests {
  // MARK: In one process

  @Test func `one writer at a time, on every medium`() throws {
    let directory = try TemporaryDirectory()
    try oneAtATime(PosixFileSystem(at: directory.path))
    try oneAtATime(InMemoryFileSystem())
    try oneAtATime(SimulatedFileSystem())
    let simulated = SimulatedFileSystem()
    simulated.forgetDirectoryLocks()
    try oneAtATime(simulated)
  }

  private func oneAtATime(_ medium: some FileSystem) throws {
    #expect(try !WriterLock.isHeld(in: medium))
    for _ in 0..<3 {
      let lock = try WriterLock(in: medium)
      #expect(throws: StoreError.locked(path: medium.path, holder: getpid())) {
        _ = try WriterLock(in: medium)
      }
      #expect(try WriterLock.isHeld(in: medium))
      #expect(try medium.contents(of: .lock) == Array("\(getpid())\n".utf8))
      #expect(!lock.isForked)
      withExtendedLifetime(lock) {}
    }
    #expect(try !WriterLock.isHeld(in: medium))
    #expect(try medium.list(at: .test) == [.lock])
  }

  @Test func `removing the file lets no second writer in`() throws {
    let directory = try TemporaryDirectory()
    try removing(in: PosixFileSystem(at: directory.path), holder: nil)
    try removing(in: PosixFileSystem(at: directory.path), andPutting: [], holder: nil)
    try removing(in: InMemoryFileSystem(), holder: getpid())
    try removing(in: SimulatedFileSystem(), andPutting: Array("77\n".utf8), holder: 77)
  }

  private func removing(
    in medium: some FileSystem, andPutting other: [UInt8]? = nil, holder: Int32?
  ) throws {
    let lock = try WriterLock(in: medium)
    try medium.unlink(.lock, at: .test)
    if let other { _ = try medium.create(.lock, other) }
    #expect(throws: StoreError.locked(path: medium.path, holder: holder)) {
      _ = try WriterLock(in: medium)
    }
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: ["", "\n", "12", "x12\n", "-5\n", "0\n", "99999999999\n", "123456789012345678"])
  func `a holder that makes no sense is not named`(text: String) throws {
    let medium = SimulatedFileSystem()
    let lock = try WriterLock(in: medium)
    medium.replaceBytes(of: .lock, with: Array(text.utf8))
    #expect(throws: StoreError.locked(path: "simulated", holder: nil)) {
      _ = try WriterLock(in: medium)
    }
    withExtendedLifetime(lock) {}
  }

  @Test func `another's number does not stay in a file that was longer`() throws {
    let medium = SimulatedFileSystem()
    _ = try medium.create(.lock, Array("2147483647\nand more".utf8))
    let lock = try WriterLock(in: medium)
    #expect(medium.bytes(of: .lock) == Array("\(getpid())\n".utf8))
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: [true, false])
  func `a failed call leaves no lock behind, and a full disk is no failure`(exists: Bool) throws {
    let whole = SimulatedFileSystem()
    if exists { _ = try whole.create(.lock) }
    let start = whole.callCount
    _ = try WriterLock(in: whole)
    for call in start..<whole.callCount {
      for errno in [SystemErrorCode.ioError, .noSpace, .tooManyOpenFiles] {
        let medium = SimulatedFileSystem()
        if exists { _ = try medium.create(.lock) }
        medium.inject(.error(errno), at: .call(call))
        let error = storeError { () throws(StoreError) in _ = try WriterLock(in: medium) }
        let isTolerated = errno == .noSpace && whole.calls[call].operation == .write
        #expect((error == nil) == isTolerated, "\(errno) at call \(call)")
        medium.heal()
        #expect(medium.openFileCount == 0)
        _ = try WriterLock(in: medium)
      }
    }
  }

  @Test func `a link in the file's place is refused`() throws {
    let directory = try TemporaryDirectory()
    let medium = try PosixFileSystem(at: directory.path)
    #expect(unsafe symlink("/tmp/elsewhere", directory.path + "/LOCK") == 0)
    #expect(throws: StoreError.self) { _ = try WriterLock(in: medium) }
  }

  @Test func `a store has one writer whatever path leads to it`() throws {
    let directory = try TemporaryDirectory()
    let lock = try WriterLock(in: PosixFileSystem(at: directory.path + "/store", creating: true))
    #expect(unsafe symlink("store", directory.path + "/link") == 0)
    #expect(throws: StoreError.self) {
      _ = try WriterLock(in: PosixFileSystem(at: directory.path + "/link"))
    }
    #expect(unsafe rename(directory.path + "/store", directory.path + "/moved") == 0)
    #expect(throws: StoreError.self) {
      _ = try WriterLock(in: PosixFileSystem(at: directory.path + "/moved"))
    }
    withExtendedLifetime(lock) {}
  }

  // MARK: In several processes

  /// Whether a writer comes in from here, with files of its own; 2 if it is locked out by `holder`.
  private static func enter(_ path: String, holder: Int32?) -> Int32 {
    do {
      _ = try WriterLock(in: PosixFileSystem(at: path))
      return 0
    } catch StoreError.locked(_, let found) {
      return found == holder ? 2 : 3
    } catch {
      return 4
    }
  }

  @Test(.timeLimit(.minutes(60)))
  func `another process is locked out, and told by whom`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let parent = getpid()
      var lock: WriterLock? = try WriterLock(in: PosixFileSystem(at: path))
      guard inForkedChild({ Self.enter(path, holder: parent) }) == 2 else { exit(1) }
      guard unsafe unlink(path + "/LOCK") == 0 else { exit(2) }
      guard inForkedChild({ Self.enter(path, holder: nil) }) == 2 else { exit(3) }
      withExtendedLifetime(lock) {}
      lock = nil
      exit(inForkedChild { Self.enter(path, holder: nil) })
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a child that drops what it inherited does not unlock the parent's store`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let parent = getpid()
      let box = Box(try WriterLock(in: PosixFileSystem(at: path)))
      guard
        inForkedChild({
          guard box.lock?.isForked == true else { return 1 }
          box.lock = nil
          return Self.enter(path, holder: parent)
        }) == 2
      else { exit(1) }
      guard Self.enter(path, holder: parent) == 2 else { exit(2) }
      box.lock = nil
      exit(Self.enter(path, holder: nil))
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `closing a store frees it though a child still has its files`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let box = Box(try WriterLock(in: PosixFileSystem(at: path)))
      var (pipes, birth): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
      guard unsafe pipe(&pipes) == 0 && pipe(&birth) == 0 else { exit(1) }
      let (readEnd, writeEnd, isBorn, said) = (pipes[0], pipes[1], birth[0], birth[1])
      let thread = try BackgroundThread(name: "waits for child") {
        _ = inForkedChild {
          // Lives, with all it inherited, until the parent says that it has seen enough.
          var byte: UInt8 = 1
          _ = unsafe write(said, &byte, 1)
          close(writeEnd)
          _ = unsafe read(readEnd, &byte, 1)
          return 0
        }
      }
      var byte: UInt8 = 0
      guard unsafe read(isBorn, &byte, 1) == 1 else { exit(2) }
      box.lock = nil
      let status = Self.enter(path, holder: nil)
      close(writeEnd)
      thread.join()
      exit(status)
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `a killed holder leaves no lock`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let isKilled =
        inForkedChild {
          let lock = try? WriterLock(in: PosixFileSystem(at: path))
          withExtendedLifetime(lock) { _ = kill(getpid(), SIGKILL) }
          return 0
        } == -1
      let isLeft = unsafe access(path + "/LOCK", F_OK) == 0
      exit(isKilled && isLeft ? Self.enter(path, holder: nil) : 1)
    }
    withExtendedLifetime(directory) {}
  }

  private final class Box: @unchecked Sendable {
    var lock: WriterLock?

    init(_ lock: WriterLock) {
      self.lock = lock
    }
  }
}
