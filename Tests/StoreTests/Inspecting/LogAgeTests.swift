import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Files of two copies of a store in one directory, as after a restore of some of them.
@Suite struct LogAgeTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let model = StoreModel(records: [Note.self])

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(_ access: StoreOptions.Access) throws -> PersistentStore {
    var options = StoreOptions()
    options.access = access
    return try PersistentStore(at: path, model: Self.model, options: options)
  }

  private func files(_ prefix: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasPrefix(prefix) {
      files[name] = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
    }
    return files
  }

  private func write(_ files: [String: Data]) throws {
    for (name, data) in files { try data.write(to: URL(filePath: "\(path)/\(name)")) }
  }

  /// Opens the store for writing, makes so many durable commits, and closes it.
  private func commit(_ count: Int, from first: Int) throws {
    let store = try open(.writing)
    for number in first..<first + count { try store.save(Note(key: "\(number)")) }
    try store.close()
  }

  @Test(arguments: [1, 150])
  func `both logs of an older closed copy beside newer pages are refused`(count: Int) throws {
    try commit(1, from: 0)
    let old = try files("log-")
    try commit(count, from: 1)
    let new = try files("log-")
    try write(old)
    for access in [StoreOptions.Access.writing, .reading] {
      let error = try #require(storeError { try open(access) })
      #expect(error.breaks(.logAge), "\(error)")
      #expect("\(error)".contains("Restore all files from one copy"))
    }
    for depth in StoreCheck.Depth.allCases {
      let check = try PersistentStore.check(at: path, depth)
      #expect(check.faults.contains { $0.breaks(.logAge) }, "\(depth)")
    }
    #expect(try files("log-") == old)
    try write(new)
    for access in [StoreOptions.Access.reading, .writing] {
      let store = try open(access)
      #expect(try store.count(Note.self) == count + 1)
      try store.close()
    }
  }

  @Test func `an older copy that is restored whole opens as it was, and goes on`() throws {
    try commit(1, from: 0)
    let old = try files("")
    try commit(50, from: 1)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write(old)
    try commit(1, from: 100)
    let store = try open(.reading)
    #expect(try store.fetch(Note.self).map(\.key) == ["0", "100"])
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `a backup opens, though the store that it is of has used its log for longer`() throws {
    for number in 0..<5 { try commit(1, from: number) }
    let store = try open(.writing)
    let copy = directory.path + "/copy"
    try store.backUp(to: copy)
    try store.close()
    let restored = try PersistentStore(at: copy, model: Self.model)
    #expect(try restored.count(Note.self) == 5)
    try restored.close()
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
  }

  @Test func `footers that a writer left before it could make them true keep nobody out`() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    for key in 0..<40 { try engine.put([UInt8(key)], [1], .relaxed) }
    // The fold writes its footer, and then the log fails.
    let failing = medium.callCount(at: .logFrameWrite)
    medium.inject(.error(.ioError), at: .site(.logFrameWrite, failing))
    #expect(throws: StoreError.self) { try engine.foldEverything() }
    try? engine.close()
    for seed in 2...4 as ClosedRange<UInt64> {
      let again = try SimulatedEngine.open(medium, seed: seed, creating: false)
      try again.put([UInt8(seed)], [2])
      try again.close()
    }
  }
}
