/// A layer of a transaction's tree, with a place in it. It knows the key it stands on.
class CursorSource {
  /// The key of the entry; of no meaning while the source stands nowhere.
  @exclusivity(unchecked) fileprivate final var standing: [UInt8] = []
  final fileprivate(set) var isOnEntry = false
  /// Whether the key is there no more.
  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { 0 }

  final var key: [UInt8] { unsafe standing }
  final var keyBytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(standing.rawSpan, borrowing: self) }
  }

  fileprivate init() {}

  func first() throws(StoreError) {}
  func last() throws(StoreError) {}
  func seek(to key: RawSpan) throws(StoreError) {}
  func next() throws(StoreError) {}
  func previous() throws(StoreError) {}
  func appendValue(to value: inout [UInt8]) throws(StoreError) {}
}

/// The changes in a spill's overlay, which it keeps: reading another tree may make a run of the overlay, and cursors stay
/// where they are then.
final class ChangesSource: CursorSource {
  @exclusivity(unchecked) private var cursor: OverlayCursor
  private let editor: OverlayEditor

  /// - Parameter editor: The one whose present the tree is of.
  init(_ tree: OverlayTree, of editor: OverlayEditor) {
    self.editor = editor
    unsafe cursor = OverlayCursor(tree)
  }

  private func note(_ isOn: Bool) {
    isOnEntry = isOn
    if isOn { unsafe standing.assign(cursor.key) }
  }

  override var isRemoval: Bool { unsafe cursor.isRemoval }
  override var schemaVersion: UInt32 { unsafe cursor.schemaVersion }
  override func first() { note(unsafe cursor.first()) }
  override func last() { note(unsafe cursor.last()) }
  override func seek(to key: RawSpan) { note(unsafe cursor.seek(to: key)) }
  override func next() { note(unsafe cursor.next()) }
  override func previous() { note(unsafe cursor.previous()) }
  override func appendValue(to value: inout [UInt8]) { unsafe value.append(cursor.value) }
}

final class RunSource: CursorSource {
  private let run: Run
  private let largeValues: PageReader?
  @exclusivity(unchecked) private var cursor: Cursor

  init(_ run: Run, largeValues: PageReader?) {
    self.run = run
    self.largeValues = largeValues
    unsafe cursor = Cursor(run.tree)
  }

  private func note(_ isOn: Bool) {
    isOnEntry = isOn
    if isOn { unsafe standing.assign(cursorKey) }
  }

  private var cursorKey: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  private var stored: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }

  override var isRemoval: Bool {
    unsafe !cursor.entry.isExternal && RunValue.kind(stored) == .removal
  }
  override var schemaVersion: UInt32 { unsafe cursor.entry.schemaVersion }
  override func first() throws(StoreError) { note(try unsafe cursor.first()) }
  override func last() throws(StoreError) { note(try unsafe cursor.last()) }
  override func seek(to key: RawSpan) throws(StoreError) { note(try unsafe cursor.seek(to: key)) }
  override func next() throws(StoreError) { note(try unsafe cursor.next()) }
  override func previous() throws(StoreError) { note(try unsafe cursor.previous()) }
  override func appendValue(to value: inout [UInt8]) throws(StoreError) {
    try unsafe run.append(cursor.entry, to: &value, largeValues: largeValues)
  }
}

/// The trees that were loaded: a cursor in one of them, and in the next when it comes to an end.
final class LoadedSource: CursorSource {
  private let trees: [LoadedTree]
  @exclusivity(unchecked) private var index = 0
  @exclusivity(unchecked) private var cursor: Cursor

  /// - Parameter loaded: Not empty.
  init(_ loaded: LoadedTrees) {
    trees = loaded.trees
    unsafe cursor = Cursor(trees[0].tree)
  }

  private func note(_ isOn: Bool) {
    isOnEntry = isOn
    if isOn { unsafe standing.assign(cursorKey) }
  }

  private var cursorKey: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  private func go(to index: Int) {
    if unsafe index == self.index { return }
    unsafe self.index = index
    unsafe cursor = Cursor(trees[index].tree)
  }

  override var schemaVersion: UInt32 { unsafe cursor.entry.schemaVersion }

  override func first() throws(StoreError) {
    go(to: 0)
    note(try unsafe cursor.first())
  }

  override func last() throws(StoreError) {
    go(to: trees.count - 1)
    note(try unsafe cursor.last())
  }

  override func seek(to key: RawSpan) throws(StoreError) {
    go(to: LoadedTrees.index(for: key, in: trees) ?? 0)
    if try unsafe cursor.seek(to: key) { return note(true) }
    note(try stepToNextTree())
  }

  override func next() throws(StoreError) {
    if try unsafe cursor.next() { return note(true) }
    note(try stepToNextTree())
  }

  override func previous() throws(StoreError) {
    if try unsafe cursor.previous() { return note(true) }
    guard unsafe index > 0 else { return note(false) }
    unsafe go(to: index - 1)
    note(try unsafe cursor.last())
  }

  private func stepToNextTree() throws(StoreError) -> Bool {
    guard unsafe index + 1 < trees.count else { return false }
    unsafe go(to: index + 1)
    return try unsafe cursor.first()
  }

  override func appendValue(to value: inout [UInt8]) throws(StoreError) {
    try unsafe trees[index].tree.append(cursor.entry, to: &value)
  }
}

/// What the transaction began with, and its first changes.
final class BelowSource: CursorSource {
  @exclusivity(unchecked) private var cursor: LayeredCursor

  init(_ tree: LayeredTree) {
    unsafe cursor = LayeredCursor(tree)
  }

  private func note(_ isOn: Bool) {
    isOnEntry = isOn
    if isOn { unsafe standing.assign(cursorKey) }
  }

  private var cursorKey: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  override var schemaVersion: UInt32 { unsafe cursor.schemaVersion }
  override func first() throws(StoreError) { note(try unsafe cursor.first()) }
  override func last() throws(StoreError) { note(try unsafe cursor.last()) }
  override func seek(to key: RawSpan) throws(StoreError) { note(try unsafe cursor.seek(to: key)) }
  override func next() throws(StoreError) { note(try unsafe cursor.next()) }
  override func previous() throws(StoreError) { note(try unsafe cursor.previous()) }
  override func appendValue(to value: inout [UInt8]) throws(StoreError) {
    try unsafe cursor.appendValue(to: &value)
  }
}
