/// The changes of an overlay in one part of the level below it: the input of a fold into the level.
///
/// The overlay says for each key how it changes level and tree together. The change of a part follows from the place of the key before:
///
///                      in added      in replaced    in removed             below alone, or nowhere
///     is added         –             –              → replaced, removed    → added
///     is replaced      → added       → replaced     –                      → replaced
///     is removed       added –       removed, –     –                      → removed
struct LevelPartInput: SortedInput, ~Copyable {
  private let part: LevelPart
  /// Keeps the cursor's memory.
  private let changes: OverlayTree
  private var cursor: OverlayCursor
  private var hasBegun = false
  private var added: KeyFollower
  private var replaced: KeyFollower
  private var removed: KeyFollower
  private(set) var isRemoval = false

  /// - Parameters:
  ///   - level: The level as it is; nil if there is none.
  ///   - pages: The reader of the tree below.
  init(_ part: LevelPart, of changes: OverlayTree, over level: Level?, _ pages: PageReader) {
    self.part = part
    self.changes = changes
    cursor = OverlayCursor(changes)
    let nothing = Tree(pages: pages, root: nil)
    added = KeyFollower(level?.added ?? nothing)
    replaced = KeyFollower(level?.replaced ?? nothing)
    removed = KeyFollower(level?.removed ?? nothing)
  }

  mutating func advance() throws(StoreError) -> Bool {
    while true {
      let isOn = hasBegun ? cursor.next() : cursor.first()
      hasBegun = true
      if !isOn { return false }
      if try concernsPart() { return true }
    }
  }

  /// Whether the present change is one of the part, and which.
  private mutating func concernsPart() throws(StoreError) -> Bool {
    let (key, effect) = (cursor.key, cursor.present.effect)
    switch (part, effect) {
    case (.added, .add):
      isRemoval = false
      return try !removed.has(key)
    case (.added, .replace), (.added, .remove):
      isRemoval = effect == .remove
      return try added.has(key)
    case (.replaced, .add):
      isRemoval = false
      return try removed.has(key)
    case (.replaced, .replace):
      isRemoval = false
      return try !added.has(key)
    case (.replaced, .remove):
      isRemoval = true
      return try replaced.has(key)
    case (.removed, .add):
      isRemoval = true
      return try removed.has(key)
    case (.removed, .replace): return false
    case (.removed, .remove):
      isRemoval = false
      return try !added.has(key)
    }
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { cursor.key }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { part == .removed ? RawSpan() : cursor.value }
  }

  var schemaVersion: UInt32 { part == .removed ? 0 : cursor.schemaVersion }
}

/// Tells of keys that ascend whether a tree has them.
private struct KeyFollower: ~Copyable {
  private var cursor: Cursor

  init(_ tree: Tree) {
    cursor = Cursor(tree)
  }

  mutating func has(_ key: RawSpan) throws(StoreError) -> Bool {
    guard try cursor.seek(to: key) else { return false }
    return cursor.key.equals(key)
  }
}

/// The changes of a level to the tree below, in the form of a run: the input of a merge of both.
final class LevelRunInput {
  private let cursor: LevelCursor
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  /// That of the last put: a removal has none, and would divide a leaf if it had another.
  @exclusivity(unchecked) private var version: UInt32 = 1

  init(_ level: Level) {
    cursor = LevelCursor(level)
  }

  func advance() throws(StoreError) -> Bool {
    let isOn = unsafe hasBegun ? try cursor.next() : try cursor.first()
    unsafe hasBegun = true
    if !isOn { return false }
    unsafe bytes.removeAll(keepingCapacity: true)
    let kind = cursor.isRemoval ? RunValue.Kind.removal : RunValue.Kind.put
    unsafe bytes.append(kind.rawValue)
    if cursor.isRemoval { return true }
    try unsafe cursor.appendValue(to: &bytes)
    unsafe version = cursor.schemaVersion
    return true
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let cursor = cursor
      return unsafe _overrideLifetime(cursor.key, borrowing: self)
    }
  }

  var stored: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(bytes.rawSpan, borrowing: self) }
  }

  var schemaVersion: UInt32 { unsafe version }
}
