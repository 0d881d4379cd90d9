import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record whose images are in files of blobs above a threshold: 64 KiB where none is said.
private struct Card: Record, Equatable {
  var id: Int
  var image: Blob
  var text = ""
  var shared: Data?

  @TaskLocal static var threshold: Int?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "image", type: .binaryData, storage: .external(threshold: threshold))
    Field(name: "text", type: .string, storage: .external(threshold: threshold))
    Field(
      name: "shared", type: .binaryData, storage: .external(deduplicated: true), optional: true)
  }

  init(_ id: Int, image: Int, text: Int = 0) {
    self.id = id
    self.image = Blob(PhotoContent.bytes(image, seed: UInt64(id)))
    self.text = PhotoContent.text(text)
  }

  static var model: StoreModel { StoreModel(records: [Card.self]) }
}

/// Values of external fields that stay in their rows, compressed.
@Suite struct PackedValueTests {
  /// All rows, by their keys.
  private func rows(_ store: PersistentStore) throws -> [Bytes: Bytes] {
    var found: [Bytes: Bytes] = [:]
    let rows = try store.entities.entity(named: "Card").rows
    let cursor = try store.backend.trees().cursor(in: rows)
    while try cursor.advance() { found[cursor.key.array()] = try cursor.value().array() }
    return found
  }

  private func put(_ key: Bytes, _ row: Bytes, in store: PersistentStore) throws {
    let entity = try store.entities.entity(named: "Card")
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(
        key.rawSpan, row.rawSpan, schemaVersion: entity.layout.version, in: entity.rows)
    }
  }

  @Test func `a value that stays in its row is committed by one flush, and in no file of blobs`()
    throws
  {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(on: medium, model: Card.model, seed: 1)
    let before = medium.callCount(of: .sync)
    try store.save(Card(1, image: 40_000))
    #expect(medium.callCount(of: .sync) == before + 1)
    #expect(try rows(store).values.first?.count ?? 0 < 30_000)
    #expect(try store.blobStatistics() == BlobStatistics())
    #expect(try store.fetch(Card.self, key: 1) == Card(1, image: 40_000))
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `values of every length come back, whether they compress or not`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/cards"
    var store = try PersistentStore(at: path, model: Card.model)
    let lengths = [0, 1, 4_095, 4_096, 4_097, 20_000, 65_535, 65_536, 65_537, 300_000]
    var cards = lengths.map { Card($0, image: $0, text: $0) }
    var generator = SplitMix64(seed: 5)
    for (index, length) in lengths.enumerated() {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      cards[index].shared = Data(bytes)
      var card = Card(1_000_000 + length, image: 0)
      card.image = Blob(Data(bytes))
      cards.append(card)
    }
    try store.write { [cards] in try $0.insert(contentsOf: cards) }
    for _ in 0..<2 {
      #expect(try store.fetch(Card.self) == cards)
      #expect(try store.faults() == [])
      let image = try #require(try store.fetch(Card.self, key: 65_536)).image
      let all = PhotoContent.bytes(65_536, seed: 65_536)
      #expect(try image.data(in: 1_000..<2_000) == all[1_000..<2_000])
      let reader = try image.reader(from: 60_000)
      #expect(try reader.read(upTo: 100) == all[60_000..<60_100])
      try store.close()
      store = try PersistentStore(at: path, model: Card.model)
    }
    // Images and texts of the two longest, and what is longer than 4 KiB and shared.
    #expect(try store.blobStatistics().count == 2 * 2 + 2 + 6)
    try store.backUp(to: directory.path + "/copy")
    try store.close()
    let copy = try PersistentStore(at: directory.path + "/copy", model: Card.model)
    #expect(try copy.fetch(Card.self) == cards)
    #expect(try copy.faults() == [])
    try copy.close()
  }

  @Test func `a blob that a short stream makes stays in its row`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    let content = PhotoContent.bytes(60_000)
    let writer = try store.makeBlobWriter()
    for start in stride(from: 0, to: 60_000, by: 20_000) {
      try writer.append(content[start..<start + 20_000])
    }
    var card = Card(1, image: 0)
    card.image = try writer.finish()
    try store.save(card)
    #expect(try store.blobStatistics().count == 0)
    #expect(try store.fetch(Card.self, key: 1)?.image.data() == content)
  }

  @Test func `a copy of a value in a row has its bytes, and outlives the record`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    try store.save(Card(1, image: 40_000))
    let fetched = try #require(try store.fetch(Card.self, key: 1))
    var copy = fetched
    copy.id = 2
    try store.save(copy)
    try store.delete(Card.self, key: 1)
    try store.save(Card(3, image: 40_000))
    let other = try PersistentStore(inMemory: Card.model)
    try other.save(fetched)
    let row = try #require(try rows(other).values.first)
    #expect(try rows(store).values.contains(row))
    #expect(try store.fetch(Card.self, key: 2)?.image == Card(1, image: 40_000).image)
    #expect(try fetched.image.data() == Card(1, image: 40_000).image.data())
    #expect(try store.faults() + other.faults() == [])
  }

  @Test func `saving a record with what it has leaves its row as it was`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    let card = Card(1, image: 40_000, text: 20_000)
    try store.save(card)
    let before = try rows(store)
    try store.save(card)
    try store.save(try #require(try store.fetch(Card.self, key: 1)))
    #expect(try rows(store) == before)
  }

  @Test func `a value moves out of its row and back, as the threshold says`() throws {
    let medium = SimulatedFileSystem()
    let card = Card(1, image: 40_000, text: 20_000)
    let lives: [(threshold: Int?, blobs: Int)] = [(nil, 0), (100, 2), (nil, 0), (30_000, 1)]
    for (life, (threshold, blobs)) in lives.enumerated() {
      try Card.$threshold.withValue(threshold) {
        let store = try PersistentStore(on: medium, model: Card.model, seed: UInt64(life + 1))
        if life > 0 {
          let fetched = try #require(try store.fetch(Card.self, key: 1))
          #expect(fetched == card)
          try store.save(fetched)
        } else {
          try store.save(card)
        }
        #expect(try store.blobStatistics().count == blobs)
        #expect(try store.fetch(Card.self, key: 1) == card)
        #expect(try store.faults() == [])
        try store.close()
      }
    }
  }

  @Test func `what history keeps of values in rows is undone`() throws {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    let store = try PersistentStore(inMemory: Card.model, options: options)
    try store.save(Card(1, image: 40_000))
    let place = try store.snapshot().historyCursor
    var changed = Card(1, image: 0)
    changed.image = Blob(PhotoContent.bytes(50_000, seed: 9))
    try store.save(changed)
    try store.delete(Card.self, key: 1)
    try store.undo(since: place)
    #expect(try store.fetch(Card.self, key: 1) == Card(1, image: 40_000))
    #expect(try store.faults() == [])
  }

  @Test func `what is salvaged has its values in rows`() throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path + "/cards", directory.path + "/copy")
    let cards = (0..<5).map { Card($0, image: 40_000, text: 10_000) }
    var store = try PersistentStore(at: path, model: Card.model)
    try store.write { try $0.insert(contentsOf: cards) }
    try store.close()
    for number in 0...1 { try FileManager.default.removeItem(atPath: "\(path)/log-\(number)") }
    let report = try PersistentStore.salvage(at: path, to: copy, options: SalvageOptions())
    #expect(report.remainingFaults.isEmpty && report.damagedBlobs == 0)
    store = try PersistentStore(at: copy, model: Card.model)
    #expect(try store.fetch(Card.self) == cards)
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `a compressed value has the bytes that its table says`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    try store.save(Card(1, image: 5_000))
    let packed = try #require(try store.fetch(Card.self, key: 1)?.image.packed)
    let value = ExternalValue.packed(packed).encoded
    let frame = value.rawSpan.part(9, value.count - 9)
    var checksum = Checksum()
    checksum.update(UInt64(5_000))
    checksum.update(frame)
    #expect(value[0] == 2)
    #expect(value.rawSpan.load(1, as: UInt32.self) == 5_000)
    #expect(value.rawSpan.load(5, as: UInt32.self) == checksum.rawValue)
    #expect(ZstdFrame.contentLength(of: frame) == 5_000)
  }

  @Test func `every byte of a compressed value, changed, is found`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    try store.save(Card(1, image: 5_000))
    let (key, row) = try #require(try rows(store).first)
    let image = try #require(try store.fetch(Card.self, key: 1)).image
    let packed = try #require(image.packed)
    let value = ExternalValue.packed(packed).encoded
    let start = try #require(row.indices.first { row[$0...].starts(with: value) })
    for place in start..<start + value.count where place < start + 30 || place % 97 == 0 {
      var changed = row
      changed[place] ^= 0x41
      try put(key, changed, in: store)
      #expect(try store.faults() != [], "byte \(place - start)")
      do {
        let found = try store.fetch(Card.self, key: 1)
        #expect(throws: StoreError.self) { try found?.image.data() }
      } catch is StoreError {}
    }
    try put(key, row, in: store)
    #expect(try store.faults() == [])
  }

  @Test func `a value that is compressed by a dictionary is of a newer format`() throws {
    let store = try PersistentStore(inMemory: Card.model)
    try store.save(Card(1, image: 5_000))
    var (key, row) = try #require(try rows(store).first)
    let packed = try #require(try store.fetch(Card.self, key: 1)?.image.packed)
    let value = ExternalValue.packed(packed).encoded
    let start = try #require(row.indices.first { row[$0...].starts(with: value) })
    row[start] = 3
    try put(key, row, in: store)
    let error = #expect(throws: StoreError.self) { try store.fetch(Card.self, key: 1) }
    guard case .newerFormat = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
