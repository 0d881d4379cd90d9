@testable import Cambium
@testable import InternalTestSupport

/// One published state of the fixture: what it must answer, and which pages each answer comes from.
struct PublishedState {
  let reference: FooterReference
  /// The page that is the footer, and the one that is its copy.
  let footer: Int
  let footerCopy: Int
  /// Where its segments end, ascending, and the pages that are their headers.
  let segments: [(number: UInt32, end: Int, header: Int)]
  let trees: [ExpectedTree]
  /// The trees that its pending work has made so far.
  var pendingTrees: [ExpectedTree] = []
}

struct ExpectedTree {
  let name: String
  /// Ascending by key.
  let entries: [ExpectedEntry]
  /// All pages, each with those that lead to it.
  let pages: [(page: Int, ancestors: PageSet)]
}

struct ExpectedEntry {
  let key: Bytes
  /// The branches and the leaf that lead to it.
  let nodes: PageSet
  let value: ExpectedValue
}

struct ExpectedValue {
  let bytes: Bytes
  /// The pages of its own.
  let pages: PageSet
}

extension PublishedState {
  /// Reads the state while it is whole, and notes its pages in `map`.
  ///
  /// What the trees hold comes from `model`; only which page it lies on is taken from the file.
  init(
    _ reference: FooterReference, in medium: InMemoryFileSystem, of model: FixtureModel,
    to map: inout PageMap
  ) throws {
    let file = try PageFile(opening: reference, in: medium, reading: .mapped)
    let copies = reference.copies
    self.reference = reference
    footer = map.add(copies[0].position, blocks: Int(copies[0].blocks))
    footerCopy = map.add(copies[1].position, blocks: Int(copies[1].blocks))
    var segments: [(UInt32, Int, Int)] = []
    for extent in file.footer.segments {
      let header = PagePosition(segment: extent.number, block: 0)
      segments.append((extent.number, Int(extent.end), map.add(header, blocks: 1)))
    }
    self.segments = segments
    var walk = PageWalk(pages: file.pages, map: map)
    var trees: [ExpectedTree] = []
    for (tree, model) in zip(file.footer.trees, [model.deep, model.flat]) {
      trees.append(try walk.tree(tree, holding: model))
    }
    self.trees = trees
    map = walk.map
  }
}

/// Follows the references from a root down.
private struct PageWalk {
  let pages: PageReader
  var map: PageMap
  private var found: [(page: Int, ancestors: PageSet)] = []
  private var places: [Bytes: (nodes: PageSet, value: PageSet)] = [:]

  init(pages: PageReader, map: PageMap) {
    self.pages = pages
    self.map = map
  }

  mutating func tree(_ tree: NamedTree, holding model: [Bytes: Bytes]) throws -> ExpectedTree {
    found = []
    places = [:]
    if let root = tree.root { try visit(root.reference, level: root.level, below: PageSet()) }
    let keys = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    return ExpectedTree(
      name: tree.name,
      entries: keys.compactMap { key in
        guard let bytes = model[key], let place = places[key] else { return nil }
        return ExpectedEntry(
          key: key, nodes: place.nodes, value: ExpectedValue(bytes: bytes, pages: place.value))
      }, pages: found)
  }

  mutating func visit(_ reference: PageReference, level: UInt8, below ancestors: PageSet) throws {
    let path = ancestors.union(PageSet(note(reference, below: ancestors)))
    if level > 0 {
      let page = try pages.page(reference, level: level, as: BranchPage.self)
      let children = (0..<Node(page.bytes).childCount).map { Node(page.bytes).child($0) }
      for child in children { try visit(child, level: level - 1, below: path) }
      return
    }
    let page = try pages.page(reference, level: 0, as: LeafPage.self)
    for slot in 0..<Node(page.bytes).count {
      var key: Bytes = []
      Node(page.bytes).copyKey(slot, to: &key)
      var valuePages = PageSet()
      if Node(page.bytes).isExternal(slot) {
        let value = PageReference(decoding: Node(page.bytes).value(slot), at: 0)
        valuePages = try self.value(value, ancestors: path)
      }
      places[key] = (path, valuePages)
    }
  }

  /// The pages of a value.
  mutating func value(_ reference: PageReference, ancestors: PageSet) throws -> PageSet {
    var result = PageSet(note(reference, below: ancestors))
    if reference.liveBytes == reference.size { return result }
    let path = ancestors.union(result)
    let page = try pages.page(reference, level: 0, as: ValueListPage.self)
    for index in 0..<ValueListPage.count(page.bytes) {
      result.insert(note(ValueListPage.reference(index, page.bytes), below: path))
    }
    return result
  }

  private mutating func note(_ reference: PageReference, below ancestors: PageSet) -> Int {
    let page = map.add(reference.position, blocks: Int(reference.blocks))
    found.append((page, ancestors))
    return page
  }
}
