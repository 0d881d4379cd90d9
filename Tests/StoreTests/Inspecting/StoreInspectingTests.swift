import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What a store says of itself, the check of all of it, and the map of its blocks.
@Suite struct StoreInspectingTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  struct Page: Record {
    var id: Int
    var text: String
    var body: Data

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string, indexed: true)
      Field(name: "body", type: .binaryData)
      if version > 1 { Field(name: "extra", type: .integer, default: 1) }
    }
  }

  /// The model of the next version, in which a page has one more field.
  private static let changed = StoreModel(
    version: 2,
    untyped: [RemovedRecord("Page") { version in Page.recordDescription(for: version) }])

  private func fill(_ count: Int = 2_000, closing: Bool = true) throws -> PersistentStore {
    var options = StoreOptions()
    options.history = .keptForever
    let store = try PersistentStore(
      at: path, model: StoreModel(records: [Page.self]), options: options)
    try store.write(author: "one") { transaction in
      for id in 0..<count { try transaction.save(page(id)) }
    }
    try store.write(author: "two") { transaction in try transaction.save(page(0)) }
    _ = try store.write { transaction in try transaction.delete(Page.self, key: 1) }
    if closing { try store.close() }
    return store
  }

  private func page(_ id: Int) -> Page {
    Page(id: id, text: "text \(id)", body: Data(repeating: 7, count: id % 100 == 0 ? 20_000 : 10))
  }

  @Test func `an inspection adds up`() throws {
    _ = try fill()
    let found = try PersistentStore.inspect(at: path, lastCommits: 5)
    #expect(found.identity.utf8.count == 32)
    #expect(found.version == 1 && found.format == 1)
    #expect(found.sequence == found.foldedSequence)
    #expect(!found.isOpenForWriting)
    #expect(found.statistics.recordCount == 1_999)
    #expect(found.livePageBytes > 0 && found.livePageBytes <= found.pageBytes)
    #expect(found.size == found.pageBytes + found.log.size)
    #expect(found.log.usedBytes <= found.log.size)
    #expect(found.lastCommits.map(\.author) == [nil, "two", "one"])
    #expect(found.lastCommits.map(\.sequence) == found.lastCommits.map(\.sequence).sorted(by: >))
    #expect(try PersistentStore.inspect(at: path, lastCommits: 1).lastCommits.count == 1)
  }

  @Test func `the newest commits are read without those before them`() throws {
    let store = try fill(10, closing: false)
    let snapshot = try store.snapshot()
    for count in 1...3 {
      let newest = try snapshot.lastCommits(count)
      let history = try snapshot.history(since: try #require(newest.last).start)
      var sequences: [UInt64] = []
      while let commit = try history.next() { sequences.append(commit.sequence) }
      #expect(sequences == newest.map(\.sequence).reversed())
      #expect(sequences.count == count)
    }
    try store.close()
  }

  @Test func `a store is inspected and checked beside its writer`() throws {
    let store = try fill(100, closing: false)
    let found = try PersistentStore.inspect(at: path)
    #expect(found.isOpenForWriting)
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    try store.close()
  }

  @Test func `a map has every block once, and as many live ones as the aggregates say`() throws {
    _ = try fill()
    let (map, found) = (try PersistentStore.map(at: path), try PersistentStore.inspect(at: path))
    var live = 0
    for segment in map.segments {
      var next = 0
      for region in segment.regions {
        #expect(region.blocks.lowerBound == next && !region.blocks.isEmpty)
        next = region.blocks.upperBound
        if case .page = region.use { live += region.blocks.count }
      }
      #expect(next == segment.blockCount)
      #expect(segment.regions.first?.use == .header)
    }
    #expect(live * StoreMap.blockSize == found.livePageBytes)
    #expect(map.faults.isEmpty)
    #expect(map.trees.contains("Page") && map.trees.contains("Page by text"))
    let uses = Set(map.segments.flatMap(\.regions).map(\.use))
    let tree = try #require(map.trees.firstIndex(of: "Page"))
    for kind in StoreMap.Page.allCases { #expect(uses.contains(.page(kind, tree: tree))) }
  }

  @Test func `what is behind the published end of a file is in sizes, map and prediction`() throws {
    _ = try fill(300)
    let (found, map) = (try PersistentStore.inspect(at: path), try PersistentStore.map(at: path))
    let file = "\(path)/pages-0000000001"
    let original = try Data(contentsOf: URL(filePath: file))
    #expect(found.pageBytes == original.count)
    let tail = 100 * StoreMap.blockSize
    try (original + Data(repeating: 0xa5, count: tail)).write(to: URL(filePath: file))
    let longer = try PersistentStore.inspect(at: path)
    #expect(longer.pageBytes == found.pageBytes + tail && longer.size == found.size + tail)
    #expect(longer.livePageBytes == found.livePageBytes && longer.liveShare < found.liveShare)
    let segment = try #require(try PersistentStore.map(at: path).segments.first)
    #expect(try segment.blockCount == #require(map.segments.first).blockCount + 100)
    #expect(segment.regions.last?.use == .garbage)
    #expect(segment.regions.last?.blocks.upperBound == segment.blockCount)
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(
      at: path, model: StoreModel(records: [Page.self]), options: options)
    #expect(try reader.predictedGain().size == longer.pageBytes)
    try reader.close()
  }

  /// Photos of which every third is deleted, in several files of blobs.
  private func fillPhotos() throws -> BlobStatistics {
    var options = StoreOptions()
    options.blobSegmentSize = 100_000
    let store = try PersistentStore(at: path, model: Photo.model, options: options)
    for id in 0..<30 { try store.save(Photo(id, image: 20_000)) }
    for id in stride(from: 0, to: 30, by: 3) { try store.delete(Photo(id, image: 0)) }
    let statistics = try store.blobStatistics()
    try store.close()
    return statistics
  }

  @Test func `an inspection says how much blobs take, and what of it is garbage`() throws {
    let statistics = try fillPhotos()
    let found = try PersistentStore.inspect(at: path)
    #expect(found.blobCount == 20 && statistics.count == 20)
    #expect(found.liveBlobBytes == statistics.storedBytes)
    #expect(found.garbageBlobBytes == statistics.garbageBytes)
    let files = found.segments.filter { $0.kind == .blobs }
    #expect(files.map(\.number) == statistics.segments.map(\.number))
    #expect(files.map(\.size) == statistics.segments.map(\.size))
    #expect(found.blobBytes == files.reduce(0) { $0 + $1.size })
    #expect(found.size == found.pageBytes + found.blobBytes + found.log.size)
  }

  @Test func `a map has every byte of every file of blobs once`() throws {
    let statistics = try fillPhotos()
    let map = try PersistentStore.map(at: path)
    #expect(map.faults.isEmpty)
    #expect(map.blobSegments.map(\.size) == statistics.segments.map(\.size))
    var sums: [StoreMap.BlobUse: Int] = [:]
    for segment in map.blobSegments {
      var next = 0
      for region in segment.regions {
        #expect(region.bytes.lowerBound == next && !region.bytes.isEmpty)
        next = region.bytes.upperBound
        sums[region.use, default: 0] += region.bytes.count
      }
      #expect(next == segment.size)
      #expect(zip(segment.regions, segment.regions.dropFirst()).allSatisfy { $0.use != $1.use })
    }
    #expect(sums[.header] == 4096 * statistics.segments.count)
    #expect(sums[.blobs] == statistics.storedBytes)
    #expect(sums[.garbage] == statistics.garbageBytes)
    #expect(sums[.kept] == nil)
  }

  @Test func `a check finds and locates damage to any page that is reached`() throws {
    _ = try fill(300)
    let map = try PersistentStore.map(at: path)
    let file = "\(path)/pages-0000000001"
    let original = try Data(contentsOf: URL(filePath: file))
    let segment = try #require(map.segments.first)
    for region in segment.regions where region.use != .garbage {
      var damaged = original
      damaged[region.blocks.lowerBound * StoreMap.blockSize + 20] ^= 1
      try damaged.write(to: URL(filePath: file))
      let check = try PersistentStore.check(at: path)
      #expect(!check.isWhole, "\(region)")
      #expect(check.faults.allSatisfy { check.keptVersion(of: $0) == nil })
      #expect(try !PersistentStore.check(at: path, .deep).isWhole, "\(region)")
      guard case .page = region.use else { continue }
      let located = check.faults.contains { fault in
        guard case .corrupt(.page(let position), _, _) = fault else { return false }
        return position.segment == 1 && region.blocks.contains(Int(position.block))
      }
      #expect(located, "\(region): \(check.faults)")
    }
    try original.write(to: URL(filePath: file))
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test func `a deep check says which faults only a kept version has`() throws {
    _ = try fill(300)
    let store = try PersistentStore(at: path, model: Self.changed)
    // All rows are rewritten, so that the old version has its own pages.
    try store.finishMigration()
    try store.close()
    var trees: Set<String> = []
    for segment in try PersistentStore.map(at: path).segments {
      let number = String(segment.number)
      let file = "\(path)/pages-" + String(repeating: "0", count: 10 - number.count) + number
      let original = try Data(contentsOf: URL(filePath: file))
      for region in segment.regions where region.use == .kept {
        for block in region.blocks {
          var damaged = original
          damaged[block * StoreMap.blockSize + 20] ^= 1
          try damaged.write(to: URL(filePath: file))
          #expect(try PersistentStore.check(at: path).isWhole)
          let check = try PersistentStore.check(at: path, .deep)
          #expect(check.faults.allSatisfy { check.keptVersion(of: $0) == 1 }, "\(check.faults)")
          trees.formUnion(check.faults.compactMap { check.tree(of: $0) })
        }
      }
      try original.write(to: URL(filePath: file))
    }
    #expect(trees.contains("Page"))
  }

  @Test func `a check of a file cut at any block throws no damage and traps nowhere`() throws {
    _ = try fill(300)
    let file = "\(path)/pages-0000000001"
    let original = try Data(contentsOf: URL(filePath: file))
    for blocks in stride(from: 0, to: original.count / 4096, by: 3) {
      try Data(original.prefix(blocks * 4096)).write(to: URL(filePath: file))
      #expect(try !PersistentStore.check(at: path, .deep).isWhole, "\(blocks)")
      _ = try? PersistentStore.map(at: path)
      _ = try? PersistentStore.inspect(at: path)
    }
  }

  @Test func `a lost segment is a fault, and a lost log is no store`() throws {
    _ = try fill(10)
    try FileManager.default.removeItem(atPath: "\(path)/pages-0000000001")
    let check = try PersistentStore.check(at: path)
    #expect(check.faults.contains { if case .missing = $0 { true } else { false } })
    try FileManager.default.removeItem(atPath: "\(path)/log-0")
    guard case .missing = storeError({ try PersistentStore.check(at: path) }) else {
      Issue.record("it was checked")
      return
    }
  }

  @Test func `the states that are kept are in the map and in the deep check`() throws {
    _ = try fill(50)
    try PersistentStore(at: path, model: Self.changed).close()
    let map = try PersistentStore.map(at: path)
    #expect(map.segments.flatMap(\.regions).contains { $0.use == .kept })
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1])
  }

  @Test func `a check says how far it is`() throws {
    _ = try fill(300)
    var parts: [StoreCheck.Progress] = []
    let check = try PersistentStore.check(at: path, .deep) { parts.append($0) }
    #expect(check.recordCount == 299 && check.nodeCount > 0)
    let pages = parts.filter { $0.part == .pages }
    #expect(pages.last.map { $0.done == $0.total } ?? false)
    #expect(parts.last { $0.part == .records }?.done == 299)
  }
}
