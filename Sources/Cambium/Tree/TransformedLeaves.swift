/// Leaves whose entries a crew transforms ahead of the merge that takes them.
///
///     crew       read and verify leaves ─▶ transform their values
///     merge      put entries into new leaves, and write these
final class TransformedLeaves: CrewTask, @unchecked Sendable {
  private let base: PageReader
  private var transform: any EntryTransform
  private var references: [PageReference] = []
  /// The result, when the task is done.
  private(set) var entries = TransformedEntries()

  init(_ base: PageReader, _ transform: any EntryTransform) {
    self.base = base
    self.transform = transform
  }

  /// How many leaves are one task: so many that handing it over takes no time beside it.
  static var leavesPerTask: Int { 4 }

  /// The number of leaves.
  var count: Int { references.count }

  /// Takes other leaves in the place of those before.
  func begin(_ leaves: Range<Int>, of branch: borrowing Node) {
    references.removeAll(keepingCapacity: true)
    entries.removeAll()
    for index in leaves { references.append(branch.child(index)) }
  }

  override func perform() {
    var made = TransformedEntries()
    swap(&made, &entries)
    var transform = transform
    for reference in references {
      guard (try? made.append(leafAt: reference, of: base, by: &transform)) != nil else { break }
    }
    swap(&made, &entries)
  }
}

/// The results of a transform for the entries of some leaves, in order.
struct TransformedEntries {
  /// The values that replace others.
  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// For each leaf the range of its entries, or nil if the merge has to transform it. Leaves behind one that failed are
  /// missing: the merge transforms it again, and throws the error in order.
  private var leaves: [Range<Int>?] = []

  private struct Entry {
    let result: TransformResult
    let end: Int
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    leaves.removeAll(keepingCapacity: true)
  }

  /// Transforms the entries of a leaf, if they are old and no value has pages of its own.
  fileprivate mutating func append(
    leafAt reference: PageReference, of base: PageReader, by transform: inout any EntryTransform
  ) throws(StoreError) {
    guard reference.lowestVersion < transform.schemaVersion else { return leaves.append(nil) }
    let page = try base.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    let version = node.schemaVersion
    guard !node.hasExternals, version < transform.schemaVersion else { return leaves.append(nil) }
    let start = entries.count
    var key: [UInt8] = []
    var made: [UInt8] = []
    swap(&made, &bytes)
    defer { swap(&made, &bytes) }
    for slot in 0..<node.count {
      node.copyKey(slot, to: &key)
      let result = try transform.transform(
        key: key.rawSpan, value: node.value(slot), schemaVersion: version, to: &made)
      entries.append(Entry(result: result, end: made.count))
    }
    leaves.append(start..<entries.count)
  }

  /// The places of a leaf's entries; nil if it is left to the merge.
  func entries(ofLeaf leaf: Int) -> Range<Int>? { leaf < leaves.count ? leaves[leaf] : nil }

  func result(_ entry: Int) -> TransformResult { entries[entry].result }

  @_lifetime(borrow self)
  func value(_ entry: Int) -> RawSpan {
    let start = entry == 0 ? 0 : entries[entry - 1].end
    return bytes.rawSpan.part(start, entries[entry].end - start)
  }
}
