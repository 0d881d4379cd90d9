/// The input of a fold into one part of a level: the changes of that part.
///
/// The changes say for each key what they do to level and tree together. The change of a part follows from the place of the key before:
///
///                      in added      in replaced    in removed             below alone, or nowhere
///     is added         –             –              → replaced, removed    → added
///     is replaced      → added       → replaced     –                      → replaced
///     is removed       added –       removed, –     –                      → removed
///
/// Of an interval that is merged into the tree, the part loses all it has, and gets nothing.
struct LevelPartInput: SortedInput, ~Copyable {
  private let part: LevelPart
  private var cursor: LevelChangesCursor
  private var added: KeyFollower
  private var replaced: KeyFollower
  private var removed: KeyFollower
  private(set) var isRemoval = false
  /// What is merged into the tree and was not come to yet; nil behind it.
  private var interval: KeyInterval?
  /// The part as it is, within the interval.
  private var merged: Cursor
  private var isInInterval = false

  /// - Parameters:
  ///   - interval: What is merged into the tree; nil for nothing.
  ///   - level: The level as it is; nil if there is none.
  ///   - pages: The reader of the tree below.
  init(
    _ part: LevelPart, of changes: LevelChanges, outside interval: KeyInterval?,
    over level: Level?, _ pages: PageReader
  ) {
    self.part = part
    self.interval = interval
    cursor = LevelChangesCursor(changes)
    let nothing = Tree(pages: pages, root: nil)
    merged = Cursor(level?[part] ?? nothing)
    added = KeyFollower(level?.added ?? nothing)
    replaced = KeyFollower(level?.replaced ?? nothing)
    removed = KeyFollower(level?.removed ?? nothing)
  }

  mutating func advance() throws(StoreError) -> Bool {
    if isInInterval, try merged.next(), isWithin(merged.key) { return true }
    var isOn = try isInInterval ? leaveInterval() : cursor.next()
    while true {
      if try entersInterval(isOn) {
        isInInterval = true
        if try seekInterval() { return true }
        isOn = try leaveInterval()
        continue
      }
      if !isOn { return false }
      if try concernsPart() {
        if !isRemoval, part != .removed { try cursor.readValue() }
        return true
      }
      isOn = try cursor.next()
    }
  }

  /// Whether the interval begins before the present change.
  private func entersInterval(_ isOn: Bool) throws(StoreError) -> Bool {
    guard !isInInterval, let interval else { return false }
    return !isOn || cursor.key.compare(interval.start.rawSpan) >= 0
  }

  private mutating func seekInterval() throws(StoreError) -> Bool {
    guard let interval else { return false }
    let start = interval.start
    guard try merged.seek(to: start.rawSpan) else { return false }
    isRemoval = true
    return isWithin(merged.key)
  }

  private func isWithin(_ key: RawSpan) -> Bool { interval?.endsAfter(key) ?? false }

  /// Goes to the first change behind the interval.
  private mutating func leaveInterval() throws(StoreError) -> Bool {
    let end = interval?.end
    (isInInterval, interval) = (false, nil)
    guard let end else { return false }
    return try cursor.seek(to: end.rawSpan)
  }

  /// Whether the present change is one of the part, and which.
  private mutating func concernsPart() throws(StoreError) -> Bool {
    let (key, effect) = (cursor.key, cursor.effect)
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
    get { isInInterval ? merged.key : cursor.key }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { part == .removed || isInInterval ? RawSpan() : cursor.value }
  }

  var schemaVersion: UInt32 { part == .removed || isInInterval ? 0 : cursor.schemaVersion }
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
  private let interval: KeyInterval
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  /// That of the last put: a removal has none, and would divide a leaf if it had another.
  @exclusivity(unchecked) private var version: UInt32 = 1

  init(_ level: Level, within interval: KeyInterval = .all) {
    cursor = LevelCursor(level)
    self.interval = interval
  }

  func advance() throws(StoreError) -> Bool {
    let (cursor, start) = (cursor, interval.start)
    let isOn = unsafe hasBegun ? try cursor.next() : try cursor.seek(to: start.rawSpan)
    unsafe hasBegun = true
    guard isOn, interval.endsAfter(cursor.key) else { return false }
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
