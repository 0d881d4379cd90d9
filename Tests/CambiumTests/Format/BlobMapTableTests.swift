import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The tables of external values and of the map of blobs in `FORMAT.md` against what the code writes.
@Suite struct BlobMapTableTests {
  private let document: FormatDocument
  private let identity = BlobIdentity(low: 0x0807_0605_0403_0201, high: 0x100f_0e0d_0c0b_0a09)
  private let place = BlobPlace(
    segment: 0x1413_1211, offset: 0x2827, size: 0x3837, length: 0x4847,
    checksum: Checksum(rawValue: 0x5453_5251))
  private let hash = SipHash128(low: 0x6867_6665_6463_6261, high: 0x7877_7675_7473_7271)

  init() throws {
    document = try FormatDocument()
  }

  private func table(_ heading: String) throws -> ByteTable {
    try ByteTable(heading, in: document)
  }

  private func bytes(_ range: ClosedRange<UInt8>) -> Bytes { Bytes(range) }

  @Test func `a reference is laid out as the table says`() throws {
    var found = Bytes()
    BlobReference(identity, place).encode(to: &found)
    try table("Blob reference").verify(
      found,
      [
        "identity": bytes(1...16), "length": little(0x4847, 8), "checksum": little(0x5453_5251, 4),
      ])
  }

  @Test func `an external value begins with a byte of the table, and no other is read`() throws {
    let reference = BlobReference(identity, place)
    var encoded = Bytes()
    reference.encode(to: &encoded)
    let packed = PackedValue(Bytes([9, 8, 7]).rawSpan, length: 0x1817)
    var encodedPacked = Bytes()
    packed.encode(to: &encodedPacked)
    let values: [(tag: String, value: ExternalValue, rest: Bytes)] = [
      ("0", .inline(Data([9, 8])), [9, 8]), ("1", .reference(reference), encoded),
      ("2", .packed(packed), encodedPacked),
    ]
    let tags = try document.column("first byte", of: "External values")
    // The last is reserved.
    #expect(tags == values.map(\.tag) + ["3"])
    for (tag, value, rest) in values {
      let found = value.encoded
      #expect(found.first == UInt8(tag))
      #expect(Bytes(found.dropFirst()) == rest)
      #expect(ExternalValue(decoding: found.rawSpan) == value)
    }
    // A row in memory may have another.
    for tag in UInt8(3)..<255 {
      for rest in [[], encoded, encodedPacked, [0, 0, 0, 0]] {
        let other = [tag] + rest
        #expect(ExternalValue(decoding: other.rawSpan) == nil)
        #expect(ExternalValue.isNewer(other.rawSpan) == (tag == 3))
      }
    }
  }

  @Test func `a compressed value is laid out as the table says`() throws {
    let frame: Bytes = [9, 8, 7]
    let packed = PackedValue(frame.rawSpan, length: 0x1817)
    var encoded = Bytes()
    packed.encode(to: &encoded)
    var checksum = Checksum()
    checksum.update(UInt64(0x1817))
    checksum.update(frame.rawSpan)
    try table("Compressed value").verify(
      encoded,
      [
        "length": little(0x1817, 4), "checksum": little(UInt64(checksum.rawValue), 4),
        "frame": frame,
      ])
  }

  @Test func `an entry is laid out as the table says, with a hash and without`() throws {
    var encodedPlace = Bytes()
    place.encode(to: &encodedPlace)
    let entry = BlobEntry(place: place, references: 0x8887, hash: hash)
    try table("Blob entry").verify(
      entry.encoded(),
      [
        "place": encodedPlace, "references": little(0x8887, 8),
        "hash": bytes(0x61...0x68) + bytes(0x71...0x78),
      ])
    let shorter = BlobEntry(place: place, references: 0x8887, hash: nil).encoded()
    #expect(shorter == Bytes(entry.encoded().prefix(40)))
    #expect(try BlobEntry(decoding: shorter.rawSpan, of: []).hash == nil)
    #expect(try BlobEntry(decoding: entry.encoded().rawSpan, of: []) == entry)
  }

  @Test func `accounts and what is said of all are laid out as the tables say`() throws {
    var account = SegmentAccount()
    account.end = 0x1817
    account.live = 0x0807
    try table("Segment account").verify(
      account.encoded(), ["end": little(0x1817, 8), "live": little(0x0807, 8)])
    var header = BlobHeader(seed: BlobSeed(rawValue: 0x2827_2625_2423_2221))
    header.highest = 0x3433_3231
    header.countedIn = 0x4847_4645_4443_4241
    for isDue in [false, true] {
      header.isCountDue = isDue
      try table("Blob header").verify(
        header.encoded(),
        [
          "seed": bytes(0x21...0x28), "highest": bytes(0x31...0x34), "flags": [isDue ? 1 : 0],
          "counted": bytes(0x41...0x48),
        ])
      let encoded = header.encoded()
      #expect(try BlobHeader(decoding: encoded.rawSpan) == header)
    }
  }

  @Test func `the trees of the map are those of the table, and their keys what it says`() throws {
    let trees = try document.column("tree", of: "The map of blobs")
    #expect(Set(trees) == Set(BlobTrees.names))
    #expect(identity.key == bytes(1...16))
    #expect(place.key == [0x14, 0x13, 0x12, 0x11, 0, 0, 0, 0, 0, 0, 0x28, 0x27])
    #expect(hash.key == bytes(0x61...0x68) + bytes(0x71...0x78))
    #expect(SegmentAccount.key(of: 0x0102_0304) == [1, 2, 3, 4])
    #expect(BlobHeader.key == [])
  }

  @Test func `a store has in each tree what the tables say`() throws {
    let store = try PersistentStore(inMemory: Photo.model)
    for id in 1...3 { try store.save(Photo(id, image: 20_000, preview: 700)) }
    let (trees, blobs) = (try store.backend.trees(), store.entities.blobs)
    let header = try #require(try blobs.header(in: trees))
    #expect(!header.isCountDue)
    var hashed = 0
    try blobs.forEach(in: trees) { identity, entry in
      var value: Bytes = []
      #expect(throws: Never.self) {
        _ = try trees.copyValue(of: entry.place.key.rawSpan, in: blobs.places, to: &value)
      }
      #expect(value == identity.key)
      #expect(entry.references == (entry.hash == nil ? 1 : 3))
      hashed += entry.hash == nil ? 0 : 1
      return true
    }
    #expect(hashed == 1)
    #expect(try trees.count(in: blobs.contents) == 1)
    #expect(try trees.count(in: blobs.map) == 4)
    let content = PhotoContent.bytes(700, seed: 700)
    var hasher = SipHash128.Stream(
      key: SipHash128.Key(low: header.seed.rawValue, high: ~header.seed.rawValue))
    hasher.update(content.bytes)
    var found: Bytes = []
    #expect(
      try trees.copyValue(of: hasher.finish().key.rawSpan, in: blobs.contents, to: &found))
  }
}
