import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A file of blobs that is lost or damaged closes no record but those whose blobs were in it, and those only when the blob
/// is read.
@Suite struct LostBlobTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/photos" }
  private let photos = (0..<12).map { Photo($0, image: $0 % 2 == 0 ? 30_000 : 20) }

  init() throws {
    directory = try TemporaryDirectory()
    let store = try PersistentStore(at: directory.path + "/photos", model: Photo.model)
    for photo in photos { try store.save(photo) }
    try store.close()
  }

  enum Damage: CaseIterable {
    case gone, emptied, cut, header
  }

  private func damage(_ damage: Damage) throws {
    let file = path + "/blobs-0000000001"
    if damage == .gone { return try FileManager.default.removeItem(atPath: file) }
    var bytes = try Data(contentsOf: URL(filePath: file))
    switch damage {
    case .gone: break
    case .emptied: bytes = Data()
    case .cut: bytes = bytes.prefix(4_096)
    case .header: bytes[3] ^= 1
    }
    try bytes.write(to: URL(filePath: file))
  }

  private func expectOthers(_ reading: PersistentStore) throws {
    for photo in photos {
      let record = try #require(try reading.fetch(record: "Photo", key: photo.id))
      #expect(record["name"] == .string(photo.name))
      guard case .blob(let blob)? = record.fields["image"] else { continue }
      if photo.externalCount > 0 {
        #expect(throws: StoreError.self) { try blob.data() }
        do { _ = try blob.data() } catch StoreError.corrupt {
        } catch { Issue.record("\(error)") }
      } else {
        #expect(try blob.data().count == 20)
      }
    }
    #expect(try reading.count(record: "Photo") == photos.count)
  }

  @Test(arguments: Damage.allCases)
  func `a store without its blobs opens, and other records are read and written`(damage: Damage)
    throws
  {
    try self.damage(damage)
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(untypedAt: path, options: options)
    try expectOthers(reader)
    _ = try PersistentStore.inspect(at: path)
    #expect(try !PersistentStore.check(at: path, .deep).isWhole)
    let store = try PersistentStore(at: path, model: Photo.model)
    try expectOthers(store)
    try store.save(Photo(100, image: 40_000))
    #expect(try store.fetch(Photo.self, key: 100) == Photo(100, image: 40_000))
    for photo in photos { try store.save(photo) }
    #expect(try store.fetch(Photo.where { $0.id < 100 }) == photos)
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test(arguments: Damage.allCases)
  func `a store without its blobs is salvaged with all records`(damage: Damage) throws {
    try self.damage(damage)
    let report = try PersistentStore.salvage(at: path, to: directory.path + "/copy")
    #expect(report.records["Photo"] == photos.count)
    // A header is written again.
    #expect(report.damagedBlobs == (damage == .header ? 0 : 6))
    let store = try PersistentStore(at: directory.path + "/copy", model: Photo.model)
    if damage == .header {
      #expect(try store.fetch(Photo.self) == photos)
    } else {
      try expectOthers(store)
    }
    try store.close()
  }
}
