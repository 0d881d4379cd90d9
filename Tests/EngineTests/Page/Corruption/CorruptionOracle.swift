@testable import Cambium
@testable import InternalTestSupport

/// What was done to the fixture's files.
struct Damage: Sendable {
  /// The pages whose bytes are not what was written.
  var pages = PageSet()
  /// A segment that was cut to so many bytes.
  var cut: (segment: UInt32, size: Int)?

  init(_ pages: PageSet = PageSet()) {
    self.pages = pages
  }
}

/// An answer that was not the right one.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Opens a state of the fixture and asks it everything, knowing what was damaged.
///
/// It is exact: what comes from pages that are whole must be answered rightly, and what comes from a
/// damaged one must throw an error that names a damaged page on the way.
struct CorruptionOracle {
  let fixture: CorruptionFixture
  let state: PublishedState
  let damage: Damage
  private var value: Bytes = []

  init(_ fixture: CorruptionFixture, _ state: PublishedState, _ damage: Damage) {
    self.fixture = fixture
    self.state = state
    self.damage = damage
  }

  /// Looks at every page in both modes, though not for every key: a scan with all values, and a check.
  ///
  /// - Throws: `Violation`.
  mutating func verifyPages() throws {
    if let file = try open(.mapped) {
      for (index, tree) in state.trees.enumerated() {
        let root = file.footer.trees[index].root
        try scan(tree.entries, Tree(pages: file.pages, root: root), forwards: true)
      }
    }
    _ = try open(.buffered(cacheSize: 1 << 20))
    try verifyCheck()
  }

  /// Asks everything, in both modes.
  ///
  /// - Throws: `Violation`.
  mutating func verifyEverything() throws {
    for mode in [ReadMode.mapped, .buffered(cacheSize: 1 << 20)] {
      guard let file = try open(mode) else { continue }
      for (index, tree) in state.trees.enumerated() {
        let root = file.footer.trees[index].root
        try verify(tree, Tree(pages: file.pages, root: root))
        try verifyCheck(of: tree, Tree(pages: file.pages, root: root))
      }
    }
    try verifyCheck()
  }
}

// MARK: Opening

extension CorruptionOracle {
  /// What opening must say.
  private var refusal: StoreError.CorruptPlace? {
    let footerHeader = PagePosition(segment: state.reference.position.segment, block: 0)
    if let page = fixture.map.number(of: footerHeader), damage.pages.contains(page) {
      return .segment(footerHeader.segment)
    }
    if damage.pages.contains(state.footer), damage.pages.contains(state.footerCopy) {
      return fixture.map.place(of: state.footer)
    }
    for (number, end, header) in state.segments {
      if damage.pages.contains(header) { return .segment(number) }
      if let cut = damage.cut, cut.segment == number, cut.size / Layout.blockSize < end {
        return .segment(number)
      }
    }
    return nil
  }

  /// The state, or nil if it is right that it cannot be opened.
  private func open(_ mode: ReadMode) throws -> PageFile? {
    let file: PageFile
    do throws(StoreError) {
      file = try PageFile(
        opening: state.reference, of: .ofFixtures, in: fixture.medium, reading: mode)
    } catch {
      guard case .corrupt(let place, _, _) = error, place == refusal else {
        throw Violation("opening threw \(error)")
      }
      return nil
    }
    if let refusal { throw Violation("opened, although \(refusal) is damaged") }
    guard damage.pages.contains(state.footer) else {
      if let healed = file.healedCopy {
        throw Violation("healed a footer that is whole: \(healed)")
      }
      return file
    }
    guard case .corrupt(fixture.map.place(of: state.footer), _, _) = file.healedCopy else {
      throw Violation("the damaged footer is not said to be healed")
    }
    return file
  }
}

// MARK: Reading

extension CorruptionOracle {
  /// Calls `body`, which must return true if `pages` are whole and throw if they are not.
  private func expect(
    _ what: @autoclosure () -> String, from pages: PageSet, _ body: () throws(StoreError) -> Bool
  ) throws {
    let isDamaged = pages.intersects(damage.pages)
    switch Result(catching: body) {
    case .success where isDamaged:
      throw Violation("\(what()) was answered from a damaged page")
    case .success(let isRight):
      if !isRight { throw Violation("\(what()) is wrong") }
    case .failure(let error):
      if !isDamaged { throw Violation("\(what()) threw \(error)") }
      try locate(error, in: pages)
    }
  }

  /// Demands that the error names a page that was damaged and is one of `pages`.
  private func locate(_ error: StoreError, in pages: PageSet) throws {
    guard case .corrupt(.page(let position), _, _) = error,
      let page = fixture.map.number(of: position), damage.pages.contains(page),
      pages.contains(page)
    else { throw Violation("\(error) is not at a damaged page of this answer") }
  }

  private mutating func verify(
    _ expected: ExpectedTree, _ tree: Tree
  ) throws {
    guard tree.count == expected.entries.count else { throw Violation("count \(tree.count)") }
    var cursor = Cursor(tree)
    var value = value
    for (offset, entry) in expected.entries.enumerated() {
      let all = entry.nodes.union(entry.value.pages)
      try expect("the value of \(entry.key)", from: all) { () throws(StoreError) in
        try tree.copyValue(for: entry.key.rawSpan, to: &value) && value == entry.value.bytes
      }
      try expect("the rank of \(entry.key)", from: entry.nodes) { () throws(StoreError) in
        try tree.rank(of: entry.key.rawSpan) == offset
      }
      try expect("the entry at \(offset)", from: entry.nodes) { () throws(StoreError) in
        try cursor.seek(toOffset: offset) && cursor.key.equals(entry.key.rawSpan)
      }
    }
    self.value = value
    try scan(expected.entries, tree, forwards: true)
    try scan(expected.entries.reversed(), tree, forwards: false)
  }

  /// Goes over the whole tree: every entry must come, up to the first that lies behind damage.
  private func scan(
    _ entries: some Collection<ExpectedEntry>, _ tree: Tree, forwards: Bool
  ) throws {
    var cursor = Cursor(tree)
    var value: Bytes = []
    var isFirst = true
    for entry in entries {
      try expect("scanning \(entry.key)", from: entry.nodes) { () throws(StoreError) in
        let isOn =
          isFirst
          ? forwards ? try cursor.first() : try cursor.last()
          : forwards ? try cursor.next() : try cursor.previous()
        return isOn && cursor.key.equals(entry.key.rawSpan)
      }
      if entry.nodes.intersects(damage.pages) { return }
      isFirst = false
      try expect("scanning the value of \(entry.key)", from: entry.value.pages) {
        () throws(StoreError) in
        value.removeAll(keepingCapacity: true)
        try tree.append(cursor.entry, to: &value)
        return value == entry.value.bytes
      }
    }
    let hasMore = forwards ? try cursor.next() : try cursor.previous()
    if hasMore { throw Violation("a scan does not end") }
  }
}

// MARK: Checking

extension CorruptionOracle {
  /// Demands that a check names every damaged page that whole ones lead to, and no other.
  private func verifyCheck(
    of expected: ExpectedTree, _ tree: Tree
  ) throws {
    let report = TreeCheck.run(tree, sizes: CorruptionFixture.sizes)
    var named = PageSet()
    for fault in report.faults {
      guard case .corrupt(.page(let position), _, _) = fault,
        let page = fixture.map.number(of: position)
      else { throw Violation("check found \(fault)") }
      named.insert(page)
    }
    let reachable = damagedPages(of: expected)
    guard named == reachable else {
      throw Violation("check of \(expected.name) found \(report.faults)")
    }
    if reachable.isEmpty, report.entryCount != expected.entries.count {
      throw Violation("check counted \(report.entryCount) entries")
    }
  }

  /// The damaged pages that whole ones lead to.
  private func damagedPages(of tree: ExpectedTree) -> PageSet {
    var reachable = PageSet()
    for (page, ancestors) in tree.pages
    where damage.pages.contains(page) && !ancestors.intersects(damage.pages) {
      reachable.insert(page)
    }
    return reachable
  }

  /// Demands that a check of the whole state names every damaged part that can be come to, and no other.
  private func verifyCheck() throws {
    let faults = PageFile.check(
      state.reference, of: .ofFixtures, in: fixture.medium, sizes: CorruptionFixture.sizes)
    var named: Set<StoreError.CorruptPlace> = []
    for fault in faults {
      guard case .corrupt(let place, _, _) = fault else { throw Violation("check found \(fault)") }
      named.insert(place)
    }
    guard named == damagedPlaces else {
      throw Violation("check found \(faults), not \(damagedPlaces)")
    }
  }

  private var damagedPlaces: Set<StoreError.CorruptPlace> {
    var places: Set<StoreError.CorruptPlace> = []
    func add(_ pages: PageSet) {
      for page in fixture.map.positions.indices where pages.contains(page) {
        places.insert(fixture.map.place(of: page))
      }
    }
    let copies = [state.footer, state.footerCopy].filter(damage.pages.contains)
    for copy in copies { add(PageSet(copy)) }
    let isFooterLost = copies.count == 2
    for (number, end, header) in state.segments
    where !isFooterLost || number == state.reference.position.segment {
      if damage.pages.contains(header) { places.insert(.segment(number)) }
      if isFooterLost { continue }
      if let cut = damage.cut, cut.segment == number, cut.size / Layout.blockSize < end {
        places.insert(.segment(number))
      }
    }
    if isFooterLost { return places }
    for tree in state.trees + state.pendingTrees { add(damagedPages(of: tree)) }
    return places
  }
}
