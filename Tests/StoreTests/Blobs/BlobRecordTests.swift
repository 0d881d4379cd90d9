import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// External fields through the public interface.
@Suite struct BlobRecordTests {
  private static let lengths = [0, 1, 50, 51, 100, 101, 4_096, 65_536, 65_537, 262_144, 600_000]

  @Test(arguments: [true, false])
  func `values of every length come back as they were`(isInMemory: Bool) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/photos"
    let store =
      isInMemory
      ? try PersistentStore(inMemory: Photo.model)
      : try PersistentStore(at: path, model: Photo.model)
    var photos: [Photo] = []
    for (id, length) in Self.lengths.enumerated() {
      photos.append(Photo(id, image: length, preview: length, notes: length))
    }
    photos.append(Photo(99, image: 5, preview: nil, notes: 0))
    try store.write { transaction in try transaction.insert(contentsOf: photos) }
    #expect(try store.fetch(Photo.self) == photos)
    #expect(try store.fetch(Photo.self, key: 3) == photos[3])
    #expect(try store.faults() == [])
    let statistics = try store.blobStatistics()
    #expect(statistics.count == photos.reduce(0) { $0 + $1.externalCount })
    #expect(statistics.garbageBytes == 0)
    try store.close()
    guard !isInMemory else { return }
    let again = try PersistentStore(at: path, model: Photo.model)
    #expect(try again.fetch(Photo.self) == photos)
    #expect(try again.faults() == [])
    try again.close()
  }

  @Test func `a record is fetched without its blob, which is read in parts`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    let photo = Photo(1, image: 1_000_000)
    try store.save(photo)
    let image = try #require(try store.fetch(Photo.self, key: 1)).image
    #expect(image.source != nil)
    #expect(image.count == 1_000_000)
    let all = try photo.image.data()
    #expect(try image.data(in: 500_000..<500_100) == all[500_000..<500_100])
    #expect(try image.data() == all)
  }

  @Test func `a blob outlives its snapshot, its record and its store`() throws {
    let directory = try TemporaryDirectory()
    var photo = Photo(1, image: 500_000)
    let content = try photo.image.data()
    var held: Blob?
    do {
      let store = try PersistentStore(at: directory.path + "/photos", model: Photo.model)
      try store.save(photo)
      held = try store.fetch(Photo.self, key: 1)?.image
      photo.image = Blob(PhotoContent.bytes(300_000, seed: 7))
      try store.save(photo)
      try store.delete(photo)
      #expect(try store.blobStatistics().segments.isEmpty)
      try store.close()
    }
    #expect(try held?.data() == content)
  }

  @Test func `a blob of one record becomes that of another without being written again`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    try store.save(Photo(1, image: 400_000))
    var photo = try #require(try store.fetch(Photo.self, key: 1))
    photo.id = 2
    try store.save(photo)
    let statistics = try store.blobStatistics()
    #expect(statistics.count == 1)
    #expect(statistics.sharedBytes == 400_000)
    try store.delete(Photo(1, image: 0))
    #expect(try store.fetch(Photo.self, key: 2)?.image == photo.image)
    #expect(try store.faults() == [])
    try store.delete(photo)
    #expect(try store.blobStatistics().count == 0)
  }

  @Test func `a blob of another store is copied`() throws {
    let (one, other) = (
      try PersistentStore(inMemory: Photo.model), try PersistentStore(inMemory: Photo.model)
    )
    let photo = Photo(1, image: 400_000)
    try one.save(photo)
    try other.save(try #require(try one.fetch(Photo.self, key: 1)))
    try one.close()
    #expect(try other.fetch(Photo.self, key: 1) == photo)
    #expect(try other.blobStatistics().count == 1)
  }

  @Test func `saving a record with what it has writes no blob`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    let photo = Photo(1, image: 300_000, preview: 5_000, notes: 5_000)
    try store.save(photo)
    let before = try store.blobStatistics()
    try store.save(photo)
    try store.save(try #require(try store.fetch(Photo.self, key: 1)))
    let after = try store.blobStatistics()
    #expect(after.storedBytes == before.storedBytes)
    #expect(after.count == 3)
    #expect(try store.faults() == [])
  }

  @Test func `equal contents of a field that deduplicates are stored once`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    for id in 1...5 { try store.save(Photo(id, image: 0, preview: 70_000)) }
    let statistics = try store.blobStatistics()
    #expect(statistics.count == 1)
    #expect(statistics.contentBytes == 70_000)
    #expect(statistics.sharedBytes == 4 * 70_000)
    for id in 1...4 { try store.delete(Photo(id, image: 0)) }
    #expect(
      try store.fetch(Photo.self, key: 5)?.preview == PhotoContent.bytes(70_000, seed: 70_000))
    #expect(try store.faults() == [])
  }

  @Test func `what is rolled back leaves records and accounts as they were`() throws {
    struct Stop: Error {}
    let store = try PersistentStore(inMemory: Photo.model)
    let photo = Photo(1, image: 50_000)
    try store.save(photo)
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.save(Photo(1, image: 200_000))
        try transaction.save(Photo(2, image: 200_000))
        throw Stop()
      }
    }
    try store.write { transaction in
      try transaction.save(Photo(3, image: 90_000))
      try? transaction.savepoint { inner in
        try inner.delete(Photo(1, image: 0))
        try inner.save(Photo(4, image: 90_000))
        throw Stop()
      }
    }
    #expect(try store.fetch(Photo.self) == [photo, Photo(3, image: 90_000)])
    #expect(try store.blobStatistics().count == 2)
    #expect(try store.faults() == [])
  }

  @Test func `records without their types have blobs, strings and nil`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    let photo = Photo(1, image: 9_000, preview: nil, notes: 9_000)
    try store.save(photo)
    var record = try #require(try store.fetch(record: "Photo", key: 1))
    #expect(record["image"] == .blob(photo.image))
    #expect(record["preview"] == .null)
    #expect(record["notes"] == .string(photo.notes))
    record["id"] = .integer(2)
    record["preview"] = .data(PhotoContent.bytes(9_000))
    try store.write { transaction in try transaction.save(record) }
    var copy = photo
    copy.id = 2
    copy.preview = PhotoContent.bytes(9_000)
    #expect(try store.fetch(Photo.self, key: 2) == copy)
    #expect(try store.faults() == [])
  }

  @Test func `conditions on external fields are refused, but for nil`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    try store.save(Photo(1, image: 500, preview: 500))
    try store.save(Photo(2, image: 500))
    let isThere = FieldCondition.comparison(field: "preview", .notEqual, .null)
    #expect(try store.count(record: "Photo", where: isThere) == 1)
    let refused: [FieldCondition] = [
      .comparison(field: "preview", .equal, .data(Data())),
      .comparison(field: "notes", .less, .string("a")),
      .isIn(field: "notes", [.string("a")]),
      .match(field: "notes", TextMatch(.prefix, "a")),
    ]
    for condition in refused {
      #expect(throws: StoreError.self, "\(condition)") {
        try store.count(record: "Photo", where: condition)
      }
    }
  }

  @Test func `a type that codes itself has external fields, too`() throws {
    let model = StoreModel(version: 1, records: [Coded.self])
    let store = try PersistentStore(inMemory: model)
    let record = Coded(id: 1, image: Blob(PhotoContent.bytes(70_000)), text: nil)
    let other = Coded(id: 2, image: Blob(PhotoContent.bytes(3)), text: PhotoContent.text(5_000))
    try store.write { try $0.insert(contentsOf: [record, other]) }
    #expect(try store.fetch(Coded.self) == [record, other])
    #expect(try store.blobStatistics().count == 2)
    #expect(try store.faults() == [])
  }

  private struct Coded: Record, Equatable {
    var id: Int
    var image: Blob
    var text: String?

    static var coding: RecordCoding { .codable }
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "image", type: .binaryData, storage: .external(threshold: 10))
      Field(name: "text", type: .string, storage: .external(threshold: 10), optional: true)
    }
  }

  @Test func `changes and hooks see blobs as they were`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    let (old, new) = (Photo(1, image: 80_000, preview: 800), Photo(1, image: 90_000, preview: 900))
    try store.save(old)
    try store.write { transaction in
      transaction.keepChanges()
      try transaction.save(new)
      let changes = try transaction.changes(of: Photo.self)
      #expect(changes.updated.map(\.old) == [old])
      #expect(changes.updated.map(\.new) == [new])
      #expect(changes.updated.first?.changedFields == ["image", "preview"])
      try transaction.delete(new)
      #expect(try transaction.changes(of: Photo.self).deleted == [old])
    }
    #expect(try store.blobStatistics().count == 0)
  }
}
