import Cambium
import TestSupport
import Testing

struct FlushFailureTests {
  /// What can be seen of a failed flush, in the order in which it is looked at.
  struct Sight: Equatable, Sendable, CustomStringConvertible {
    let throwsAtOnce: Bool
    /// What a read and a map show.
    let shows: String
    /// What is there after the power is cut, however lucky.
    let afterCrash: String
    let throwsNext: Bool
    /// Another file that was open on the same bytes.
    let throwsForOther: Bool
    /// A file opened only now.
    let throwsForNew: Bool
    let afterAllThat: String

    init(
      _ throwsAtOnce: Bool, _ shows: String, _ afterCrash: String, _ throwsNext: Bool,
      _ throwsForOther: Bool, _ throwsForNew: Bool, _ afterAllThat: String
    ) {
      self.throwsAtOnce = throwsAtOnce
      self.shows = shows
      self.afterCrash = afterCrash
      self.throwsNext = throwsNext
      self.throwsForOther = throwsForOther
      self.throwsForNew = throwsForNew
      self.afterAllThat = afterAllThat
    }

    var description: String {
      "\(throwsAtOnce) \(shows) \(afterCrash) \(throwsNext) \(throwsForOther) \(throwsForNew)"
        + " \(afterAllThat)"
    }
  }

  @Test(
    arguments: [
      //                      throws  shows  crash  next  other   new   at last
      (.errorCacheShowsNew, Sight(true, "new", "old", false, true, false, "old")),
      (.errorCacheReverts, Sight(true, "old", "old", false, true, false, "old")),
      (.errorStillDirty, Sight(true, "new", "new", false, true, false, "new")),
      (.errorOneCallLate, Sight(false, "new", "old", true, true, false, "old")),
      (.errorOnOneDescriptor, Sight(true, "new", "old", false, false, false, "old")),
    ] as [(FlushFailure, Sight)])
  func `a failed flush of a file looks as it did where it was seen`(
    failure: FlushFailure, expected: Sight
  ) throws {
    let fileSystem = SimulatedFileSystem()
    let file = try fileSystem.create(.log(1), Array("old".utf8))
    let other = try fileSystem.open(.log(1), .readWrite, at: .test)
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    let mapping = try file.map(capacity: 3, at: .test)
    try file.write(Array("new".utf8), from: 0)
    fileSystem.inject(.flush(failure), at: .operation(.sync, 1))

    func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }
    func fails(_ file: any File) -> Bool {
      do { try file.sync(at: .test) } catch { return true }
      return false
    }
    let throwsAtOnce = fails(file)
    let shows = text(try fileSystem.contents(of: .log(1)))
    #expect(text(mapping.array(0..<3)) == shows)
    let afterCrash = text(fileSystem.crashed(.all).bytes(of: .log(1)))
    let sight = Sight(
      throwsAtOnce, shows, afterCrash, fails(file), fails(other),
      fails(try fileSystem.open(.log(1), .readWrite, at: .test)),
      text(fileSystem.crashed(.none).bytes(of: .log(1))))
    #expect(sight == expected)
    #expect(!fails(file) && !fails(other), "each is told once")

    // What the cache shows and the medium has not goes when memory is short.
    fileSystem.dropCaches()
    #expect(text(fileSystem.bytes(of: .log(1))) == expected.afterAllThat)
    #expect(text(mapping.array(0..<3)) == expected.afterAllThat)
  }

  @Test(
    arguments: [
      (.errorCacheShowsNew, true, true, false, false),
      (.errorCacheReverts, true, false, false, false),
      (.errorStillDirty, true, true, false, true),
      (.errorOneCallLate, false, true, true, false),
      (.errorOnOneDescriptor, true, true, false, false),
    ] as [(FlushFailure, Bool, Bool, Bool, Bool)])
  func `a failed flush of the directory loses names likewise`(
    failure: FlushFailure, throwsAtOnce: Bool, shows: Bool, throwsNext: Bool, survives: Bool
  ) throws {
    let fileSystem = SimulatedFileSystem()
    _ = try fileSystem.create(.log(1))
    fileSystem.inject(.flush(failure), at: .operation(.syncDirectory, 0))
    func fails() -> Bool {
      do { try fileSystem.syncDirectory(at: .test) } catch { return true }
      return false
    }
    #expect(fails() == throwsAtOnce)
    #expect(fileSystem.names.contains(.log(1)) == shows)
    #expect(fails() == throwsNext)
    #expect(!fails())
    #expect(fileSystem.crashed(.none).names.contains(.log(1)) == survives)
  }

  @Test func `a cache that reverts keeps the size`() throws {
    let fileSystem = SimulatedFileSystem()
    let file = try fileSystem.create(.pages(1), [1])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    try file.write([2, 2], from: 1)
    fileSystem.inject(.flush(.errorCacheReverts), at: .operation(.sync, 1))
    #expect(throws: StoreError.failed("sync", .ioError, path: "simulated/pages-0000000001")) {
      try file.sync(at: .test)
    }
    #expect(try file.contents() == [1, 0, 0])
  }

  @Test func `writing again and flushing mends what a failed flush lost`() throws {
    for failure in FlushFailure.allCases {
      let fileSystem = SimulatedFileSystem()
      let file = try fileSystem.create(.log(1), [1])
      try fileSystem.syncDirectory(at: .test)
      fileSystem.inject(.flush(failure), at: .operation(.sync, 0))
      try? file.sync(at: .test)
      try? file.sync(at: .test)
      try file.write([1], from: 0)
      try file.sync(at: .test)
      #expect(fileSystem.crashed(.none).bytes(of: .log(1)) == [1], "\(failure)")
    }
  }
}
