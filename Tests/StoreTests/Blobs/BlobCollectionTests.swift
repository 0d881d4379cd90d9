import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct BlobCollectionTests {
  private func store(_ segmentSize: Int = 64 << 10) throws -> PersistentStore {
    var options = StoreOptions()
    options.blobSegmentSize = segmentSize
    return try PersistentStore(inMemory: Photo.model, options: options)
  }

  @Test func `the living are moved out of what is mostly garbage`() throws {
    let store = try store(1 << 20)
    for id in 0..<200 { try store.save(Photo(id, image: 20_000)) }
    for id in 0..<200 where id % 4 != 0 { try store.delete(Photo(id, image: 0)) }
    let before = try store.blobStatistics()
    #expect(before.garbageBytes > before.storedBytes)
    #expect(try !store.collectBlobs())
    let after = try store.blobStatistics()
    #expect(after.count == 50)
    #expect(after.storedBytes == before.storedBytes)
    #expect(after.garbageBytes <= after.storedBytes)
    #expect(after.segments.count < before.segments.count)
    #expect(try store.fetch(Photo.self).map(\.id) == Array(stride(from: 0, to: 200, by: 4)))
    #expect(try store.fetch(Photo.self, key: 8) == Photo(8, image: 20_000))
    #expect(try store.faults() == [])
  }

  @Test func `a budget is kept, and the next run goes on`() throws {
    let store = try store(256 << 10)
    for id in 0..<100 { try store.save(Photo(id, image: 20_000)) }
    for id in 0..<100 where id % 5 != 0 { try store.delete(Photo(id, image: 0)) }
    var runs = 0
    while try store.collectBlobs(BlobBudget(bytes: 15_000)) {
      runs += 1
      #expect(try store.faults() == [])
      #expect(runs < 100)
    }
    #expect(runs > 3)
    #expect(try store.blobStatistics().count == 20)
  }

  @Test func `held snapshots and blobs read on through collection`() throws {
    let store = try store()
    let photos = (0..<40).map { Photo($0, image: 30_000, preview: 600 + $0) }
    try store.write { try $0.insert(contentsOf: photos) }
    let snapshot = try store.snapshot()
    let blobs = try store.fetch(Photo.self).map(\.image)
    for id in 0..<40 where id % 8 != 0 { try store.delete(photos[id]) }
    #expect(try !store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.01)))
    for id in 0..<40 where id % 8 == 0 { try store.delete(photos[id]) }
    #expect(try !store.collectBlobs())
    #expect(try store.blobStatistics() == BlobStatistics())
    #expect(try snapshot.fetch(Photo.self) == photos)
    #expect(try snapshot.check(readingBlobs: true) == [])
    #expect(blobs == photos.map(\.image))
  }

  @Test func `a segment without blobs goes with the commit that took the last one out`() throws {
    let store = try store(1)
    for id in 0..<5 { try store.save(Photo(id, image: 30_000)) }
    #expect(try store.blobStatistics().segments.count == 5)
    try store.delete(Photo(3, image: 0))
    #expect(try store.blobStatistics().segments.map(\.number) == [1, 2, 3, 5])
    try store.write { try $0.deleteAll(Photo.self) }
    #expect(try store.blobStatistics() == BlobStatistics())
    #expect(try store.faults() == [])
  }

  @Test func `a relaxed commit removes nothing before it is flushed`() throws {
    let medium = SimulatedFileSystem()
    var options = StoreOptions()
    options.blobSegmentSize = 1
    let store = try PersistentStore(on: medium, model: Photo.model, options: options, seed: 1)
    for id in 0..<3 { try store.save(Photo(id, image: 30_000)) }
    try store.write(durability: .relaxed) { try $0.deleteAll(Photo.self) }
    #expect(medium.names.contains(.blobs(2)))
    let image = medium.crashed(.none)
    let reopened = try PersistentStore(on: image, model: Photo.model, options: options, seed: 2)
    #expect(try reopened.fetch(Photo.self).count == 3)
    #expect(try reopened.faults() == [])
    try store.flush()
    #expect(!medium.names.contains(.blobs(2)))
    #expect(try store.faults() == [])
  }

  @Test func `a reader beside a writer finds blobs that were moved, and those of its own state`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/photos"
    var options = StoreOptions()
    options.blobSegmentSize = 64 << 10
    let writer = try PersistentStore(at: path, model: Photo.model, options: options)
    let photos = (0..<40).map { Photo($0, image: 30_000) }
    try writer.write { try $0.insert(contentsOf: photos) }
    try writer.flush()
    options.access = .reading
    let reader = try PersistentStore(at: path, model: Photo.model, options: options)
    // What is flushed is shown once the log says so.
    while try reader.count(Photo.self) < 40 { try reader.refresh() }
    let before = try reader.snapshot()
    for id in 0..<40 where id % 8 != 0 { try writer.delete(photos[id]) }
    try writer.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0.01))
    try writer.save(Photo(100, image: 50_000))
    try writer.close()
    #expect(try before.fetch(Photo.self) == photos)
    try reader.refresh()
    let now = stride(from: 0, to: 40, by: 8).map { photos[$0] } + [Photo(100, image: 50_000)]
    #expect(try reader.fetch(Photo.self) == now)
    #expect(try reader.faults() == [])
    #expect(try before.fetch(Photo.self) == photos)
    try reader.close()
  }
}
