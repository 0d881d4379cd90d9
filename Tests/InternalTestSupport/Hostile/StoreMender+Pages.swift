@testable import Cambium

extension StoreMender {
  /// Mends the page that a reference leads to, with all below it, and the reference.
  ///
  /// - Parameter tree: The name of the tree that it is in.
  mutating func mendPage(at reference: Place, in tree: [UInt8], depth: Int = 0) {
    let segment = number(reference.file, reference.offset, as: UInt32.self)
    let place = number(reference.file, reference.offset + 4, as: UInt32.self)
    let position = PagePosition(segment: segment, block: place & 0xff_ffff)
    let file = "\(FileName.pages(segment))"
    let start = Int(position.block) * Layout.blockSize
    let bytes = start..<start + Int(place >> 24) * Layout.blockSize
    guard depth < 60, position.block > 0, !bytes.isEmpty, bytes.upperBound <= size(of: file)
    else { return }
    if done[position] == nil {
      done[position] = PageChecksum()
      mendContent(of: file, bytes, in: tree, depth)
      done[position] = seal(file, bytes, position)
    }
    store(done[position]?.rawValue ?? 0, reference.file, reference.offset + 8)
    if mendsAggregates { mendAggregates(file, bytes, at: reference) }
  }

  mutating func seal(_ file: String, _ range: Range<Int>, _ position: PagePosition) -> PageChecksum
  {
    let page = bytes(file, range)
    let checksum = PageChecksum.of(page.rawSpan, at: position, in: identity)
    store(checksum.rawValue, file, range.lowerBound)
    return checksum
  }

  private mutating func mendContent(
    of file: String, _ bytes: Range<Int>, in tree: [UInt8], _ depth: Int
  ) {
    var references: [Int] = []
    switch number(file, bytes.lowerBound + 8, as: UInt8.self) {
    case PageKind.leaf.rawValue:
      pieces.append(Piece(kind: .leaf, file: file, bytes: bytes))
      references = mendLeaf(file, bytes, in: tree)
    case PageKind.branch.rawValue:
      pieces.append(Piece(kind: .branch, file: file, bytes: bytes))
      references = children(file, bytes)
    case PageKind.valueList.rawValue:
      pieces.append(Piece(kind: .value, file: file, bytes: bytes))
      references = parts(file, bytes)
    default: pieces.append(Piece(kind: .value, file: file, bytes: bytes))
    }
    for offset in references {
      mendPage(at: Place(file: file, offset: offset), in: tree, depth: depth + 1)
    }
  }

  /// Where a branch has its references.
  private func children(_ file: String, _ bytes: Range<Int>) -> [Int] {
    let count = Int(number(file, bytes.lowerBound + 24, as: UInt16.self))
    let prefix = Int(number(file, bytes.lowerBound + 26, as: UInt16.self))
    let first = bytes.lowerBound + Node.headerSize + (prefix + 7) / 8 * 8 + 8 * count
    return references(from: first, count: count + 1, in: bytes)
  }

  /// Where the list of a large value's parts has its references.
  private func parts(_ file: String, _ bytes: Range<Int>) -> [Int] {
    let count = Int(number(file, bytes.lowerBound + 32, as: UInt32.self))
    return references(from: bytes.lowerBound + LargeValue.listHeaderSize, count: count, in: bytes)
  }

  private func references(from first: Int, count: Int, in bytes: Range<Int>) -> [Int] {
    let countMax = max(0, bytes.upperBound - first) / PageReference.size
    return (0..<min(count, countMax)).map { first + PageReference.size * $0 }
  }

  /// Mends the statements of a leaf's values about others, and returns where it has references to values.
  private mutating func mendLeaf(
    _ file: String, _ bytes: Range<Int>, in tree: [UInt8]
  ) -> [Int] {
    var references: [Int] = []
    for entry in entries(file, bytes) {
      if entry.isExternal {
        if entry.value.count == PageReference.size { references.append(entry.value.lowerBound) }
      } else {
        mendValue(file, entry, in: tree)
      }
    }
    return references
  }

  private mutating func mendAggregates(
    _ file: String, _ bytes: Range<Int>, at reference: Place
  ) {
    var (count, live) = (UInt64(0), UInt64(bytes.count / Layout.blockSize))
    func liveBlocks(_ reference: Int) -> UInt64 { number(file, reference + 24) >> 16 }
    switch number(file, bytes.lowerBound + 8, as: UInt8.self) {
    case PageKind.branch.rawValue:
      for child in children(file, bytes) {
        count &+= number(file, child + 20) & PageReference.aggregateMax
        live &+= liveBlocks(child)
      }
    case PageKind.leaf.rawValue:
      count = UInt64(number(file, bytes.lowerBound + 24, as: UInt16.self))
      for entry in entries(file, bytes) where entry.isExternal {
        live &+= liveBlocks(entry.value.lowerBound)
      }
    case PageKind.valueList.rawValue:
      for part in parts(file, bytes) { live &+= liveBlocks(part) }
    default: break
    }
    store(UInt32(truncatingIfNeeded: count), reference.file, reference.offset + 20)
    store(count >> 32 & 0xffff | live << 16, reference.file, reference.offset + 24)
  }
}

// MARK: - Entries

/// An entry of a leaf.
struct PlacedEntry {
  let key: [UInt8]
  /// Where its value is in the file, or the reference to its value.
  let value: Range<Int>
  let isExternal: Bool
}

extension StoreMender {
  /// The entries of a leaf whose layout is right; none of another.
  func entries(_ file: String, _ range: Range<Int>) -> [PlacedEntry] {
    let page = bytes(file, range)
    let reference = PageReference(
      position: PagePosition(segment: 0, block: 0),
      blocks: UInt8(clamping: range.count / Layout.blockSize), checksum: PageChecksum(),
      lowestVersion: 0, count: 0, liveBytes: 0)
    guard (try? Node.validateLayout(page.rawSpan, reference)) != nil else { return [] }
    let node = Node(page.rawSpan)
    return (0..<node.count).map { slot in
      let value = node.valueRange(slot)
      return PlacedEntry(
        key: node.key(slot),
        value: range.lowerBound + value.lowerBound..<range.lowerBound + value.upperBound,
        isExternal: node.isExternal(slot))
    }
  }

  /// Mends the statements of an entry's value about other bytes.
  private mutating func mendValue(_ file: String, _ entry: PlacedEntry, in tree: [UInt8]) {
    switch String(decoding: tree, as: UTF8.self) {
    case Schema.treeName:
      pieces.append(Piece(kind: .schema, file: file, bytes: entry.value))
      var schema = bytes(file, entry.value)
      schema.mendFingerprint()
      replace(entry.value, of: file, by: schema)
    case BlobTrees.segmentsName:
      if entry.key.isEmpty { blobSeed = BlobSeed(rawValue: number(file, entry.value.lowerBound)) }
    case BlobTrees.mapName: mendBlob(at: Place(file: file, offset: entry.value.lowerBound), entry)
    default: break
    }
  }
}

extension [UInt8] {
  /// Puts in the fingerprint of the schema that these bytes describe, if they describe one.
  mutating func mendFingerprint() {
    let decoder = SchemaDecoder(
      place: .entry(tree: Schema.treeName, key: []), path: "a schema to be mended")
    guard count >= SipHash128.size else { return }
    let elements = Array(self[SipHash128.size...])
    var reader = decoder.reader(elements.rawSpan)
    guard let schema = try? decoder.schema(from: &reader, version: 1) else { return }
    var hash: [UInt8] = []
    hash.append(integer: schema.fingerprint.hash.low)
    hash.append(integer: schema.fingerprint.hash.high)
    replaceSubrange(0..<SipHash128.size, with: hash)
  }
}
