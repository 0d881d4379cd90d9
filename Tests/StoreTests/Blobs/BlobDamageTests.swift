import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A map, accounts and rows that say what is not so: found by a check, and no trap.
@Suite struct BlobDamageTests {
  private let store: PersistentStore
  private let photos = (0..<4).map { Photo($0, image: 30_000, preview: 700) }

  init() throws {
    store = try PersistentStore(inMemory: Photo.model)
    try store.write { [photos] in try $0.insert(contentsOf: photos) }
  }

  private func put(
    _ key: Bytes, _ value: Bytes?, version: UInt32 = 0, in tree: TreeSlot
  ) throws {
    try store.backend.commit { trees throws(StoreError) in
      if let value {
        try trees.put(key.rawSpan, value.rawSpan, schemaVersion: version, in: tree)
      } else {
        _ = try trees.remove(key.rawSpan, in: tree)
      }
    }
  }

  /// All entries of a tree.
  private func entries(of tree: TreeSlot) throws -> [(key: Bytes, value: Bytes)] {
    var found: [(Bytes, Bytes)] = []
    let cursor = try store.backend.trees().cursor(in: tree)
    var isOn = try cursor.first()
    while isOn {
      found.append((cursor.key.array(), try cursor.value().array()))
      isOn = try cursor.next()
    }
    return found
  }

  /// Reads all there is, and does what goes by the map: errors are of the store.
  private func read() throws {
    do {
      for photo in try store.fetch(Photo.self) { _ = try photo.image.data() }
    } catch is StoreError {}
    do { _ = try store.blobStatistics() } catch {}
    do { try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0)) } catch {}
    do { try store.save(Photo(0, image: 40_000)) } catch is StoreError {}
  }

  @Test func `an empty file with the highest number of all does not stop the writing of blobs`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/photos"
    try PersistentStore(at: path, model: Photo.model).close()
    for id in 0..<2 {
      let file = path + "/blobs-4294967295"
      try Data().write(to: URL(filePath: file))
      let opened = try PersistentStore(at: path, model: Photo.model)
      #expect(!FileManager.default.fileExists(atPath: file))
      try opened.save(photos[id])
      #expect(try opened.count(Photo.self) == id + 1)
      #expect(try opened.snapshot().check() == [])
      try opened.close()
    }
  }

  @Test func `every byte of every entry, changed, is found`() throws {
    let blobs = store.entities.blobs
    #expect(try store.faults() == [])
    var count = 0
    for tree in [blobs.map, blobs.places, blobs.contents, blobs.segments] {
      for (key, value) in try entries(of: tree) where !key.isEmpty {
        for place in stride(from: 0, to: value.count, by: 3) {
          var changed = value
          changed[place] ^= 0xff
          try put(key, changed, in: tree)
          let faults = try store.faults()
          // Nobody depends on the end of a segment until it is written to again.
          if tree != blobs.segments || place >= 8 {
            #expect(!faults.isEmpty, "byte \(place) of \(value.count)")
          }
          count += 1
        }
        try put(key, value, in: tree)
      }
    }
    #expect(try store.faults() == [])
    #expect(count > 80)
  }

  @Test func `a hash that leads nowhere, or a content without a blob, is found`() throws {
    let blobs = store.entities.blobs
    let (hash, identity) = try #require(try entries(of: blobs.contents).first)
    try put(hash, nil, in: blobs.contents)
    #expect(try store.faults().contains { $0.breaks(.blobMap) })
    try put(hash, identity, in: blobs.contents)
    try put(hash.reversed(), identity, in: blobs.contents)
    #expect(try store.faults().contains { $0.breaks(.blobMap) })
    try put(hash.reversed(), nil, in: blobs.contents)
    #expect(try store.faults() == [])
  }

  @Test func `a missing header of blobs is found, and so are rows without a map`() throws {
    let blobs = store.entities.blobs
    try put([], nil, in: blobs.segments)
    #expect(try store.faults().contains { $0.breaks(.blobAccounts) })
    for tree in [blobs.map, blobs.places, blobs.contents, blobs.segments] {
      for (key, _) in try entries(of: tree) { try put(key, nil, in: tree) }
    }
    let faults = try store.faults()
    #expect(!faults.isEmpty && faults.allSatisfy { $0.breaks(.rowExternal) })
  }

  @Test func `an external string that is not UTF-8 is found, in a row and in a blob`() throws {
    let rows = try store.entities.entity(named: "Photo").rows
    try store.save(Photo(9, image: 30_000, notes: 10))
    let short = try #require(try entries(of: rows).last)
    let text = Bytes("abcdefghij".utf8)
    let start = try #require(short.value.firstRange(of: text)).lowerBound
    var row = short.value
    row[start + 4] = 0xff
    try put(short.key, row, version: store.schema.storedVersion, in: rows)
    #expect(try store.faults().map { $0.breaks(.rowValues) } == [true])

    try store.save(Photo(9, image: 30_000, notes: 400))
    let long = try #require(try entries(of: rows).last)
    let references = try self.references(in: long)
    let places = try references.map {
      try #require(long.value.firstRange(of: $0.key)).lowerBound
    }
    // The notes refer to the image.
    row = long.value
    let (image, notes) = (places[0], places[1])
    row.replaceSubrange(
      notes..<notes + BlobReference.size, with: row[image..<image + BlobReference.size])
    try put(long.key, row, version: store.schema.storedVersion, in: rows)
    #expect(try store.faults().contains { $0.breaks(.rowValues) })
  }

  /// The identities that a row refers to, in the order of its columns.
  private func references(in entry: (key: Bytes, value: Bytes)) throws -> [BlobIdentity] {
    var found: [BlobIdentity] = []
    let layout = try store.entities.entity(named: "Photo").layout
    try layout.forEachReference(key: entry.key.rawSpan, row: entry.value.rawSpan) {
      found.append($0.identity)
    }
    return found
  }

  @Test func `what reads and collects does not trap on any of them`() throws {
    let blobs = store.entities.blobs
    for tree in [blobs.map, blobs.places, blobs.segments, blobs.contents] {
      let all = try entries(of: tree)
      for (key, value) in all {
        for changed in [
          nil, [], Bytes(value.dropLast()), value + [0],
          Bytes(repeating: 0xff, count: value.count), Bytes(repeating: 0, count: value.count),
        ] {
          try put(key, changed, in: tree)
          try read()
        }
        try put(key, value, in: tree)
      }
    }
  }

  @Test func `every bit of a reference in a row, changed, is found or is another value`() throws {
    let rows = try store.entities.entity(named: "Photo").rows
    let all = try entries(of: rows)
    let (key, row) = try #require(all.first)
    for place in row.indices {
      var changed = row
      changed[place] ^= 1
      try put(key, changed, in: rows)
      do {
        let found = try store.fetch(Photo.self, key: 0)
        let content = try found?.image.data()
        let faults = try store.faults()
        #expect(content != nil || !faults.isEmpty)
      } catch is StoreError {}
    }
  }
}
