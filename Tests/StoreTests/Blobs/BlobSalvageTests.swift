import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What is saved of a damaged store has its blobs, as far as they are whole.
@Suite struct BlobSalvageTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/photos" }
  private var copy: String { directory.path + "/copy" }
  private let photos = (0..<12).map {
    Photo($0, image: 30_000 + $0, preview: $0 % 2 == 0 ? 900 : nil)
  }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A store of several files of blobs with garbage between them, whose log is lost.
  private func makeDamaged() throws {
    var options = StoreOptions()
    options.blobSegmentSize = 60_000
    let store = try PersistentStore(at: path, model: Photo.model, options: options)
    for photo in photos {
      try store.save(Photo(photo.id + 100, image: 5_000))
      try store.save(photo)
    }
    for photo in photos { try store.delete(Photo(photo.id + 100, image: 0)) }
    try store.close()
    for number in 0...1 { try FileManager.default.removeItem(atPath: "\(path)/log-\(number)") }
  }

  private func salvage(_ extent: SalvageOptions.Extent = .wholeState) throws -> SalvageReport {
    var options = SalvageOptions()
    options.extent = extent
    return try PersistentStore.salvage(at: path, to: copy, options: options)
  }

  private func blobFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("blobs-") }
      .sorted().map { path + "/" + $0 }
  }

  private func change(_ file: String, _ body: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: URL(filePath: file))
    body(&bytes)
    try bytes.write(to: URL(filePath: file))
  }

  /// Compares what was saved: every photo is there, and but for some all of its blobs. Those can be deleted and
  /// written again.
  private func expect(damaged: Int, _ report: SalvageReport) throws {
    #expect(report.sequence > 0 && report.remainingFaults.isEmpty)
    #expect(report.damagedBlobs == damaged)
    let store = try PersistentStore(at: copy, model: Photo.model)
    var lost = 0
    for photo in photos {
      let record = try #require(try store.fetch(record: "Photo", key: photo.id))
      #expect(record["name"] == .string(photo.name))
      do {
        // Comparing does not say that a blob cannot be read.
        _ = try #require(record["image"].blob).data()
        #expect(try store.fetch(Photo.self, key: photo.id) == photo)
      } catch StoreError.corrupt { lost += 1 }
    }
    #expect((lost > 0) == (damaged > 0))
    #expect(try store.faults().isEmpty == (damaged == 0))
    for photo in photos.prefix(6) {
      #expect(try store.write { try $0.delete(record: "Photo", key: photo.id) })
    }
    for photo in photos { try store.save(photo) }
    #expect(try store.fetch(Photo.self) == photos)
    #expect(try store.faults() == [])
    try store.close()
    let again = try PersistentStore(at: copy, model: Photo.model)
    #expect(try again.fetch(Photo.self) == photos)
    #expect(try again.faults() == [])
    try again.close()
  }

  @Test func `records of a store without a log keep all of their blobs`() throws {
    try makeDamaged()
    let report = try salvage()
    #expect(report.losses.isEmpty)
    try expect(damaged: 0, report)
    #expect(try directory.workNames() == [])
  }

  @Test func `a file of blobs without its header costs nothing`() throws {
    try makeDamaged()
    for file in try blobFiles() { try change(file) { $0[20] ^= 0x10 } }
    try expect(damaged: 0, try salvage())
  }

  @Test func `a file of blobs that claims to be huge is copied as far as there are blobs`() throws {
    try makeDamaged()
    for file in try blobFiles() { try #require(unsafe truncate(file, 900 << 30) == 0) }
    try expect(damaged: 0, try salvage())
    for name in try FileManager.default.contentsOfDirectory(atPath: copy) {
      let size = try FileManager.default.attributesOfItem(atPath: copy + "/" + name)[.size]
      #expect(try #require(size as? Int) < 1 << 30, "\(name)")
    }
  }

  @Test func `a blob that is damaged is lost, and no other`() throws {
    try makeDamaged()
    let file = try #require(try blobFiles().last)
    try change(file) { $0[$0.count - 3] ^= 1 }
    try expect(damaged: 1, try salvage())
  }

  @Test func `a file that is gone costs the blobs that were in it`() throws {
    try makeDamaged()
    let file = try #require(try blobFiles().first)
    try FileManager.default.removeItem(atPath: file)
    let report = try salvage()
    #expect(report.damagedBlobs > 0 && report.damagedBlobs < photos.count)
    try expect(damaged: report.damagedBlobs, report)
  }

  @Test(arguments: ["blobs", "blobs.places", "blobs.contents", "blobs.segments"])
  func `of the map only its entries cannot be made anew`(tree: String) throws {
    var options = StoreOptions()
    options.access = .reading
    let store = try PersistentStore(at: path, model: Photo.model)
    for photo in photos { try store.save(photo) }
    try store.close()
    let map = try PersistentStore.map(at: path)
    let number = try #require(map.trees.firstIndex(of: tree))
    for segment in map.segments {
      for region in segment.regions where region.use == .page(.leaf, tree: number) {
        try change("\(path)/pages-000000000\(segment.number)") {
          $0[region.blocks.lowerBound * StoreMap.blockSize + 100] ^= 1
        }
      }
    }
    let report = try salvage(.newestState)
    #expect(report.losses.map(\.tree) == [tree])
    // The photos' previews are one blob.
    try expect(damaged: tree == "blobs" ? photos.count + 1 : 0, report)
  }

  @Test func `where there is anything nothing is written, nor where nothing can be saved`() throws {
    try makeDamaged()
    for file in try FileManager.default.contentsOfDirectory(atPath: path)
    where file.hasPrefix("pages") {
      try FileManager.default.removeItem(atPath: path + "/" + file)
    }
    #expect(throws: StoreError.self) { try salvage() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["photos"])
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    #expect(throws: StoreError.io(.fileExists, operation: "salvage", path: copy)) { try salvage() }
  }
}

extension FieldValue {
  fileprivate var blob: Blob? { if case .blob(let blob) = self { blob } else { nil } }
}
