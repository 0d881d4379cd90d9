@testable import Cambium

/// Pages of every kind. A page that passes validation is read whole, and every key of a node is found where it is.
enum PageTarget: FuzzTarget {
  private static let position = PagePosition(segment: 9, block: 9)

  static func seeds(of store: StoreFiles) -> [[UInt8]] {
    store.pieces([.leaf, .branch, .value, .footer]).map { page in
      Array(page[...(page.lastIndex { $0 != 0 } ?? 0)])
    }
  }

  static func run(_ input: [UInt8]) throws {
    let blocks = max(1, (input.count + Layout.blockSize - 1) / Layout.blockSize)
    guard blocks <= Layout.pageBlocksMax else { return }
    let page = input + [UInt8](repeating: 0, count: blocks * Layout.blockSize - input.count)
    switch PageKind(rawValue: page[8]) {
    case .leaf: try readLeaf(page)
    case .branch: try readBranch(page)
    case .value:
      try ValuePage.validate(page.rawSpan, reference(page), level: 0)
      _ = ValuePage.part(page.rawSpan).array()
    case .valueList: try readList(page)
    case .footer: try readFooter(page)
    case nil: return
    }
  }

  /// A reference to the page, but for its aggregates.
  private static func reference(_ page: [UInt8]) -> PageReference {
    PageReference(
      position: position, blocks: UInt8(page.count / Layout.blockSize), checksum: PageChecksum(),
      lowestVersion: 0, count: 0, liveBytes: UInt64(page.count))
  }

  private static func readLeaf(_ page: [UInt8]) throws {
    var reference = reference(page)
    try Node.validateLayout(page.rawSpan, reference)
    let node = Node(page.rawSpan)
    reference.count = UInt64(node.count)
    reference.lowestVersion = node.schemaVersion
    for slot in 0..<node.count where node.isExternal(slot) {
      guard node.value(slot).byteCount == PageReference.size else { continue }
      reference.liveBytes &+= PageReference(decoding: node.value(slot), at: 0).liveBytes
    }
    try LeafPage.validate(page.rawSpan, reference, level: 0)
    try findKeys(of: page)
    for slot in 0..<node.count { _ = node.value(slot).array() }
  }

  private static func readBranch(_ page: [UInt8]) throws {
    var reference = reference(page)
    try Node.validateLayout(page.rawSpan, reference)
    let node = Node(page.rawSpan)
    reference.lowestVersion = .max
    for index in 0..<node.childCount {
      let child = node.child(index)
      reference.count &+= child.count
      reference.liveBytes &+= child.liveBytes
      reference.lowestVersion = min(reference.lowestVersion, child.lowestVersion)
    }
    try BranchPage.validate(page.rawSpan, reference, level: page[9])
    try findKeys(of: page)
    for slot in 0..<node.count {
      guard node.childIndex(for: node.key(slot).rawSpan) == slot + 1 else {
        throw WrongUse(description: "separator \(slot) leads elsewhere")
      }
    }
  }

  private static func findKeys(of page: [UInt8]) throws {
    let node = Node(page.rawSpan)
    var last: [UInt8] = []
    for slot in 0..<node.count {
      let key = node.key(slot)
      let found = node.search(key.rawSpan)
      guard found.isFound, found.slot == slot else {
        throw WrongUse(description: "key \(slot) is searched for, and \(found) is the answer")
      }
      guard slot == 0 || last.rawSpan.compare(key.rawSpan) < 0 else {
        throw WrongUse(description: "key \(slot) is not above the one before")
      }
      let next = node.search((key + [0]).rawSpan)
      guard next.slot == slot + 1 || next.isFound else {
        throw WrongUse(description: "after key \(slot) comes \(next)")
      }
      last = key
    }
  }

  private static func readList(_ page: [UInt8]) throws {
    var reference = reference(page)
    let countMax = (page.count - LargeValue.listHeaderSize) / PageReference.size
    for index in 0..<min(ValueListPage.count(page.rawSpan), countMax) {
      reference.liveBytes &+= ValueListPage.reference(index, page.rawSpan).liveBytes
    }
    try ValueListPage.validate(page.rawSpan, reference, level: 0)
    for index in 0..<ValueListPage.count(page.rawSpan) {
      _ = ValueListPage.reference(index, page.rawSpan)
    }
  }

  /// A footer that was read is written so that it is read as the same again.
  private static func readFooter(_ page: [UInt8]) throws {
    let footer = try Footer(decoding: page.rawSpan, at: position, path: "fuzz")
    var copy = [UInt8](repeating: 0, count: Layout.pageBlocksMax * Layout.blockSize)
    var span = copy.mutableSpan
    var bytes = unsafe span.mutableBytes
    footer.encode(try footer.encodedSections(), to: &bytes)
    let again = try Footer(decoding: copy.rawSpan, at: position, path: "fuzz")
    guard again == footer else {
      throw WrongUse(description: "\(footer) is written as \(again)")
    }
  }
}
