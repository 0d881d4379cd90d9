import Cambium
import TestSupport
import Testing

@testable import InternalTestSupport

/// What every file system owes the engine, each in a directory that is empty.
enum FileSystemContract {
  /// The clauses, by name, so that a failure says which was broken by whom.
  static func clauses() -> [(String, (any FileSystem) throws -> Void)] {
    storageClauses() + [
      ("locking", locking), ("looking for locks", lookingForLocks),
      ("where names lead", whereNamesLead),
      ("mapping", mapping), ("mapping ahead", mappingAhead),
      ("mapping what is unlinked", mappingWhatIsUnlinked),
    ]
  }

  /// Those that a storage of a program's keeps, which has neither maps nor locks of single files.
  static func storageClauses() -> [(String, (any FileSystem) throws -> Void)] {
    [
      ("creating", creating), ("opening what is missing", openingMissing),
      ("bytes", bytes), ("ends of files", endsOfFiles), ("holes", holes),
      ("truncation", truncation),
      ("renaming", renaming), ("renaming to taken names", renamingToTakenNames),
      ("unlinking", unlinking), ("listing", listing),
      ("locking the directory", lockingTheDirectory),
      ("reading only", readingOnly), ("direct output", directOutput),
      ("negative offsets", negativeOffsets), ("syncs and advice", syncsAndAdvice),
    ]
  }

  static func creating(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    #expect(try file.contents() == [1, 2, 3])
    #expect(throws: failure("create", .fileExists, fileSystem, .pages(1))) {
      _ = try fileSystem.open(.pages(1), .create, at: .test)
    }
    #expect(throws: failure("create", .fileExists, fileSystem, .pages(1))) {
      _ = try fileSystem.open(.pages(1), .createDirect, at: .test)
    }
    #expect(try fileSystem.contents(of: .pages(1)) == [1, 2, 3])
  }

  static func openingMissing(_ fileSystem: any FileSystem) throws {
    let missing = StoreError.missing(path: "\(fileSystem.path)/log-4")
    for mode in [OpenMode.read, .readWrite, .readWriteDirect] {
      #expect(throws: missing) { _ = try fileSystem.open(.log(4), mode, at: .test) }
    }
    #expect(throws: missing) { try fileSystem.unlink(.log(4), at: .test) }
    #expect(throws: missing) { try fileSystem.rename(.log(4), to: .log(5), at: .test) }
    #expect(try fileSystem.list(at: .test).isEmpty)
  }

  static func bytes(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1))
    var model = [UInt8](repeating: 0, count: 20_000)
    for (round, offset) in [0, 4095, 4096, 8000, 1, 12_288].enumerated() {
      let bytes = [UInt8](repeating: UInt8(round + 1), count: 5_000)
      try file.write(bytes, from: offset)
      model.replaceSubrange(offset..<offset + 5_000, with: bytes)
    }
    #expect(try file.contents() == Array(model[..<17_288]))
    #expect(try fileSystem.contents(of: .pages(1)) == Array(model[..<17_288]))
  }

  static func endsOfFiles(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    #expect(try file.read(0..<10) == [1, 2, 3])
    #expect(try file.read(2..<3) == [3])
    #expect(try file.read(3..<10) == [])
    #expect(try file.read(5_000_000..<5_000_010) == [])
    #expect(try file.read(1..<1) == [])
    try file.write([], from: 100)
    #expect(try file.size(at: .test) == 3)
  }

  static func holes(_ fileSystem: any FileSystem) throws {
    let far = (1 << 30) - 1
    let file = try fileSystem.create(.pages(1), [1])
    try file.write([9], from: far)
    #expect(try file.size(at: .test) == 1 << 30)
    #expect(try file.read(0..<3) == [1, 0, 0])
    #expect(try file.read(far - 2..<far + 1) == [0, 0, 9])
  }

  static func truncation(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [UInt8](repeating: 7, count: 10_000))
    try file.truncate(to: 4_097, at: .test)
    #expect(try file.contents() == [UInt8](repeating: 7, count: 4_097))
    try file.truncate(to: 4_099, at: .test)
    #expect(try file.read(4_096..<10_000) == [7, 0, 0])
    try file.truncate(to: 0, at: .test)
    try file.write([1], from: 9_999)
    #expect(
      try file.contents() == [UInt8](repeating: 0, count: 9_999) + [1])
  }

  static func renaming(_ fileSystem: any FileSystem) throws {
    let old = try fileSystem.create(.pages(1), [1])
    let new = try fileSystem.create(.pages(2).temporary, [2])
    try fileSystem.rename(.pages(2).temporary, to: .pages(2), at: .test)
    #expect(Set(try fileSystem.list(at: .test)) == [.pages(1), .pages(2)])
    try new.write([3], from: 1)
    #expect(try fileSystem.contents(of: .pages(2)) == [2, 3])
    #expect(try old.contents() == [1])
  }

  static func renamingToTakenNames(_ fileSystem: any FileSystem) throws {
    for number in 1...2 as ClosedRange<UInt32> {
      _ = try fileSystem.create(.pages(number), [UInt8(number)])
    }
    for name in [FileName.pages(1), .pages(2)] {
      #expect(throws: failure("rename", .fileExists, fileSystem, .pages(1))) {
        try fileSystem.rename(name, to: .pages(1), at: .test)
      }
    }
    #expect(throws: failure("rename", .noSuchFile, fileSystem, .pages(3))) {
      try fileSystem.rename(.pages(3), to: .pages(1), at: .test)
    }
    #expect(try fileSystem.contents(of: .pages(1)) == [1])
    #expect(try fileSystem.contents(of: .pages(2)) == [2])
    try fileSystem.unlink(.pages(1), at: .test)
    try fileSystem.rename(.pages(2), to: .pages(1), at: .test)
    #expect(try fileSystem.list(at: .test) == [.pages(1)])
  }

  static func unlinking(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2])
    try fileSystem.unlink(.pages(1), at: .test)
    #expect(try fileSystem.list(at: .test).isEmpty)
    let other = try fileSystem.create(.pages(1), [5])
    try file.write([3], from: 2)
    #expect(try file.contents() == [1, 2, 3])
    #expect(try other.contents() == [5])
  }

  static func mappingWhatIsUnlinked(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2])
    let mapping = try file.map(capacity: 4096, at: .test)
    try fileSystem.unlink(.pages(1), at: .test)
    try file.write([3], from: 2)
    #expect(mapping.array(0..<3) == [1, 2, 3])
  }

  static func listing(_ fileSystem: any FileSystem) throws {
    let names: Set<FileName> = [
      .lock, .pages(1), .pages(2).temporary, .log(0), .blobs(.max),
    ]
    for name in names { _ = try fileSystem.create(name) }
    for _ in 0..<2 { #expect(Set(try fileSystem.list(at: .test)) == names) }
  }

  static func locking(_ fileSystem: any FileSystem) throws {
    var first: (any File)? = try fileSystem.create(.lock)
    let second = try fileSystem.open(.lock, .readWrite, at: .test)
    if let first {
      try first.lock(at: .test)
      try first.lock(at: .test)
    }
    #expect(throws: StoreError.self) { try second.lock(at: .test) }
    // Closing another description of the same file must not lose the lock.
    _ = try fileSystem.open(.lock, .readWrite, at: .test)
    do {
      try second.lock(at: .test)
      Issue.record("two have the lock")
    } catch StoreError.locked(let path, _) {
      #expect(path == "\(fileSystem.path)/LOCK")
    }
    first = nil
    try second.lock(at: .test)
  }

  static func lookingForLocks(_ fileSystem: any FileSystem) throws {
    var holder: (any File)? = try fileSystem.create(.lock)
    let reader = try fileSystem.open(.lock, .read, at: .test)
    #expect(try !reader.isLocked(at: .test))
    if let holder {
      try holder.lock(at: .test)
      #expect(try !holder.isLocked(at: .test))
    }
    for _ in 0..<2 { #expect(try reader.isLocked(at: .test)) }
    holder = nil
    #expect(try !reader.isLocked(at: .test))
  }

  static func lockingTheDirectory(_ fileSystem: any FileSystem) throws {
    var first = try fileSystem.lockDirectory(at: .test)
    #expect(first != nil)
    #expect(throws: StoreError.locked(path: fileSystem.path, holder: nil)) {
      do {
        _ = try fileSystem.lockDirectory(at: .test)
      } catch StoreError.locked(let path, _) {
        throw StoreError.locked(path: path, holder: nil)
      }
    }
    // It is none of a file's.
    try fileSystem.create(.lock).lock(at: .test)
    #expect(try fileSystem.list(at: .test) == [.lock])
    first = nil
    first = try fileSystem.lockDirectory(at: .test)
    #expect(first != nil)
  }

  static func whereNamesLead(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.lock, [1])
    let again = try fileSystem.open(.lock, .read, at: .test)
    #expect(try file.isNamed(.lock, at: .test))
    #expect(try again.isNamed(.lock, at: .test))
    #expect(try !file.isNamed(.log(1), at: .test))
    try fileSystem.unlink(.lock, at: .test)
    #expect(try !file.isNamed(.lock, at: .test))
    let other = try fileSystem.create(.lock, [1])
    #expect(try !file.isNamed(.lock, at: .test))
    #expect(try other.isNamed(.lock, at: .test))
  }

  static func mapping(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    var mapping: FileMapping? = try file.map(capacity: 3, at: .test)
    #expect(mapping?.array(0..<3) == [1, 2, 3])
    #expect(mapping?.capacity == 3)
    let again = try file.map(capacity: 8_192, at: .test)
    mapping = nil
    try file.write([9], from: 1)
    #expect(again.array(0..<3) == [1, 9, 3])
    #expect(throws: StoreError.self) { _ = try file.map(capacity: 0, at: .test) }
    let reading = try fileSystem.open(.pages(1), .read, at: .test)
    #expect(try reading.map(capacity: 1, at: .test).array(0..<1) == [1])
  }

  static func mappingAhead(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1))
    let mapping = try file.map(capacity: 1 << 30, at: .test)
    try file.write([UInt8](repeating: 4, count: 9_000), from: 5_000)
    #expect(mapping.array(4_999..<5_002) == [0, 4, 4])
    #expect(mapping.array(13_998..<14_000) == [4, 4])
    let last = (1 << 30) - 4096
    try file.write([8, 8], from: last)
    #expect(mapping.array(last..<last + 3) == [8, 8, 0])
  }

  static func readingOnly(_ fileSystem: any FileSystem) throws {
    _ = try fileSystem.create(.pages(1), [1])
    let file = try fileSystem.open(.pages(1), .read, at: .test)
    #expect(throws: StoreError.self) { try file.write([2], from: 0) }
    #expect(throws: StoreError.self) { try file.truncate(to: 0, at: .test) }
    #expect(throws: StoreError.self) { try file.lock(at: .test) }
    #expect(try file.contents() == [1])
  }

  static func directOutput(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(.pages(1), .createDirect, at: .test)
    // A mapping of anonymous memory begins at a whole page, as direct output demands.
    let blocks = try AnonymousMemory.reserve(capacity: 3 * 4096).get()
    unsafe blocks.write([UInt8](repeating: 6, count: 3 * 4096).span.bytes, from: 0)
    let mapping = blocks.mapping(capacity: 3 * 4096)
    try file.write(mapping.bytes(0..<3 * 4096), from: 0, at: .test)
    try file.write(mapping.bytes(0..<4096), from: 5 * 4096, at: .test)
    try file.sync(at: .test)
    let sixes = [UInt8](repeating: 6, count: 3 * 4096)
    let expected = sixes + [UInt8](repeating: 0, count: 2 * 4096) + sixes.prefix(4096)
    #expect(try fileSystem.contents(of: .pages(1)) == expected)
    #expect(try file.contents() == expected)
    let again = try fileSystem.open(.pages(1), .readWriteDirect, at: .test)
    try again.write(mapping.bytes(0..<4096), from: 6 * 4096, at: .test)
    try again.sync(at: .test)
    #expect(try file.contents() == expected + sixes.prefix(4096))
  }

  static func negativeOffsets(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1])
    #expect(throws: StoreError.self) { try file.write([1], from: -1) }
    #expect(throws: StoreError.self) { try file.truncate(to: -1, at: .test) }
    #expect(throws: StoreError.self) { _ = try file.read(-5..<1) }
    #expect(throws: StoreError.self) { try file.write([1], from: .max) }
    #expect(try file.contents() == [1])
  }

  static func syncsAndAdvice(_ fileSystem: any FileSystem) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    try file.sync(at: .test)
    try fileSystem.syncDirectory(at: .test)
    file.willNeed(0..<3, at: .test)
    #expect(try file.contents() == [1, 2, 3])
  }

  private static func failure(
    _ operation: String, _ errno: SystemErrorCode, _ fileSystem: any FileSystem, _ name: FileName
  ) -> StoreError {
    .failed(operation, errno, path: "\(fileSystem.path)/\(name)")
  }
}
