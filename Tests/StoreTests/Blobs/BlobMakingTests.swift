import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Blobs that are made before the record that has them.
@Suite struct BlobMakingTests {
  private static let content = PhotoContent.bytes(700_000, seed: 3)

  private func store() throws -> PersistentStore { try PersistentStore(inMemory: Photo.model) }

  private func expect(_ blob: Blob, in store: PersistentStore, of count: Int = 700_000) throws {
    #expect(blob.count == count)
    #expect(try blob.data() == Self.content.prefix(count))
    var photo = Photo(1, image: 0)
    photo.image = blob
    try store.save(photo)
    #expect(try store.fetch(Photo.self, key: 1) == photo)
    #expect(try store.faults() == [])
  }

  @Test func `a blob is made of bytes, and of pieces`() throws {
    let store = try store()
    try expect(try store.makeBlob(from: Self.content), in: store)
    let pieces = stride(from: 0, to: 700_000, by: 1_234).map {
      Self.content[$0..<min($0 + 1_234, 700_000)]
    }
    try expect(try store.makeBlob(from: pieces), in: store)
    try expect(try store.makeBlob(from: Self.content.prefix(10)), in: store, of: 10)
  }

  @Test func `a blob is made of a file, and of a descriptor`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/content"
    try Self.content.write(to: URL(filePath: path))
    let store = try store()
    try expect(try store.makeBlob(contentsOf: path), in: store)
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    try expect(try store.makeBlob(from: file), in: store)
    #expect(throws: StoreError.self) { try store.makeBlob(contentsOf: path + "-not") }
  }

  @Test func `a blob is made of an asynchronous sequence`() async throws {
    let store = try store()
    let pieces = AsyncStream<Data> { continuation in
      for start in stride(from: 0, to: 700_000, by: 70_000) {
        continuation.yield(Self.content[start..<start + 70_000])
      }
      continuation.finish()
    }
    try expect(try await store.makeBlob(from: pieces), in: store)
  }

  @Test func `a blob made for a field that deduplicates is shared`() throws {
    let store = try store()
    for id in 1...3 {
      var photo = Photo(id, image: 0)
      photo.image = try store.makeBlob(from: Self.content)
      try store.save(photo)
    }
    #expect(try store.blobStatistics().count == 3)
  }

  @Test func `a blob that is in no record is garbage once nobody has it`() throws {
    let store = try store()
    try store.save(Photo(1, image: 1_000))
    var blob: Blob? = try store.makeBlob(from: Self.content)
    #expect(try !store.collectBlobs())
    #expect(try blob?.data() == Self.content)
    #expect(try store.blobStatistics().garbageBytes > 300_000)
    blob = nil
    #expect(try !store.collectBlobs())
    #expect(try store.blobStatistics().garbageBytes == 0)
    #expect(try store.fetch(Photo.self, key: 1) == Photo(1, image: 1_000))
    #expect(try store.faults() == [])
  }

  @Test func `a blob comes back into the store after its record was deleted`() throws {
    let store = try store()
    var photo = Photo(1, image: 0)
    photo.image = try store.makeBlob(from: Self.content)
    try store.save(photo)
    try store.delete(photo)
    #expect(try !store.collectBlobs())
    try store.save(photo)
    #expect(try store.fetch(Photo.self, key: 1) == photo)
    let fetched = try #require(try store.fetch(Photo.self, key: 1))
    try store.delete(photo)
    photo.image = Blob()
    #expect(try !store.collectBlobs())
    // From here on only the blob in hand has the bytes.
    try store.save(fetched)
    #expect(try store.fetch(Photo.self, key: 1) == fetched)
    #expect(try store.faults() == [])
  }

  @Test func `a model without external fields makes no blobs`() throws {
    let store = try PersistentStore(inMemory: StoreModel(version: 1, records: [Plain.self]))
    #expect(throws: StoreError.self) { try store.makeBlob(from: Self.content) }
    #expect(try store.blobStatistics() == BlobStatistics())
    #expect(try !store.collectBlobs())
  }

  private struct Plain: Record {
    var id: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }
}
