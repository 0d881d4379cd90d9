// The bytes of a footer: a fixed part, then sections. A section that this version does not know is
// passed over, or refuses the store, as its flag says.
//
//     offset  0       24      28       32        48        72                80
//             ┌───────┬───────┬────────┬─────────┬─────────┬─────────────────┬──────────┬─ ─
//             │header │length │log use │identity │features │covered sequence │section   │
//             └───────┴───────┴────────┴─────────┴─────────┴─────────────────┴──────────┴─ ─
//     section: kind u16, flags u16, length u32, payload

extension Footer {
  static let fixedSize = 80

  enum Section: UInt16 {
    case trees = 1
    case segments = 2
    case keptStates = 3
    case pendingWork = 4
    case previous = 5
  }

  /// The flag of a section without which the rest must not be used.
  static let mustUnderstand: UInt16 = 1

  /// The bytes that a tree of this name takes in the catalog: the name with its length, a level and a root.
  static func treeSize(_ name: String) -> Int { 2 + name.utf8.count + PageReference.size }

  /// The size of the footer without its catalog.
  ///
  /// - Throws: as `encodedSections`.
  func sizeWithoutTrees() throws(StoreError) -> Int {
    var rest = self
    rest.trees = []
    return try Self.fixedSize + rest.encodedSections().count
  }

  /// The sections' bytes.
  ///
  /// - Precondition: The catalog ascends by the bytes of the names, the segments by kind and number:
  ///   a footer where they do not could be written, and never read.
  func encodedSections() throws(StoreError) -> [UInt8] {
    precondition(
      zip(trees, trees.dropFirst()).allSatisfy { $0.precedes($1) }, "the catalog's names ascend")
    precondition(
      zip(segments, segments.dropFirst()).allSatisfy { $0.precedes($1) },
      "the segment table ascends")
    var bytes: [UInt8] = []
    try bytes.appendSection(.trees, trees) { tree, bytes throws(StoreError) in
      try bytes.append(tree)
    }
    try bytes.appendSection(.segments, segments) { extent, bytes throws(StoreError) in
      bytes.append(extent.kind.rawValue)
      bytes.append(integer: extent.number)
      bytes.append(integer: extent.end)
      bytes.append(integer: extent.liveBytes)
    }
    try bytes.appendSection(.keptStates, keptStates) { state, bytes throws(StoreError) in
      bytes.append(integer: state.version)
      try bytes.append(shortString: state.label)
      state.footer.encode(to: &bytes)
    }
    try bytes.appendSection(.pendingWork, pendingWork) { work, bytes throws(StoreError) in
      guard let cursorLength = UInt16(exactly: work.cursor.count) else {
        throw .limitExceeded(.cursorLength, found: work.cursor.count)
      }
      bytes.append(integer: work.kind)
      bytes.append(integer: cursorLength)
      bytes.append(contentsOf: work.cursor)
      bytes.append(integer: UInt32(work.trees.count))
      for tree in work.trees { try bytes.append(tree) }
    }
    try bytes.appendSection(.previous, previous.map { [$0] } ?? []) {
      reference, bytes throws(StoreError) in
      reference.encode(to: &bytes)
    }
    guard Self.fixedSize + bytes.count <= Layout.pageBlocksMax * Layout.blockSize else {
      throw .limitExceeded(.footerSize, found: Self.fixedSize + bytes.count)
    }
    return bytes
  }

  /// Writes the whole footer but for the page header.
  func encode(_ sections: [UInt8], to page: inout MutableRawSpan) {
    page.store(UInt32(sections.count), at: 24)
    page.store(logUse, at: 28)
    page.store(identity.low, at: 32)
    page.store(identity.high, at: 40)
    features.encode(to: &page, at: 48)
    page.store(coveredSequence, at: 72)
    page.copy(sections.rawSpan, to: Self.fixedSize)
  }

  /// Reads the footer on a page whose checksum is right.
  init(decoding page: RawSpan, at position: PagePosition, path: String) throws(StoreError) {
    var start = ByteReader(page, at: .page(position), invariant: .footerSections)
    _ = try start.run(PageHeader.size)
    let length = Int(try start.integer(UInt32.self))
    logUse = try start.integer(UInt32.self)
    identity = StoreIdentity(
      low: try start.integer(UInt64.self), high: try start.integer(UInt64.self))
    features = try Features(reading: &start)
    coveredSequence = try start.integer(UInt64.self)
    try features.checkReadable(path: path, subject: "it")

    var sections = ByteReader(
      try start.run(length), at: .page(position), invariant: .footerSections)
    while sections.remaining > 0 {
      let kind = try sections.integer(UInt16.self)
      let flags = try sections.integer(UInt16.self)
      let payload = try sections.run(Int(try sections.integer(UInt32.self)))
      guard let section = Section(rawValue: kind) else {
        guard flags & Self.mustUnderstand == 0 else {
          throw .newerFormat(path: path, reason: "its footer has a section of kind \(kind)")
        }
        continue
      }
      var reader = ByteReader(payload, at: .page(position), invariant: .footerSections)
      try read(section, from: &reader, at: position)
      guard reader.remaining == 0 else { throw reader.fault("a section is longer than it says") }
    }
  }

  private mutating func read(
    _ section: Section, from reader: inout ByteReader, at position: PagePosition
  ) throws(StoreError) {
    for _ in 0..<(try reader.integer(UInt32.self)) {
      switch section {
      case .trees:
        let tree = try NamedTree(reading: &reader, below: position)
        if let last = trees.last, !last.precedes(tree) {
          throw reader.fault("the catalog's names do not ascend")
        }
        trees.append(tree)
      case .segments:
        let extent = try SegmentExtent(reading: &reader)
        if let last = segments.last, !last.precedes(extent) {
          throw reader.fault("the segment table does not ascend")
        }
        segments.append(extent)
      case .keptStates:
        keptStates.append(
          KeptState(
            version: try reader.integer(UInt32.self), label: try reader.shortString(),
            footer: try FooterReference(reading: &reader)))
      case .pendingWork:
        pendingWork.append(try PendingWork(reading: &reader, below: position))
      case .previous:
        previous = try FooterReference(reading: &reader)
      }
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendSection<Item>(
    _ kind: Footer.Section, _ elements: [Item],
    _ encode: (Item, inout [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    if elements.isEmpty { return }
    var payload: [UInt8] = []
    payload.append(integer: UInt32(elements.count))
    for element in elements { try encode(element, &payload) }
    append(integer: kind.rawValue)
    append(integer: Footer.mustUnderstand)
    append(integer: UInt32(payload.count))
    append(contentsOf: payload)
  }

  fileprivate mutating func append(_ tree: NamedTree) throws(StoreError) {
    try append(shortString: tree.name)
    append(tree.root?.level ?? NamedTree.noRoot)
    if let root = tree.root { root.reference.encode(to: &self) }
  }
}

extension NamedTree {
  /// True if this line of the catalog comes before another.
  fileprivate func precedes(_ other: NamedTree) -> Bool {
    name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }

  /// Stands for the level of a tree without entries.
  fileprivate static let noRoot: UInt8 = 0xff

  fileprivate init(reading reader: inout ByteReader, below position: PagePosition)
    throws(StoreError)
  {
    name = try reader.shortString()
    let level = try reader.integer(UInt8.self)
    if level == Self.noRoot { return }
    guard level <= Layout.levelMax else { throw reader.fault("a root at level \(level)") }
    let reference = try reader.reference()
    try reference.check(below: position)
    root = TreeRoot(reference: reference, level: level)
  }
}

extension SegmentExtent {
  fileprivate func precedes(_ other: SegmentExtent) -> Bool {
    (kind.rawValue, number) < (other.kind.rawValue, other.number)
  }

  fileprivate init(reading reader: inout ByteReader) throws(StoreError) {
    guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else {
      throw reader.fault("a segment of unknown kind")
    }
    self.kind = kind
    number = try reader.integer(UInt32.self)
    end = try reader.integer(UInt64.self)
    liveBytes = try reader.integer(UInt64.self)
    guard kind != .pages || end <= UInt64(Layout.segmentBlocksMax) else {
      throw reader.fault("page segment \(number) is said to have \(end) blocks")
    }
  }
}

extension PendingWork {
  fileprivate init(reading reader: inout ByteReader, below position: PagePosition)
    throws(StoreError)
  {
    kind = try reader.integer(UInt16.self)
    let count = Int(try reader.integer(UInt16.self))
    cursor = try reader.run(count).array()
    trees = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      trees.append(try NamedTree(reading: &reader, below: position))
    }
  }
}
