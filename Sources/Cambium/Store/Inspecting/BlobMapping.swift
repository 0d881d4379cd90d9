/// Puts together what the files of blobs are used for.
struct BlobMapping {
  private(set) var segments: [StoreMap.BlobSegment] = []
  private(set) var faults: [StoreError] = []

  /// - Complexity: O(blobs × log blobs).
  /// - Throws: `.io`. What the map of blobs does not say rightly is a fault, and ends it.
  mutating func run(
    in backend: any StoreBackend, for schema: Schema
  ) throws(StoreError) {
    do throws(StoreError) {
      try BlobOpening(backend).open(for: schema)
      guard let keeper = backend.blobs.keeper else { return }
      let (trees, blobs) = (try backend.trees(), try BlobTrees(backend.names))
      for (number, _) in try blobs.accounts(in: trees) {
        let size = Int(clamping: try keeper.size(of: number))
        let bytes = try Self.bytes(of: number, size, blobs, in: trees)
        segments.append(
          StoreMap.BlobSegment(number: Int(number), size: size, regions: bytes.regions))
      }
    } catch {
      switch error {
      case .corrupt, .missing: faults.append(error)
      default: throw error
      }
    }
  }

  /// Walks over the places of one segment, which follow one another.
  private static func bytes(
    of number: UInt32, _ size: Int, _ blobs: BlobTrees, in trees: TreeAccess
  ) throws(StoreError) -> BlobBytes {
    var bytes = BlobBytes(size)
    let prefix = SegmentAccount.key(of: number)
    let cursor = try trees.cursor(in: blobs.places)
    var isOn = try cursor.seek(to: prefix.rawSpan)
    while isOn {
      let key = cursor.key.array()
      guard key.starts(with: prefix) else { break }
      let value = try cursor.value()
      if let identity = BlobIdentity(key: value),
        let entry = try blobs.entry(of: identity, in: trees), entry.place.key == key
      {
        bytes.add(entry)
      }
      isOn = try cursor.next()
    }
    bytes.end()
    return bytes
  }
}

/// The bytes of one file of blobs, from front to back.
private struct BlobBytes {
  private let size: Int
  private(set) var regions: [StoreMap.BlobRegion] = []
  private var done = 0

  init(_ size: Int) {
    self.size = size
    fill(to: BlobLayout.firstOffset, .header)
  }

  /// Adds a blob that lies behind all before it; what is not in the file is left out.
  mutating func add(_ entry: BlobEntry) {
    fill(to: Int(clamping: entry.place.offset), .garbage)
    fill(to: Int(clamping: entry.place.end), entry.references > 0 ? .blobs : .kept)
  }

  mutating func end() { fill(to: size, .garbage) }

  private mutating func fill(to end: Int, _ use: StoreMap.BlobUse) {
    let end = min(end, size)
    if end <= done { return }
    var start = done
    if let last = regions.last, last.use == use {
      start = last.bytes.lowerBound
      regions.removeLast()
    }
    regions.append(StoreMap.BlobRegion(bytes: start..<end, use: use))
    done = end
  }
}
