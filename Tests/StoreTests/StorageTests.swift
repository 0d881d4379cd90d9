import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores whose files are in a storage of the program's own, F22.
@Suite struct StorageTests {
  private struct Note: Record, Equatable {
    var id: Int
    var text: String
    var attachment: Data? = nil

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string)
      Field(
        name: "attachment", type: .binaryData, storage: .external(threshold: 100), optional: true)
      if version == 2 { Index("text") }
    }
  }

  private static func model(_ version: Int = 1) -> StoreModel {
    StoreModel(version: version, records: [Note.self])
  }

  private static func note(_ id: Int) -> Note {
    Note(
      id: id, text: "text \(id % 7)",
      attachment: id % 3 == 0 ? Data((0..<id * 50).map { UInt8(truncatingIfNeeded: $0 * id) }) : nil
    )
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.foldThreshold = 20_000
    options.transactionBudget = 4_000
    options.automaticCompaction = nil
    return options
  }

  @Test func `a store in a storage of the program's is like any other, F22`() throws {
    let storage = MemoryStorage()
    var store = try PersistentStore(on: storage, model: Self.model(), options: Self.options)
    #expect(store.path == "memory storage")
    let notes = (0..<200).map(Self.note)
    for start in stride(from: 0, to: 200, by: 20) {
      try store.write { transaction in
        try transaction.insert(contentsOf: notes[start..<start + 20])
      }
    }
    #expect(try store.fetch(Note.self) == notes)
    #expect(try store.snapshot().check(readingBlobs: true) == [])
    // It has one writer.
    #expect(
      storeError { try PersistentStore(on: storage, model: Self.model()) }
        == .locked(path: "memory storage", holder: getpid()))
    try store.close()

    store = try PersistentStore(on: storage, model: Self.model(2), options: Self.options)
    #expect(
      try store.fetch(Note.where { $0.text == "text 3" }).map(\.id)
        == (0..<200).filter { $0 % 7 == 3 })
    _ = try store.finishMigration()
    for id in 0..<150 { _ = try store.delete(Note.self, key: id) }
    _ = try store.compact()
    #expect(try store.fetch(Note.self) == Array(notes.suffix(50)))
    #expect(try store.snapshot().check(readingBlobs: true) == [])

    let directory = try TemporaryDirectory()
    _ = try store.backUp(to: directory.path + "/copy")
    let copy = try PersistentStore(at: directory.path + "/copy", model: Self.model(2))
    #expect(try copy.fetch(Note.self) == Array(notes.suffix(50)))
    #expect(try copy.snapshot().check(readingBlobs: true) == [])
    try store.close()
    store = try PersistentStore(on: storage, model: Self.model(2))
    #expect(try store.fetch(Note.self) == Array(notes.suffix(50)))
  }

  @Test func `a store in a storage is not opened for reading only, nor made where it must be`()
    throws
  {
    let storage = MemoryStorage()
    var options = StoreOptions()
    options.access = .reading
    #expect(
      storeError { try PersistentStore(on: storage, model: Self.model(), options: options) }
        == .readOnly(path: "memory storage"))
    options.access = .writingExisting
    guard
      case .missing = storeError({
        try PersistentStore(on: storage, model: Self.model(), options: options)
      })
    else {
      Issue.record("there was a store")
      return
    }
  }

  /// Writes notes, one commit each, folds and closes. Returns those whose commit was acknowledged, and the error.
  private static func work(_ storage: MemoryStorage) -> (
    acknowledged: [Note], begun: Int, StoreError?
  ) {
    var acknowledged: [Note] = []
    var begun = 0
    let error = storeError {
      let store = try PersistentStore(on: storage, model: model(), options: options)
      for id in 0..<12 {
        begun = id + 1
        try store.save(note(id * 3))
        acknowledged.append(note(id * 3))
        if id == 5 { try store.backend.fold() }
      }
      try store.close()
    }
    return (acknowledged, begun, error)
  }

  private static func callCount() -> Int {
    let storage = MemoryStorage()
    _ = work(storage)
    return storage.calls
  }

  @Test func `a power cut before any call leaves what was acknowledged`() throws {
    let count = Self.callCount()
    #expect(count > 100)
    for call in stride(from: 1, through: count, by: scaled(1, debug: 5)) {
      let storage = MemoryStorage()
      storage.set(.stopping(at: call))
      let (acknowledged, begun, _) = Self.work(storage)
      let store = try PersistentStore(
        on: storage.afterPowerCut(), model: Self.model(), options: Self.options)
      let found = try store.fetch(Note.self)
      #expect(
        found == acknowledged || found == (0..<begun).map { Self.note($0 * 3) },
        "call \(call): \(found.map(\.id)), not \(acknowledged.map(\.id))")
      #expect(try store.snapshot().check(readingBlobs: true) == [], "call \(call)")
    }
  }

  @Test func `each call that fails once is an error that says what was thrown, and loses nothing`()
    throws
  {
    let count = Self.callCount()
    var failures = 0
    for call in stride(from: 1, through: count, by: scaled(1, debug: 5)) {
      let storage = MemoryStorage()
      storage.set(.failing(call: call))
      let (acknowledged, begun, error) = Self.work(storage)
      if let error {
        failures += 1
        #expect("\(error)".contains("the cable was cut"), "call \(call): \(error)")
      }
      storage.set(nil)
      let store = try PersistentStore(on: storage, model: Self.model(), options: Self.options)
      let found = try store.fetch(Note.self)
      #expect(
        found == acknowledged || found == (0..<begun).map { Self.note($0 * 3) }, "call \(call)")
      #expect(try store.snapshot().check(readingBlobs: true) == [], "call \(call)")
    }
    #expect(failures > 10)
  }

  @Test func `sizes and counts that cannot be are errors`() throws {
    let count = Self.callCount()
    for call in stride(from: 1, through: count, by: scaled(2, debug: 7)) {
      let storage = MemoryStorage()
      storage.set(.lying(from: call))
      _ = Self.work(storage)
      storage.set(nil)
      // Nothing traps; what was read wrong may have been taken for damage, and nothing more was written then.
      _ = storeError { try PersistentStore(on: storage, model: Self.model()).close() }
    }
    let storage = MemoryStorage()
    _ = Self.work(storage)
    for call in 1...60 {
      storage.set(.lying(from: storage.calls + call))
      _ = storeError {
        let store = try PersistentStore(on: storage, model: Self.model())
        _ = try store.fetch(Note.self)
        _ = try store.snapshot().check(readingBlobs: true)
        try store.close()
      }
    }
  }

  @Test func `numbers of errors keep their meaning`() throws {
    final class Full: StorageBackend {
      let path = "full"
      func lock() throws -> Bool { true }
      func unlock() {}
      func list() throws -> [String] { [] }
      func open(_ name: String) throws -> (any StorageFile)? { nil }
      func create(_ name: String) throws -> (any StorageFile)? {
        throw SystemErrorCode(rawValue: 28)
      }
      func rename(_ name: String, to newName: String) throws {}
      func remove(_ name: String) throws {}
      func syncDirectory() throws {}
    }
    guard case .full = storeError({ try PersistentStore(on: Full(), model: Self.model()) }) else {
      Issue.record("it was not full")
      return
    }
  }
}
