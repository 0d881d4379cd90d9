import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Closing a store", .serialized)
struct StoreClosingTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }

  init() throws { directory = try TemporaryDirectory() }

  private func open(_ access: StoreOptions.Access = .writing) throws -> PersistentStore {
    var options = StoreOptions()
    options.access = access
    return try PersistentStore(at: path, model: .samples, options: options)
  }

  @Test func `closing a store again does nothing`() async throws {
    let stores = [
      try open(), try open(.reading), try PersistentStore(inMemory: .samples),
    ]
    for store in stores {
      try await store.close()
      try await store.close()
      #expect(storeError { try store.snapshot() } == .closed(path: store.path))
    }
  }

  @Test func `opening and closing a store without a change leaves its files as they are`() throws {
    let store = try open()
    try store.write { transaction in
      for number in 0..<3000 { try transaction.save(Note(key: "\(number)")) }
    }
    try store.close()
    let before = try files()
    #expect(before.count >= 3)
    let again = try open()
    #expect(try again.count(Note.self) == 3000)
    try again.close()
    let after = try files()
    #expect(after.keys.filter { after[$0] != before[$0] } == [])
    #expect(after.keys.sorted() == before.keys.sorted())
  }

  /// The bytes and the time of the last change of each file but `LOCK` and `RESERVE`, which hold no data.
  private func files() throws -> [String: FoundFile] {
    var files: [String: FoundFile] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where !["LOCK", "RESERVE"].contains(name) {
      let file = "\(path)/\(name)"
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      files[name] = FoundFile(
        bytes: FileManager.default.contents(atPath: file),
        changed: attributes[.modificationDate] as? Date)
    }
    return files
  }

  private struct FoundFile: Equatable {
    let bytes: Data?
    let changed: Date?
  }

  @Test func `a transaction cannot close its store, which stays open`() async throws {
    for store in [try open(), try PersistentStore(inMemory: .samples)] {
      try await store.write { transaction in
        try transaction.save(Note(key: "a"))
        #expect(throws: StoreError.reentrant(path: store.path)) { try store.close() }
      }
      try await store.write { transaction in try transaction.save(Note(key: "b")) }
      try await store.save(Note(key: "c"))
      #expect(try store.count(Note.self) == 3)
      try await store.close()
    }
  }

  @Test func `a closed store can be released on any thread`() async throws {
    for _ in 0..<8 {
      let store = Guarded<PersistentStore?>(try open())
      try store.withLock { try $0?.close() }
      let thread = try BackgroundThread(name: "releases") { store.withLock { $0 = nil } }
      thread.join()
    }
  }

  @Test func `a backup or a compaction of a closed store throws, and releases it`() async throws {
    for round in 0..<20 {
      let work = try late(round)
      guard case .failure(let error) = await work.result else {
        return #expect(Bool(false), "it was done")
      }
      #expect(error as? StoreError == .closed(path: path))
    }
  }

  private func late(_ round: Int) throws -> Task<Void, any Error> {
    let store = try open()
    let backup = path + "-backup"
    try store.close()
    return Task.detached {
      if round % 2 == 0 {
        _ = try await store.backUp(to: backup)
      } else {
        _ = try await store.compact()
      }
    }
  }

  @Test func `threads that write and threads that close all return`() async throws {
    for round in 0..<5 {
      let store = try open()
      let crew = Crew()
      let unexpected = Guarded<[String]>([])
      try crew.start(4) { number in
        do {
          for index in 0... {
            let durability: Durability =
              (number + round) % 2 == 0 ? .durable : .relaxed
            try store.save(Note(key: "\(round) \(number) \(index)"), durability: durability)
          }
        } catch {
          if case StoreError.closed = error { return }
          unexpected.withLock { $0.append("\(error)") }
        }
      }
      while try store.count(Note.self) < 50 * (round + 1) {
        try await Task.sleep(for: .milliseconds(1))
      }
      try crew.start(3) { _ in
        if let error = storeError({ try store.close() }) {
          unexpected.withLock { $0.append("closing: \(error)") }
        }
      }
      try #require(await crew.ends())
      #expect(unexpected.withLock { $0 } == [])
    }
  }
}
