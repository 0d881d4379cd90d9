// The bytes of a footer: a fixed part, then sections. A section that this version does not know is
// passed over, or refuses the store, as its flag says.
//
//     offset  0       24      28       32        48        72                80     88            92        96
//             ┌───────┬───────┬────────┬─────────┬─────────┬─────────────────┬──────┬─────────────┬─────────┬─ ─
//             │header │length │log use │identity │features │covered sequence │epoch │next segment │reserved │
//             └───────┴───────┴────────┴─────────┴─────────┴─────────────────┴──────┴─────────────┴─────────┴─ ─
//             96            129            162       168
//             ┌─────────────┬──────────────┬─────────┬──────────┬─ ─
//             │catalog root │segment root  │reserved │section   │
//             └─────────────┴──────────────┴─────────┴──────────┴─ ─
//     section: kind u16, flags u16, length u32, payload
//
// The roots are for catalogs and segment tables that are too long for a footer: trees instead of the sections. This version
// writes sections, and refuses footers with roots as newer.

extension Footer {
  static let fixedSize = 168

  enum Section: UInt16 {
    case trees = 1
    case segments = 2
    case keptStates = 3
    case pendingWork = 4
    case previous = 5
  }

  /// The flag of a section without which the rest must not be used.
  static let mustUnderstand: UInt16 = 1

  /// The bytes that a tree of this name takes in the catalog if it has entries.
  static func treeSize(_ name: String) -> Int {
    NamedTree.sizeWithoutName + name.utf8.count + NamedTree.layerSize
  }

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
    try bytes.appendSection(.trees, CatalogLine.lines(of: trees)) {
      line, bytes throws(StoreError) in
      try bytes.append(line)
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
      for tree in work.trees { try bytes.append(CatalogLine(tree)) }
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
    page.store(epoch, at: 80)
    page.store(nextSegment, at: 88)
    page.zero(92..<Self.fixedSize)
    for offset in Self.rootOffsets { page.store(NamedTree.noRoot, at: offset) }
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
    epoch = try start.integer(UInt64.self)
    nextSegment = try start.integer(UInt32.self)
    try Self.checkRoots(try start.run(Self.fixedSize - start.offset), path: path)

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
      try read(section, from: &reader, at: position, path: path)
      guard reader.remaining == 0 else { throw reader.fault("a section is longer than it says") }
    }
  }

  /// Where the roots of a catalog and of a segment table are that are trees.
  private static let rootOffsets = [96, 96 + 1 + PageReference.size]

  /// Throws if the catalog or the segment table is a tree, by the end of the fixed part.
  private static func checkRoots(_ bytes: RawSpan, path: String) throws(StoreError) {
    let start = fixedSize - bytes.byteCount
    for offset in rootOffsets
    where bytes.load(offset - start, as: UInt8.self) != NamedTree.noRoot {
      throw .newerFormat(path: path, reason: "its footer has a catalog or segment table in a tree")
    }
  }

  private mutating func read(
    _ section: Section, from reader: inout ByteReader, at position: PagePosition, path: String
  ) throws(StoreError) {
    for _ in 0..<(try reader.integer(UInt32.self)) {
      switch section {
      case .trees:
        let line = try CatalogLine(reading: &reader, below: position, path: path)
        for tree in line.trees {
          if let last = trees.last, !last.precedes(tree) {
            throw reader.fault("the catalog's names do not ascend")
          }
          trees.append(tree)
        }
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
        pendingWork.append(try PendingWork(reading: &reader, below: position, path: path))
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

  fileprivate mutating func append(_ line: CatalogLine) throws(StoreError) {
    try append(shortString: line.name)
    append(UInt8(line.layers.count))
    for layer in line.layers {
      append(layer.flags)
      append(layer.root.level)
      layer.root.reference.encode(to: &self)
    }
    // No options.
    append(integer: UInt16(0))
  }
}

extension NamedTree {
  /// True if this tree comes before another.
  fileprivate func precedes(_ other: NamedTree) -> Bool {
    name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }

  /// Stands for the level of a root that is not there.
  fileprivate static let noRoot: UInt8 = 0xff
  /// The size of a line of the catalog without name and layers: two lengths, and the number of layers.
  static let sizeWithoutName = 4
  /// The size of a layer: flags, level and root.
  static let layerSize = 2 + PageReference.size
}

extension LevelLayer {
  /// Its number in the flags; 0 stands for the tree itself.
  fileprivate var code: UInt8 {
    switch self {
    case .part(let part): part.rawValue + 1
    case .filter: 4
    }
  }

  fileprivate init?(code: UInt8) {
    guard let layer = Self.all.first(where: { $0.code == code }) else { return nil }
    self = layer
  }
}

/// A line of the catalog: a tree with the layers over it. In memory each of them is a tree.
private struct CatalogLine {
  let name: String
  /// Those over the tree, then the tree.
  var layers: [Layer] = []

  struct Layer {
    /// Nil for the tree.
    let kind: LevelLayer?
    let root: TreeRoot

    /// Bit 0 is reserved.
    var flags: UInt8 { (kind?.code ?? 0) << 1 }
  }

  init(_ tree: NamedTree) {
    name = tree.name
    if let root = tree.root { layers = [Layer(kind: nil, root: root)] }
  }

  /// - Parameter trees: Ascending by their names, so that layers follow their tree.
  static func lines(of trees: [NamedTree]) -> [CatalogLine] {
    var lines: [CatalogLine] = []
    for tree in trees {
      guard let (name, layer) = LevelLayer.parsing(tree.name), let root = tree.root,
        let last = lines.last, last.name == name
      else {
        lines.append(CatalogLine(tree))
        continue
      }
      let place = last.layers.count - 1
      lines[lines.count - 1].layers.insert(Layer(kind: layer, root: root), at: max(0, place))
    }
    return lines
  }

  /// The tree and the layers over it, ascending by name.
  var trees: [NamedTree] {
    let root = layers.last.flatMap { $0.kind == nil ? $0.root : nil }
    let over = layers.compactMap { layer in
      layer.kind.map { NamedTree(name: $0.name(over: name), root: layer.root) }
    }
    return [NamedTree(name: name, root: root)] + over
  }

  /// The most layers that any version gives a tree.
  private static let layersMax = 16
  /// The bit of an option without which the tree must not be used.
  private static let mustUnderstand: UInt16 = 1 << 15

  init(
    reading reader: inout ByteReader, below position: PagePosition, path: String
  ) throws(StoreError) {
    name = try reader.shortString()
    guard LevelLayer.parsing(name) == nil else {
      throw reader.fault("the name of a tree ends like that of a layer")
    }
    let count = try reader.integer(UInt8.self)
    guard count <= Self.layersMax else {
      throw reader.fault("the tree \(name) is said to have \(count) layers")
    }
    guard count <= 1 + LevelLayer.all.count else {
      throw .newerFormat(path: path, reason: "the tree \(name) has \(count) layers")
    }
    for _ in 0..<count {
      let layer = try Self.layer(reading: &reader, below: position, path: path)
      if let last = layers.last {
        guard let before = last.kind, layer.kind.map({ before < $0 }) ?? true else {
          throw reader.fault("the layers of the tree \(name) are not in their order")
        }
      }
      layers.append(layer)
    }
    guard layers.last?.kind == nil else {
      throw reader.fault("the tree \(name) has a level, and nothing below it")
    }
    var options = ByteReader(
      try reader.run(Int(try reader.integer(UInt16.self))), at: .page(position),
      invariant: .footerSections)
    try Self.passOver(&options, path: path)
  }

  private static func layer(
    reading reader: inout ByteReader, below position: PagePosition, path: String
  ) throws(StoreError) -> Layer {
    let flags = try reader.integer(UInt8.self)
    let layer = LevelLayer(code: flags >> 1)
    guard flags == 0 || flags & 1 == 0 && layer != nil else {
      throw .newerFormat(path: path, reason: "a tree has flags \(String(flags, radix: 2))")
    }
    let level = try reader.integer(UInt8.self)
    guard level <= Layout.levelMax else { throw reader.fault("a root at level \(level)") }
    let reference = try reader.reference()
    try reference.check(below: position)
    return Layer(kind: layer, root: TreeRoot(reference: reference, level: level))
  }

  /// Passes over options, none of which this version knows, unless one must be known.
  private static func passOver(
    _ options: inout ByteReader, path: String
  ) throws(StoreError) {
    while options.remaining > 0 {
      let tag = try options.integer(UInt16.self)
      _ = try options.run(Int(try options.integer(UInt16.self)))
      guard tag & mustUnderstand == 0 else {
        throw .newerFormat(path: path, reason: "a tree has the option \(tag & ~mustUnderstand)")
      }
    }
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
  fileprivate init(
    reading reader: inout ByteReader, below position: PagePosition, path: String
  ) throws(StoreError) {
    kind = try reader.integer(UInt16.self)
    let count = Int(try reader.integer(UInt16.self))
    cursor = try reader.run(count).array()
    trees = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      let line = try CatalogLine(reading: &reader, below: position, path: path)
      trees += line.trees
    }
  }
}
