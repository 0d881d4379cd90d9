import Cambium
import TestSupport
import Testing

/// What every file system owes the engine, each in a directory that is empty.
enum FileSystemContract {
  /// The clauses, by name, so that a failure says which was broken by whom.
  static func clauses<FS: FileSystem>(_: FS.Type) -> [(String, (FS) throws -> Void)] {
    [
      ("creating", creating), ("opening what is missing", openingMissing),
      ("bytes", bytes), ("ends of files", endsOfFiles), ("holes", holes),
      ("truncation", truncation), ("preallocation", preallocation),
      ("renaming", renaming), ("renaming to taken names", renamingToTakenNames),
      ("unlinking", unlinking), ("listing", listing),
      ("locking", locking), ("looking for locks", lookingForLocks),
      ("locking the directory", lockingTheDirectory), ("where names lead", whereNamesLead),
      ("mapping", mapping), ("mapping ahead", mappingAhead),
      ("reading only", readingOnly), ("direct output", directOutput),
      ("negative offsets", negativeOffsets), ("syncs and advice", syncsAndAdvice),
    ]
  }

  static func creating<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    #expect(try fileSystem.contents(of: file) == [1, 2, 3])
    #expect(throws: failure("create", .fileExists, fileSystem, .pages(1))) {
      _ = try fileSystem.open(.pages(1), .create, at: .test)
    }
    #expect(throws: failure("create", .fileExists, fileSystem, .pages(1))) {
      _ = try fileSystem.open(.pages(1), .createDirect, at: .test)
    }
    #expect(try fileSystem.contents(of: .pages(1)) == [1, 2, 3])
  }

  static func openingMissing<FS: FileSystem>(_ fileSystem: FS) throws {
    let missing = StoreError.missing(path: "\(fileSystem.path)/log-4")
    for mode in [OpenMode.read, .readWrite, .readWriteDirect] {
      #expect(throws: missing) { _ = try fileSystem.open(.log(4), mode, at: .test) }
    }
    #expect(throws: missing) { try fileSystem.unlink(.log(4), at: .test) }
    #expect(throws: missing) { try fileSystem.rename(.log(4), to: .log(5), at: .test) }
    #expect(try fileSystem.list(at: .test).isEmpty)
  }

  static func bytes<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1))
    var model = [UInt8](repeating: 0, count: 20_000)
    for (round, offset) in [0, 4095, 4096, 8000, 1, 12_288].enumerated() {
      let bytes = [UInt8](repeating: UInt8(round + 1), count: 5_000)
      try fileSystem.write(bytes, to: file, from: offset)
      model.replaceSubrange(offset..<offset + 5_000, with: bytes)
    }
    #expect(try fileSystem.contents(of: file) == Array(model[..<17_288]))
    #expect(try fileSystem.contents(of: .pages(1)) == Array(model[..<17_288]))
  }

  static func endsOfFiles<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    #expect(try fileSystem.read(file, 0..<10) == [1, 2, 3])
    #expect(try fileSystem.read(file, 2..<3) == [3])
    #expect(try fileSystem.read(file, 3..<10) == [])
    #expect(try fileSystem.read(file, 5_000_000..<5_000_010) == [])
    #expect(try fileSystem.read(file, 1..<1) == [])
    try fileSystem.write([], to: file, from: 100)
    #expect(try fileSystem.size(of: file, at: .test) == 3)
  }

  static func holes<FS: FileSystem>(_ fileSystem: FS) throws {
    let far = (1 << 30) - 1
    let file = try fileSystem.create(.pages(1), [1])
    try fileSystem.write([9], to: file, from: far)
    #expect(try fileSystem.size(of: file, at: .test) == 1 << 30)
    #expect(try fileSystem.read(file, 0..<3) == [1, 0, 0])
    #expect(try fileSystem.read(file, far - 2..<far + 1) == [0, 0, 9])
  }

  static func truncation<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [UInt8](repeating: 7, count: 10_000))
    try fileSystem.truncate(file, to: 4_097, at: .test)
    #expect(try fileSystem.contents(of: file) == [UInt8](repeating: 7, count: 4_097))
    try fileSystem.truncate(file, to: 4_099, at: .test)
    #expect(try fileSystem.read(file, 4_096..<10_000) == [7, 0, 0])
    try fileSystem.truncate(file, to: 0, at: .test)
    try fileSystem.write([1], to: file, from: 9_999)
    #expect(
      try fileSystem.contents(of: file) == [UInt8](repeating: 0, count: 9_999) + [1])
  }

  static func preallocation<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.log(1), [1, 2])
    try fileSystem.preallocate(file, size: 6_000, at: .test)
    #expect(try fileSystem.contents(of: file) == [1, 2] + [UInt8](repeating: 0, count: 5_998))
    try fileSystem.preallocate(file, size: 10, at: .test)
    try fileSystem.preallocate(file, size: 0, at: .test)
    #expect(try fileSystem.size(of: file, at: .test) == 6_000)
  }

  static func renaming<FS: FileSystem>(_ fileSystem: FS) throws {
    let old = try fileSystem.create(.pages(1), [1])
    let new = try fileSystem.create(.pages(2).temporary, [2])
    try fileSystem.rename(.pages(2).temporary, to: .pages(2), at: .test)
    #expect(Set(try fileSystem.list(at: .test)) == [.pages(1), .pages(2)])
    try fileSystem.write([3], to: new, from: 1)
    #expect(try fileSystem.contents(of: .pages(2)) == [2, 3])
    #expect(try fileSystem.contents(of: old) == [1])
  }

  static func renamingToTakenNames<FS: FileSystem>(_ fileSystem: FS) throws {
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

  static func unlinking<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1, 2])
    let mapping = try fileSystem.map(file, capacity: 4096, at: .test)
    try fileSystem.unlink(.pages(1), at: .test)
    #expect(try fileSystem.list(at: .test).isEmpty)
    let other = try fileSystem.create(.pages(1), [5])
    try fileSystem.write([3], to: file, from: 2)
    #expect(try fileSystem.contents(of: file) == [1, 2, 3])
    #expect(mapping.array(0..<3) == [1, 2, 3])
    #expect(try fileSystem.contents(of: other) == [5])
  }

  static func listing<FS: FileSystem>(_ fileSystem: FS) throws {
    let names: Set<FileName> = [
      .lock, .pages(1), .pages(2).temporary, .log(0), .blobs(.max),
    ]
    for name in names { _ = try fileSystem.create(name) }
    for _ in 0..<2 { #expect(Set(try fileSystem.list(at: .test)) == names) }
  }

  static func locking<FS: FileSystem>(_ fileSystem: FS) throws {
    var first: FS.File? = try fileSystem.create(.lock)
    let second = try fileSystem.open(.lock, .readWrite, at: .test)
    if let first {
      try fileSystem.lock(first, at: .test)
      try fileSystem.lock(first, at: .test)
    }
    #expect(throws: StoreError.self) { try fileSystem.lock(second, at: .test) }
    // Closing another description of the same file must not lose the lock.
    _ = try fileSystem.open(.lock, .readWrite, at: .test)
    do {
      try fileSystem.lock(second, at: .test)
      Issue.record("two have the lock")
    } catch StoreError.locked(let path, _) {
      #expect(path == "\(fileSystem.path)/LOCK")
    }
    first = nil
    try fileSystem.lock(second, at: .test)
  }

  static func lookingForLocks<FS: FileSystem>(_ fileSystem: FS) throws {
    var holder: FS.File? = try fileSystem.create(.lock)
    let reader = try fileSystem.open(.lock, .read, at: .test)
    #expect(try !fileSystem.isLocked(reader, at: .test))
    if let holder {
      try fileSystem.lock(holder, at: .test)
      #expect(try !fileSystem.isLocked(holder, at: .test))
    }
    for _ in 0..<2 { #expect(try fileSystem.isLocked(reader, at: .test)) }
    holder = nil
    #expect(try !fileSystem.isLocked(reader, at: .test))
  }

  static func lockingTheDirectory<FS: FileSystem>(_ fileSystem: FS) throws {
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
    try fileSystem.lock(fileSystem.create(.lock), at: .test)
    #expect(try fileSystem.list(at: .test) == [.lock])
    first = nil
    first = try fileSystem.lockDirectory(at: .test)
    #expect(first != nil)
  }

  static func whereNamesLead<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.lock, [1])
    let again = try fileSystem.open(.lock, .read, at: .test)
    #expect(try fileSystem.leads(.lock, to: file, at: .test))
    #expect(try fileSystem.leads(.lock, to: again, at: .test))
    #expect(try !fileSystem.leads(.log(1), to: file, at: .test))
    try fileSystem.unlink(.lock, at: .test)
    #expect(try !fileSystem.leads(.lock, to: file, at: .test))
    let other = try fileSystem.create(.lock, [1])
    #expect(try !fileSystem.leads(.lock, to: file, at: .test))
    #expect(try fileSystem.leads(.lock, to: other, at: .test))
  }

  static func mapping<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    var mapping: FileMapping? = try fileSystem.map(file, capacity: 3, at: .test)
    #expect(mapping?.array(0..<3) == [1, 2, 3])
    #expect(mapping?.capacity == 3)
    let again = try fileSystem.map(file, capacity: 8_192, at: .test)
    mapping = nil
    try fileSystem.write([9], to: file, from: 1)
    #expect(again.array(0..<3) == [1, 9, 3])
    #expect(throws: StoreError.self) { _ = try fileSystem.map(file, capacity: 0, at: .test) }
  }

  static func mappingAhead<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1))
    let mapping = try fileSystem.map(file, capacity: 1 << 30, at: .test)
    try fileSystem.write([UInt8](repeating: 4, count: 9_000), to: file, from: 5_000)
    #expect(mapping.array(4_999..<5_002) == [0, 4, 4])
    #expect(mapping.array(13_998..<14_000) == [4, 4])
    let last = (1 << 30) - 4096
    try fileSystem.write([8, 8], to: file, from: last)
    #expect(mapping.array(last..<last + 3) == [8, 8, 0])
  }

  static func readingOnly<FS: FileSystem>(_ fileSystem: FS) throws {
    _ = try fileSystem.create(.pages(1), [1])
    let file = try fileSystem.open(.pages(1), .read, at: .test)
    #expect(throws: StoreError.self) { try fileSystem.write([2], to: file, from: 0) }
    #expect(throws: StoreError.self) { try fileSystem.truncate(file, to: 0, at: .test) }
    #expect(throws: StoreError.self) { try fileSystem.preallocate(file, size: 10, at: .test) }
    #expect(throws: StoreError.self) { try fileSystem.lock(file, at: .test) }
    #expect(try fileSystem.contents(of: file) == [1])
    #expect(try fileSystem.map(file, capacity: 1, at: .test).array(0..<1) == [1])
  }

  static func directOutput<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.open(.pages(1), .createDirect, at: .test)
    // A mapping of anonymous memory begins at a whole page, as direct output demands.
    let blocks = try AnonymousMemory.reserve(capacity: 3 * 4096).get()
    unsafe blocks.write([UInt8](repeating: 6, count: 3 * 4096).span.bytes, from: 0)
    let mapping = blocks.mapping(capacity: 3 * 4096)
    try fileSystem.write(mapping.bytes(0..<3 * 4096), to: file, from: 0, at: .test)
    try fileSystem.write(mapping.bytes(0..<4096), to: file, from: 5 * 4096, at: .test)
    try fileSystem.sync(file, at: .test)
    let sixes = [UInt8](repeating: 6, count: 3 * 4096)
    let expected = sixes + [UInt8](repeating: 0, count: 2 * 4096) + sixes.prefix(4096)
    #expect(try fileSystem.contents(of: .pages(1)) == expected)
    #expect(try fileSystem.contents(of: file) == expected)
    let again = try fileSystem.open(.pages(1), .readWriteDirect, at: .test)
    try fileSystem.write(mapping.bytes(0..<4096), to: again, from: 6 * 4096, at: .test)
    try fileSystem.sync(again, at: .test)
    #expect(try fileSystem.contents(of: file) == expected + sixes.prefix(4096))
  }

  static func negativeOffsets<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1])
    #expect(throws: StoreError.self) { try fileSystem.write([1], to: file, from: -1) }
    #expect(throws: StoreError.self) { try fileSystem.truncate(file, to: -1, at: .test) }
    #expect(throws: StoreError.self) { try fileSystem.preallocate(file, size: -1, at: .test) }
    #expect(throws: StoreError.self) { _ = try fileSystem.read(file, -5..<1) }
    #expect(throws: StoreError.self) { try fileSystem.write([1], to: file, from: .max) }
    #expect(try fileSystem.contents(of: file) == [1])
  }

  static func syncsAndAdvice<FS: FileSystem>(_ fileSystem: FS) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    try fileSystem.sync(file, at: .test)
    try fileSystem.syncDirectory(at: .test)
    fileSystem.advise(file, 0..<3, .willNeed, at: .test)
    fileSystem.advise(file, 0..<0, .dontNeed, at: .test)
    #expect(try fileSystem.contents(of: file) == [1, 2, 3])
  }

  private static func failure<FS: FileSystem>(
    _ operation: String, _ errno: Errno, _ fileSystem: FS, _ name: FileName
  ) -> StoreError {
    .failed(operation, errno, path: "\(fileSystem.path)/\(name)")
  }
}
