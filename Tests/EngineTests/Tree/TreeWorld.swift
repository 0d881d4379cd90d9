import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Operations for a merge, from a list.
struct ListInput: SortedInput {
  struct Operation {
    var key: Bytes
    /// Nil removes the key.
    var value: Bytes?
    var version: UInt32 = 1
  }

  private let operations: [Operation]
  private var index = -1
  private var currentKey: Bytes = []
  private var currentValue: Bytes = []

  /// - Parameter operations: ascending by key.
  init(_ operations: [Operation]) {
    self.operations = operations
  }

  /// The changes as operations in the order of the keys.
  init(_ changes: [Bytes: Bytes?], version: UInt32 = 1) {
    self.init(
      changes.keys.sorted { $0.lexicographicallyPrecedes($1) }.map {
        Operation(key: $0, value: changes[$0] ?? nil, version: version)
      })
  }

  mutating func advance() throws(StoreError) -> Bool {
    index += 1
    guard index < operations.count else { return false }
    currentKey = operations[index].key
    currentValue = operations[index].value ?? []
    return true
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.rawSpan }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { currentValue.rawSpan }
  }

  var isRemoval: Bool { operations[index].value == nil }
  var schemaVersion: UInt32 { operations[index].version }
}

/// A page file with one tree, and the dictionary it must agree with.
struct TreeWorld {
  let medium: any FileSystem
  /// Of what is built next.
  var sizes: NodeSizes
  let mode: ReadMode
  var segmentBlocks = Layout.segmentBlocksMax
  /// Whether states follow one another in one segment, and each is opened with what the one before has
  /// open.
  var goesOn = false
  private var appender: PageAppender?
  var nextSegment: UInt32 = 1
  private var nextMerge = 0
  private(set) var file: PageFile?
  private(set) var model: [Bytes: Bytes] = [:]

  static var identity: StoreIdentity { StoreIdentity(low: 0x0123_4567_89ab_cdef, high: 42) }

  init(
    on medium: any FileSystem, sizes: NodeSizes = .standard, reading mode: ReadMode = .mapped
  ) {
    self.medium = medium
    self.sizes = sizes
    self.mode = mode
  }

  var root: TreeRoot? { file?.footer.trees.first?.root }

  func tree() throws -> Tree {
    guard let file else { throw StoreError.missing(path: "no tree was published yet") }
    return Tree(pages: file.pages, root: root)
  }

  /// Merges `changes` into the tree and the model; nil removes.
  mutating func merge(
    _ changes: [Bytes: Bytes?], version: UInt32 = 1, adoption: Adoption = .all,
    within range: MergeRange? = nil
  ) throws {
    try merge(
      ListInput(changes, version: version), adoption: adoption,
      within: range)
    for (key, value) in changes { model[key] = value }
  }

  mutating func merge(
    _ input: some SortedInput, transform: TreeTransform = .none,
    adoption: Adoption = .all,
    within range: MergeRange? = nil
  ) throws {
    let (appender, before) = (try nextAppender(), file)
    let root = try TreeMerge.run(
      input, into: root, of: file?.pages, transform: transform, adoption: adoption,
      within: range, sizes: sizes, appendingTo: appender)
    let (replaced, appended) = (appender.replaced, appender.extents)
    try publish(root, from: appender)
    try check(replaced, appended, since: before)
  }

  /// Throws unless the pages that a merge replaced and appended are those that a walk misses and finds.
  private func check(
    _ replaced: ReplacedPages, _ appended: [AppendedBlocks], since before: PageFile?
  ) throws {
    guard let file else { return }
    var live = try before?.pages.liveBytes(of: before?.footer.trees ?? []) ?? [:]
    for extent in appended {
      live[extent.number, default: 0] += UInt64(extent.blocks.count * Layout.blockSize)
    }
    for (number, bytes) in replaced.bytes { live[number, default: 0] -= bytes }
    live = live.filter { $0.value > 0 }
    let found = try file.pages.liveBytes(of: file.footer.trees)
    try agree(found == live && replaced.isComplete, "\(live) bytes live, and not \(found)")
  }

  /// Every third time another one goes on, as if the store had been closed and opened.
  mutating func nextAppender() throws -> PageAppender {
    if goesOn, let file, appender == nil || nextMerge % 3 == 0 {
      appender = try PageAppender(
        to: medium, of: Self.identity, behind: file.reference, from: nextSegment,
        output: .buffered, segmentBlocks: segmentBlocks)
    }
    nextMerge += 1
    if goesOn, let appender { return appender }
    return PageAppender(
      to: medium, of: Self.identity, from: nextSegment, output: .buffered,
      segmentBlocks: segmentBlocks)
  }

  mutating func setModel(_ model: [Bytes: Bytes]) { self.model = model }

  mutating func publish(_ root: TreeRoot?, from appender: PageAppender) throws {
    try publish([NamedTree(name: "t", root: root)], from: appender)
  }

  /// - Parameter trees: Ascending by their names; the first is the world's.
  mutating func publish(_ trees: [NamedTree], from appender: PageAppender) throws {
    try appender.sync()
    var footer = file?.footer ?? Footer(identity: Self.identity)
    footer.trees = trees
    footer.previous = file?.reference
    footer.extend(by: appender.extents)
    let reference = try appender.publish(footer)
    file = try open(reference, footer)
    nextSegment = (appender.end?.segment ?? nextSegment &- 1) &+ 1
  }

  private func open(
    _ reference: FooterReference, _ footer: Footer
  ) throws(StoreError) -> PageFile {
    guard goesOn, let file else {
      return try PageFile(opening: reference, in: medium, reading: mode)
    }
    if nextMerge % 2 == 0 { return try PageFile(after: file, opening: reference) }
    return try PageFile(after: file, reference, footer)
  }
}
