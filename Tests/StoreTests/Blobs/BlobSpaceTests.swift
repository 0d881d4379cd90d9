import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// When the space of blobs is given back, and at what cost to others.
@Suite struct BlobSpaceTests {
  private func fileBytes(_ store: PersistentStore) throws -> Int {
    try store.blobStatistics().segments.reduce(0) { $0 + $1.size }
  }

  /// Waits for what is done in the background.
  private func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(120)
    while clock.now < deadline {
      if try condition() { return true }
      usleep(5_000)
    }
    return false
  }

  @Test func `a content that is stored already is not written again`() throws {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(on: medium, model: Photo.model, seed: 1)
    for id in 0..<20 { try store.save(Photo(id, image: 10, preview: 50_000)) }
    try store.write { transaction in
      for id in 20..<40 { try transaction.save(Photo(id, image: 10, preview: 50_000)) }
    }
    #expect(try store.blobStatistics().count == 1)
    #expect(try fileBytes(store) < 60_000)
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `looking for garbage waits for nobody's transaction`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    for id in 0..<10 { try store.save(Photo(id, image: 5_000)) }
    let isDone = Atomic(false)
    try store.write { transaction in
      try transaction.save(Photo(20, image: 5_000))
      let thread = try BackgroundThread(name: "collect") {
        _ = try? store.collectBlobs()
        isDone.store(true, ordering: .releasing)
      }
      #expect(try eventually { isDone.load(ordering: .acquiring) })
      if isDone.load(ordering: .acquiring) { thread.join() }
    }
    try store.close()
  }

  @Test func `blobs are collected in the background`() throws {
    var options = StoreOptions()
    options.blobSegmentSize = 200_000
    options.automaticCompaction = AutomaticCompaction()
    options.automaticCompaction?.leastGain = 300_000
    let store = try PersistentStore(inMemory: Photo.model, options: options)
    for id in 0..<40 { try store.save(Photo(id, image: 30_000)) }
    let full = try fileBytes(store)
    for id in 0..<40 where id % 4 > 0 { try store.delete(Photo.self, key: id) }
    #expect(try eventually { try fileBytes(store) < full / 2 })
    #expect(try store.fetch(Photo.self).map(\.id) == Array(stride(from: 0, to: 40, by: 4)))
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `a store can be closed while blobs are collected`() throws {
    for round in 0..<10 {
      var options = StoreOptions()
      options.blobSegmentSize = 100_000
      options.automaticCompaction = AutomaticCompaction()
      options.automaticCompaction?.leastGain = 1
      options.automaticCompaction?.sliceBytes = 1
      let store = try PersistentStore(inMemory: Photo.model, options: options)
      for id in 0..<20 { try store.save(Photo(id, image: 20_000)) }
      for id in 0..<20 where id % 2 > 0 { try store.delete(Photo.self, key: id) }
      for id in 0..<round { try store.save(Photo(100 + id, image: 10)) }
      try store.close()
    }
  }

  @Test func `a compaction collects blobs, and says so`() throws {
    let medium = SimulatedFileSystem()
    var options = StoreOptions()
    options.blobSegmentSize = 200_000
    let store = try PersistentStore(on: medium, model: Photo.model, options: options, seed: 1)
    for id in 0..<40 { try store.save(Photo(id, image: 30_000)) }
    for id in 1..<40 { try store.delete(Photo.self, key: id) }
    let before = try fileBytes(store)
    let report = try store.compact()
    #expect(report.blobSizeBefore == before)
    #expect(report.blobSizeAfter == (try fileBytes(store)))
    #expect(report.blobSizeAfter < 30_000)
    #expect(try store.fetch(Photo.self) == [Photo(0, image: 30_000)])
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test(arguments: [UInt32.max, UInt32.max - 1, 7] as [UInt32])
  func `a file of blobs that no store refers to stops no writing`(number: UInt32) throws {
    let medium = SimulatedFileSystem()
    var store = try PersistentStore(on: medium, model: Photo.model, seed: 1)
    try store.save(Photo(1, image: 5_000))
    try store.close()
    _ = try medium.create(.blobs(number))
    try medium.syncDirectory(at: .test)
    for life in 2..<5 as Range<UInt64> {
      store = try PersistentStore(on: medium, model: Photo.model, seed: life)
      #expect(!medium.names.contains(.blobs(number)))
      try store.save(Photo(Int(life), image: 5_000))
      #expect(try store.fetch(Photo.self, key: 1) == Photo(1, image: 5_000))
      #expect(try store.faults() == [])
      try store.close()
    }
  }

  @Test func `what only dropped versions referred to is collected, and looked for once`() throws {
    let medium = SimulatedFileSystem()
    var store = try UndoBlobTests.open(medium, 1, 1)
    for id in 0..<5 { try store.save(UndoBlobTests.Sheet(id, "first")) }
    try store.close()
    store = try UndoBlobTests.open(medium, 2, 1)
    try store.write { try $0.deleteAll(UndoBlobTests.Sheet.self) }
    for id in 10..<14 { try store.save(UndoBlobTests.Sheet(id, size: 0)) }
    #expect(try store.blobStatistics().count > 0)
    let header = { try store.entities.blobs.header(in: try store.backend.trees()) }
    #expect(try header()?.mayHaveUnreferenced == true)
    try store.dropKeptVersions()
    try store.collectBlobs()
    #expect(try store.blobStatistics().count == 0)
    #expect(try header()?.mayHaveUnreferenced == false)
    #expect(try store.faults() == [])
    try store.close()
  }
}
