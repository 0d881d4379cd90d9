import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Copies of stores with blobs.
@Suite struct BlobBackupTests {
  private let directory: TemporaryDirectory
  private var target: String { directory.path + "/copy" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Photos, some of them replaced and some deleted, so that there is garbage between the living.
  private func fill(_ store: PersistentStore) throws -> [Photo] {
    var photos = (0..<12).map { Photo($0, image: 40_000 * $0, preview: 300_000, notes: 9_000) }
    try store.write { transaction in try transaction.insert(contentsOf: photos) }
    for index in photos.indices where index % 3 == 0 {
      photos[index] = Photo(index, image: 70_000 + index)
      try store.save(photos[index])
    }
    for photo in photos.suffix(2) { _ = try store.delete(photo) }
    return Array(photos.dropLast(2))
  }

  private func expect(_ photos: [Photo], at path: String) throws {
    let copy = try PersistentStore(at: path, model: Photo.model)
    #expect(try copy.fetch(Photo.self) == photos)
    #expect(try copy.faults() == [])
    // It is written to like any other.
    try copy.save(Photo(77, image: 500_000))
    try copy.close()
    let again = try PersistentStore(at: path, model: Photo.model)
    #expect(try again.fetch(Photo.self, key: 77) == Photo(77, image: 500_000))
    #expect(try again.faults() == [])
    try again.close()
  }

  @Test func `a backup has the blobs of its state, whatever becomes of them in the store`() throws {
    let path = directory.path + "/photos"
    let store = try PersistentStore(at: path, model: Photo.model)
    let photos = try fill(store)
    let bytes = try store.blobStatistics().storedBytes
    let report = try store.backUp(to: target)
    #expect(report.blobBytes >= Int(bytes))
    try store.write { transaction in try transaction.deleteAll(Photo.self) }
    try expect(photos, at: target)
    #expect(try store.fetch(Photo.self, key: 77) == nil)
    try store.close()
  }

  @Test func `a store that is only read, and one in memory, are copied with their blobs`() throws {
    let path = directory.path + "/photos"
    let store = try PersistentStore(at: path, model: Photo.model)
    let photos = try fill(store)
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(at: path, model: Photo.model, options: options)
    // It may not show the last commit yet, while the writer has the store.
    let shown = try reader.fetch(Photo.self)
    #expect(shown.count >= photos.count)
    try reader.backUp(to: target)
    try expect(shown, at: target)
    try reader.close()
    try store.close()
    let memory = try PersistentStore(inMemory: Photo.model)
    let others = try fill(memory)
    try memory.backUp(to: target + "2")
    try expect(others, at: target + "2")
  }

  enum Damage: CaseIterable {
    case gone, cut, lastByte
  }

  @Test(arguments: Damage.allCases)
  func `a backup whose blobs are lost or damaged ends with an error, and leaves nothing`(
    damage: Damage
  ) throws {
    let path = directory.path + "/photos"
    let store = try PersistentStore(at: path, model: Photo.model)
    _ = try fill(store)
    try store.close()
    let file = URL(filePath: path + "/blobs-0000000001")
    var bytes = try Data(contentsOf: file)
    switch damage {
    case .gone: try FileManager.default.removeItem(atPath: path + "/blobs-0000000001")
    case .cut: try bytes.prefix(bytes.count / 2).write(to: file)
    case .lastByte:
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: file)
    }
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(at: path, model: Photo.model, options: options)
    #expect(throws: StoreError.self) { try reader.backUp(to: target) }
    try reader.close()
    try PersistentStore.expectMissing(target)
    #expect(try directory.workNames() == [])
  }

  @Test func `one that is broken off among blobs leaves nothing`() throws {
    struct Enough: Error {}
    let store = try PersistentStore(inMemory: Photo.model)
    _ = try fill(store)
    var fractions: [Double] = []
    #expect(throws: Enough.self) {
      try store.backUp(to: target) { progress in
        fractions.append(progress.fraction)
        if progress.blobBytes > 0 { throw Enough() }
      }
    }
    #expect(fractions.allSatisfy { $0 > 0 && $0 <= 0.5 })
    try PersistentStore.expectMissing(target)
    #expect(try directory.workNames() == [])
  }
}

extension PersistentStore {
  fileprivate static func expectMissing(_ path: String) throws {
    #expect(throws: StoreError.missing(path: path)) { try PosixFileSystem(at: path) }
  }
}
