// Written from FORMAT.md alone: it shares no code with the library, and names nothing of it. Whoever
// changes one of the two changes the other from what the document says, or mends the document.

/// Reads a store from the bytes of its files, plainly and slowly.
struct IndependentReader {
  struct Refusal: Error {
    let reason: String
  }

  struct PageReference {
    let segment, block, blocks, checksum, lowestVersion, count, liveBlocks: Int
  }

  struct Root {
    let reference: PageReference
    let level: Int
  }

  let files: [String: [UInt8]]
  private(set) var identity: [UInt8] = []
  /// The block behind the last published one of each page segment.
  private(set) var ends: [Int: Int] = [:]
  private(set) var treeNames: [String] = []
  /// The layers of trees that have entries, newest first: by their part, 0 for the tree itself.
  private(set) var layers: [String: [(part: Int, root: Root)]] = [:]
  private(set) var coveredSequence = 0

  /// Opens what the 32 bytes of a footer reference lead to.
  init(_ files: [String: [UInt8]], opening bytes: [UInt8]) throws {
    self.files = files
    let (segment, block, blocks) = (bytes.u32(0), bytes.u24(4), Int(bytes[7]))
    identity = try header(of: segment)
    do {
      try open(segment, block, blocks, checksum: bytes.u64(8), sequence: bytes.u64(24))
    } catch {
      try open(segment, block + blocks, blocks, checksum: bytes.u64(16), sequence: bytes.u64(24))
    }
  }
}

// MARK: Segments and pages

extension IndependentReader {
  func refuse(_ condition: Bool, _ reason: String) throws {
    if condition { throw Refusal(reason: reason) }
  }

  private func file(_ segment: Int) throws -> [UInt8] {
    let digits = String(segment)
    let name = "pages-" + String(repeating: "0", count: 10 - digits.count) + digits
    guard let file = files[name] else { throw Refusal(reason: "\(name) is missing") }
    return file
  }

  /// Checks a segment's header and returns the identity there.
  private func header(of segment: Int) throws -> [UInt8] {
    let file = try file(segment)
    try refuse(file.count < 4096, "no header")
    try refuse(Array(file[0..<8]) != Array("CAMBIUM\0".utf8), "no magic")
    try refuse(
      Self.crc(file[40..<4096], after: Self.crc(file[0..<36])) != file.u32(36),
      "the header is damaged")
    try refuse(file.u32(8) != 1, "format \(file.u32(8))")
    try refuse(file.u64(56) != 0, "unknown features")
    try refuse(file.u32(12) != segment, "another segment's file")
    return Array(file[16..<32])
  }

  /// CRC-32C, a bit at a time; `crc` is that of what came before.
  static func crc(_ bytes: some Sequence<UInt8>, after crc: Int = 0) -> Int {
    var remainder = ~UInt32(crc)
    for byte in bytes {
      remainder ^= UInt32(byte)
      for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0x82f6_3b78 : 0) }
    }
    return Int(~remainder)
  }

  /// CRC-64/NVMe, a bit at a time; `crc` is that of what came before.
  static func pageChecksum(of bytes: some Sequence<UInt8>, after crc: Int = 0) -> Int {
    var remainder = ~UInt64(bitPattern: Int64(crc))
    for byte in bytes {
      remainder ^= UInt64(byte)
      for _ in 0..<8 {
        remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0x9a6c_9329_ac4b_c9b5 : 0)
      }
    }
    return Int(Int64(bitPattern: ~remainder))
  }

  private func page(
    _ segment: Int, _ block: Int, _ blocks: Int, checksum: Int, kind: UInt8, level: Int
  ) throws -> [UInt8] {
    let file = try file(segment)
    try refuse(block < 1 || blocks < 1 || blocks > 64, "no page can be there")
    try refuse((block + blocks) * 4096 > file.count, "the file is too short")
    let page = Array(file[block * 4096..<(block + blocks) * 4096])
    let place = identity + [UInt8](u32: segment) + [UInt8](u32: block)
    let computed = Self.pageChecksum(of: page.dropFirst(8), after: Self.pageChecksum(of: place))
    try refuse(
      computed != checksum || computed != page.u64(0), "page \(segment)/\(block): checksum")
    try refuse(page[8] != kind || page[9] != level || page[10] != blocks, "not the page expected")
    return page
  }

  func page(_ reference: PageReference, kind: UInt8, level: Int) throws -> [UInt8] {
    guard let end = ends[reference.segment], reference.block + reference.blocks <= end else {
      throw Refusal(reason: "not published")
    }
    return try page(
      reference.segment, reference.block, reference.blocks, checksum: reference.checksum,
      kind: kind, level: level)
  }

  func reference(_ bytes: [UInt8], _ offset: Int) -> PageReference {
    PageReference(
      segment: bytes.u32(offset), block: bytes.u24(offset + 4), blocks: Int(bytes[offset + 7]),
      checksum: bytes.u64(offset + 8), lowestVersion: bytes.u32(offset + 16),
      count: bytes.u48(offset + 20), liveBlocks: bytes.u48(offset + 26))
  }
}

// MARK: The footer

extension IndependentReader {
  private mutating func open(
    _ segment: Int, _ block: Int, _ blocks: Int, checksum: Int, sequence: Int
  ) throws {
    let footer = try page(segment, block, blocks, checksum: checksum, kind: 5, level: 0)
    try refuse(Array(footer[32..<48]) != identity, "another store's footer")
    try refuse(footer.u64(64) != 0, "unknown features")
    try refuse(footer.u64(72) != sequence, "another footer")
    coveredSequence = sequence
    try refuse(footer[96] != 255 || footer[129] != 255, "a catalog or segment table in a tree")
    var offset = 168
    let end = 168 + footer.u32(24)
    while offset < end {
      let kind = footer.u16(offset)
      switch kind {
      case 1: try readTrees(footer, offset + 8)
      case 2: try readSegments(footer, offset + 8)
      case 3...6: break
      default: try refuse(footer[offset + 2] & 1 == 1, "section \(kind)")
      }
      offset += 8 + footer.u32(offset + 4)
    }
  }

  private mutating func readTrees(_ footer: [UInt8], _ start: Int) throws {
    var offset = start + 4
    for _ in 0..<footer.u32(start) {
      let nameEnd = offset + 1 + Int(footer[offset])
      let name = String(decoding: footer[offset + 1..<nameEnd], as: UTF8.self)
      let layerCount = footer[nameEnd]
      try refuse(layerCount > 5, "\(name) has \(layerCount) layers")
      offset = nameEnd + 1
      treeNames.append(name)
      for _ in 0..<layerCount {
        try refuse(footer[offset] & 1 != 0 || footer[offset] > 8, "\(name) has flags")
        let root = Root(
          reference: reference(footer, offset + 2), level: Int(footer[offset + 1]))
        layers[name, default: []].append((Int(footer[offset] >> 1), root))
        offset += 34
      }
      let options = offset + 2 + footer.u16(offset)
      offset += 2
      while offset < options {
        try refuse(footer[offset + 1] & 0x80 != 0, "\(name) has an option that must be known")
        offset += 4 + footer.u16(offset + 2)
      }
    }
  }

  private mutating func readSegments(_ footer: [UInt8], _ start: Int) throws {
    for index in 0..<footer.u32(start) {
      let offset = start + 4 + 21 * index
      if footer[offset] != 1 { continue }
      let (number, end) = (footer.u32(offset + 1), footer.u64(offset + 5))
      try refuse(header(of: number) != identity, "another store's segment")
      try refuse(file(number).count / 4096 < end, "segment \(number) is too short")
      ends[number] = end
    }
  }
}

// MARK: Integers

extension [UInt8] {
  init(u32 value: Int) {
    self = (0..<4).map { UInt8(value >> (8 * $0) & 255) }
  }

  private func integer(_ offset: Int, _ size: Int) -> Int {
    (0..<size).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }

  func u16(_ offset: Int) -> Int { integer(offset, 2) }
  func u24(_ offset: Int) -> Int { integer(offset, 3) }
  func u32(_ offset: Int) -> Int { integer(offset, 4) }
  func u48(_ offset: Int) -> Int { integer(offset, 6) }
  func u64(_ offset: Int) -> Int { integer(offset, 8) }
  func u64(bits offset: Int) -> UInt { UInt(bitPattern: integer(offset, 8)) }
}
