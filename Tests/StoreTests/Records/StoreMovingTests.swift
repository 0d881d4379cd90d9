import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores whose directories are moved, and put in the place of others.
@Suite struct StoreMovingTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func make(_ name: String, _ text: String) throws -> String {
    let path = directory.path + "/" + name
    let store = try PersistentStore(at: path, model: StoreModel(records: [Note.self]))
    try store.save(Note(key: "a", text: text))
    try store.close()
    return path
  }

  private func text(at path: String) throws -> String? {
    var options = StoreOptions()
    options.access = .writingExisting
    let store = try PersistentStore(
      at: path, model: StoreModel(records: [Note.self]), options: options)
    defer { try? store.close() }
    return try store.fetch(Note.self, key: "a")?.text
  }

  private func isThere(_ path: String) -> Bool {
    storeError { _ = try PersistentStore.inspect(at: path) } == nil
  }

  @Test func `a store is moved, also to another directory, F24`() throws {
    let path = try make("one", "x")
    let other = directory.path + "/two"
    try PersistentStore.move(from: path, to: other)
    #expect(!isThere(path))
    #expect(try text(at: other) == "x")
    try FileManager.default.createDirectory(
      atPath: directory.path + "/inner", withIntermediateDirectories: false)
    try PersistentStore.move(from: other + "/", to: directory.path + "/inner/three")
    #expect(!isThere(other))
    #expect(try text(at: directory.path + "/inner/three") == "x")
  }

  @Test func `a store takes the place of another, F24`() throws {
    let (path, new) = (try make("old", "old"), try make("new", "new"))
    try PersistentStore.replace(at: path, with: new)
    #expect(try text(at: path) == "new")
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test func `a copy of files that are being written is whole up to some commit, or refused`()
    throws
  {
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: .samples)
    let isDone = Guarded(false)
    let writer = try BackgroundThread(name: "writer") {
      var key = 1_000_000
      while !isDone.withLock({ $0 }) {
        try? store.save(Note(key: "\(key)"))
        key += 1
      }
    }
    let copies = (0..<3).map { "\(path)-\($0)" }
    for copy in copies { _ = unsafe system("cp -r '\(path)' '\(copy)'") }
    isDone.withLock { $0 = true }
    writer.join()
    try store.close()
    for copy in copies {
      do throws(StoreError) {
        let opened = try PersistentStore(at: copy, model: .samples)
        try opened.close()
      } catch {
        continue
      }
      #expect(try PersistentStore.check(at: copy, .deep).isWhole)
      let opened = try PersistentStore(at: copy, model: .samples)
      let keys = try opened.fetch(Note.self).map(\.key)
      #expect(keys == keys.indices.map { "\(1_000_000 + $0)" })
      try opened.close()
    }
  }

  @Test func `what is open, missing or in the way is refused, and nothing has changed`() throws {
    let (path, new) = (try make("old", "old"), try make("new", "new"))
    let nowhere = directory.path + "/nowhere"
    let missing: [() throws -> Void] = [
      { try PersistentStore.move(from: nowhere, to: path + "2") },
      { try PersistentStore.replace(at: path, with: nowhere) },
      { try PersistentStore.replace(at: nowhere, with: path) },
    ]
    for body in missing {
      let error = storeError { try body() }
      #expect(error == .missing(path: nowhere))
    }
    guard
      case .io(.fileExists, _, _) = storeError({ try PersistentStore.move(from: path, to: new) })
    else {
      Issue.record("it was moved over another")
      return
    }
    let store = try PersistentStore(at: path, model: StoreModel(records: [Note.self]))
    let locked: [() throws -> Void] = [
      { try PersistentStore.move(from: path, to: path + "2") },
      { try PersistentStore.replace(at: path, with: new) },
      { try PersistentStore.replace(at: new, with: path) },
    ]
    for body in locked {
      guard case .locked = storeError({ try body() }) else {
        Issue.record("it is open")
        return
      }
    }
    try store.close()
    #expect(try text(at: path) == "old")
    #expect(try text(at: new) == "new")
  }
}
