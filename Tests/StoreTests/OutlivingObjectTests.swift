import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Objects that are kept longer than their store: they may go on reading, and never write.
@Suite struct OutlivingObjectTests {
  /// An object of an open store, and what is done with it after the store was closed.
  struct Object: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Makes the object, and returns what is done later: that throws what is expected.
    let make: @Sendable (PersistentStore) throws -> (() throws -> Void)

    init(
      _ name: String, _ make: @escaping @Sendable (PersistentStore) throws -> (() throws -> Void)
    ) {
      testDescription = name
      self.make = make
    }
  }

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open() throws -> PersistentStore {
    try PersistentStore(at: path, model: Photo.model, options: .withoutAutomaticCompaction)
  }

  private static func expectClosed(
    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .closed = storeError(body) else {
      Issue.record("it is not refused as closed", sourceLocation: sourceLocation)
      return
    }
  }

  /// Every file in the directory with all its bytes.
  private static func files(at path: String) throws -> [String: [UInt8]] {
    let medium = try PosixFileSystem(at: path)
    var files: [String: [UInt8]] = [:]
    for name in try medium.list(at: .test) {
      files["\(name)"] = [UInt8](try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
    }
    return files
  }

  /// Commits photos, and leaves segments that have garbage.
  private func fill(_ store: PersistentStore, _ ids: Range<Int>) throws {
    try store.write { transaction in
      for id in ids { try transaction.save(Photo(id, image: 150_000)) }
    }
  }

  private func expectWhole(_ ids: Range<Int>) throws {
    let store = try open()
    for id in ids { #expect(try store.fetch(Photo.self, key: id) == Photo(id, image: 150_000)) }
    try store.expectSound()
    try store.close()
    #expect(try PersistentStore.check(at: path, .deep).faults.isEmpty)
  }

  private static func writer(_ store: PersistentStore, of count: Int) throws -> BlobWriter {
    let writer = try store.makeBlobWriter(compression: .none)
    try writer.append(PhotoContent.bytes(count, seed: 77))
    return writer
  }

  static let objects: [Object] = [
    Object("a blob writer appends") { store in
      let writer = try writer(store, of: 400_000)
      return { () throws in
        expectClosed { try writer.append(PhotoContent.bytes(3_000_000, seed: 5)) }
      }
    },
    Object("a blob writer with whole blocks under way appends") { store in
      let writer = try writer(store, of: 5_000_000)
      return { () throws in
        expectClosed { try writer.append(PhotoContent.bytes(3_000_000, seed: 5)) }
      }
    },
    Object("a blob writer finishes") { store in
      let writer = try writer(store, of: 400_000)
      return { () throws in expectClosed { _ = try writer.finish() } }
    },
    Object("a writer of a short blob finishes") { store in
      let writer = try writer(store, of: 10)
      return { () throws in
        expectClosed { try writer.append(Data([1])) }
        expectClosed { _ = try writer.finish() }
      }
    },
    Object("a blob writer is released") { store in
      var writer: BlobWriter? = try writer(store, of: 5_000_000)
      return { () throws in
        #expect(writer != nil)
        writer = nil
      }
    },
    Object("a stream of the library's own goes on") { store in
      let keeper = try #require(store.backend.blobs.keeper)
      let stream = keeper.makeStream(.none, isHashed: false)
      try stream.append(PhotoContent.bytes(2_500_000, seed: 9).bytes)
      return { () throws in
        expectClosed { try stream.append(PhotoContent.bytes(4_000_000, seed: 9).bytes) }
        stream.abandon()
      }
    },
    Object("a finished blob is released") { store in
      var blob: Blob? = try store.makeBlob(from: PhotoContent.bytes(300_000, seed: 4))
      return { () throws in
        #expect(try blob?.data() == PhotoContent.bytes(300_000, seed: 4))
        blob = nil
      }
    },
    Object("segments are emptied and removed") { store in
      return { () throws in
        expectClosed { _ = try store.collectBlobs() }
        store.backend.blobs.bin.add([1])
        store.removeEmptiedSegments()
        let keeper = try #require(store.backend.blobs.keeper)
        expectClosed { _ = try keeper.remove(1) }
      }
    },
    Object("the store's own calls write") { store in
      return { () throws in
        expectClosed { try store.save(Photo(900, image: 1_000)) }
        expectClosed { try store.flush() }
        expectClosed { try store.compact() }
        expectClosed { try store.compactionStep() }
        expectClosed { _ = try store.heldSpace() }
        expectClosed { try store.backend.fold() }
        expectClosed { try store.backend.seal() }
        expectClosed { _ = try store.makeBlob(from: PhotoContent.bytes(300_000)) }
      }
    },
    Object("snapshots, cursors and blobs are read") { store in
      let snapshot = try store.snapshot()
      let cursor = try snapshot.cursor(Query<Photo>())
      let image = try #require(try snapshot.fetch(Photo.self, key: 2)).image
      let reader = try image.reader()
      let chunks = image.chunks
      return { () throws in
        #expect(try snapshot.fetch(Photo.self, key: 1) == Photo(1, image: 150_000))
        #expect(try cursor.next()?.id == 1)
        #expect(try image.data() == PhotoContent.bytes(150_000, seed: 2))
        _ = (reader, chunks)
      }
    },
    Object("an observation ends") { store in
      let changes = try store.changes(of: Photo.self)
      let observation = try store.results(of: Query<Photo>())
      return { () throws in _ = (changes, observation) }
    },
  ]

  @Test(arguments: objects)
  func `nothing is written once the store is closed`(_ object: Object) throws {
    let store = try open()
    try fill(store, 1..<4)
    let act = try object.make(store)
    try store.close()
    let before = try Self.files(at: path)
    try act()
    #expect(try Self.files(at: path) == before)
    try expectWhole(1..<4)
  }

  @Test(arguments: objects)
  func `the next writer's blobs stay whole`(_ object: Object) throws {
    let store = try open()
    try fill(store, 1..<4)
    let act = try object.make(store)
    try store.close()
    let next = try open()
    try fill(next, 4..<40)
    try act()
    try fill(next, 40..<45)
    try next.close()
    try expectWhole(1..<45)
  }

  @Test func `a migration is refused while the next writer has the store`() throws {
    let store = try open()
    try fill(store, 1..<4)
    try store.close()
    let migration = try PersistentStore.migration(at: path, to: Photo.model)
    let next = try open()
    guard case .locked = storeError({ try migration.run() }) else {
      Issue.record("two have it")
      return
    }
    try next.close()
    try expectWhole(1..<4)
  }

  @Test func `an upload that is under way ends as closed`() async throws {
    let store = try open()
    try fill(store, 1..<4)
    let (pieces, continuation) = AsyncStream<Data>.makeStream()
    let taken = Guarded(0)
    let counted = pieces.map { piece in
      taken.withLock { $0 += 1 }
      return piece
    }
    let upload = Task { try await store.makeBlob(from: counted, compression: .none) }
    for seed in 1...4 { continuation.yield(PhotoContent.bytes(600_000, seed: UInt64(seed))) }
    while taken.withLock({ $0 }) < 4 { try await Task.sleep(for: .milliseconds(1)) }
    try await store.close()
    let next = try open()
    try fill(next, 4..<40)
    for seed in 5...9 { continuation.yield(PhotoContent.bytes(600_000, seed: UInt64(seed))) }
    continuation.finish()
    let result = await upload.result
    Self.expectClosed { _ = try result.get() }
    try await next.close()
    try expectWhole(1..<40)
  }

  @Test func `close waits for writes under way, and no later one is made`() throws {
    for round in 0..<scaled(20, debug: 4) {
      let store = try open()
      if round == 0 { try fill(store, 1..<4) }
      let running = Guarded(0)
      let threads = try (0..<3).map { seed in
        try BackgroundThread(name: "writer") {
          let piece = PhotoContent.bytes(100_000, seed: UInt64(seed))
          running.withLock { $0 += 1 }
          let error = storeError {
            while true {
              let writer = try store.makeBlobWriter(compression: .none)
              for _ in 0..<40 { try writer.append(piece) }
            }
          }
          guard case .closed = error else {
            Issue.record("\(String(describing: error))")
            return
          }
        }
      }
      while running.withLock({ $0 }) < 3 { usleep(1_000) }
      usleep(UInt32(5_000 * round))
      try store.close()
      let before = try Self.files(at: path)
      for thread in threads { thread.join() }
      #expect(try Self.files(at: path) == before)
    }
    try expectWhole(1..<4)
  }

  @Test func `a compaction that is under way ends as closed, and a backup goes on`() throws {
    let store = try open()
    try fill(store, 1..<20)
    let copy = directory.path + "/copy"
    let before = Guarded<[String: [UInt8]]?>(nil)
    try store.backUp(to: copy) { _ in
      if before.withLock({ $0 }) != nil { return }
      try store.close()
      let files = try Self.files(at: path)
      before.withLock { $0 = files }
    }
    #expect(try before.withLock { $0 } == Self.files(at: path))
    #expect(try PersistentStore.check(at: copy, .deep).faults.isEmpty)
    try expectWhole(1..<20)
    // A compaction does nothing without garbage.
    let other = try open()
    try other.write { transaction in
      for id in 100..<3_000 { try transaction.save(Photo(id, image: 60)) }
    }
    try other.backend.fold()
    let closed = Guarded<[String: [UInt8]]?>(nil)
    Self.expectClosed {
      try other.compact { _ in
        try other.close()
        let files = try Self.files(at: path)
        closed.withLock { $0 = files }
      }
    }
    #expect(try closed.withLock { $0 } == Self.files(at: path))
  }

  @Test func `the gate keeps the store locked until the last write has ended`() throws {
    final class Lock: Sendable {}
    let gate: BlobGate
    weak var weakLock: Lock?
    do {
      let lock = Lock()
      weakLock = lock
      gate = BlobGate("s", holding: lock)
    }
    try gate.enter()
    let hasClosed = Guarded(false)
    let thread = try BackgroundThread(name: "closing") {
      gate.close()
      hasClosed.withLock { $0 = true }
    }
    while storeError({ try gate.check() }) == nil { usleep(100) }
    #expect(!hasClosed.withLock { $0 })
    #expect(weakLock != nil)
    gate.leave()
    thread.join()
    #expect(weakLock == nil)
    #expect(storeError { try gate.enter() } == .closed(path: "s"))
  }

  @Test func `a forked child writes no blob`() async {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try PersistentStore(at: path + "/forked", model: Photo.model)
      let writer = try store.makeBlobWriter(compression: .none)
      try writer.append(PhotoContent.bytes(200_000))
      let status = inForkedChild {
        guard case .forked = storeError({ try writer.append(Data(count: 3_000_000)) }),
          case .forked = storeError({ try writer.finish() })
        else { return 1 }
        return 0
      }
      #expect(status == 0)
      #expect(try writer.finish().count == 200_000)
      try store.close()
    }
  }

  @Test(arguments: [10, 400_000])
  func `a blob is finished once`(_ count: Int) throws {
    let store = try PersistentStore(inMemory: Photo.model)
    let writer = try Self.writer(store, of: count)
    #expect(try writer.finish().count == count)
    for body in [{ _ = try writer.finish() }, { try writer.append(Data([1])) }] {
      guard case .invalidValue("Blob", nil, _) = storeError(body) else {
        Issue.record("it goes on")
        continue
      }
    }
  }
}
