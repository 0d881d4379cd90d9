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

  private func put(_ key: Bytes, _ value: Bytes?, in tree: TreeSlot) throws {
    try store.backend.commit { trees throws(StoreError) in
      if let value {
        try trees.put(key.rawSpan, value.rawSpan, schemaVersion: 0, in: tree)
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

  @Test func `every byte of every entry, changed, is found`() throws {
    let blobs = store.types.blobs
    #expect(try store.faults() == [])
    var count = 0
    for tree in [blobs.map, blobs.places, blobs.segments] {
      for (key, value) in try entries(of: tree) where !key.isEmpty {
        for place in stride(from: 0, to: value.count, by: 3) {
          var changed = value
          changed[place] ^= 0xff
          try put(key, changed, in: tree)
          let faults = try store.faults()
          // The end of a segment is what nobody depends on until it is written to again, and a content's hash only
          // helps to find what is compared before it is shared.
          let isHint = tree == blobs.segments ? place < 8 : tree == blobs.map && place >= 40
          if !isHint {
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

  @Test func `what reads and collects does not trap on any of them`() throws {
    let blobs = store.types.blobs
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
    let rows = try store.types.trees(named: "Photo").rows
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
