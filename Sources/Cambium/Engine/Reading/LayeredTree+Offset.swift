extension LayeredTree {
  /// The last key; `nil` if there are no entries.
  ///
  /// - Complexity: O(log count).
  /// - Throws: `.corrupt`, `.io`.
  func lastKey() throws(StoreError) -> [UInt8]? {
    var cursor = LayeredCursor(self)
    return try cursor.last() ? cursor.key.array() : nil
  }

  /// The last key of any layer, also if a newer layer removes it; `nil` if no layer has entries.
  ///
  /// - Complexity: O(log count).
  /// - Throws: `.corrupt`, `.io`.
  func lastKeyOfLayers() throws(StoreError) -> [UInt8]? {
    var cursor = Cursor(base)
    var last = try cursor.last() ? cursor.key.array() : nil
    func note(_ key: [UInt8]) {
      if let other = last, other.rawSpan.compare(key.rawSpan) >= 0 { return }
      last = key
    }
    if let level {
      let changes = LevelCursor(level)
      if try changes.last() { note(changes.key.array()) }
    }
    for overlay in overlays {
      var changes = OverlayCursor(overlay)
      if changes.last() { note(changes.key.array()) }
    }
    return last
  }

  /// The key of the entry with `offset` entries before it.
  ///
  /// A key is not behind that entry if no more than `offset` entries are below it; so the last change
  /// not behind it can be found in each overlay, and in each part of a level. The entry has that change's key, or is
  /// as many entries of the base behind it as are missing, since no change lies in between.
  ///
  /// - Complexity: O(log count × log changes).
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  func key(atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    guard offset >= 0, offset < count else { return nil }
    var last: [UInt8]?
    func note(_ key: [UInt8]?) {
      guard let key else { return }
      if let other = last, key.rawSpan.compare(other.rawSpan) <= 0 { return }
      last = key
    }
    for index in overlays.indices { note(try lastKey(of: overlays[index], atOffset: offset)) }
    if let level {
      for part in LevelPart.allCases { note(try lastKey(of: level[part], atOffset: offset)) }
    }
    guard let last else { return try base.key(atOffset: offset) }
    let rank = try rank(of: last.rawSpan)
    let isThere = try contains(last.rawSpan)
    if isThere, rank == offset { return last }
    let isInBase = try base.entry(for: last.rawSpan) != nil
    let before = try base.rank(of: last.rawSpan) + (isInBase ? 1 : 0)
    return try base.key(atOffset: before + offset - rank - (isThere ? 1 : 0))
  }

  /// The last key of an overlay that has no more than `offset` entries below it.
  private func lastKey(
    of overlay: OverlayTree, atOffset offset: Int
  ) throws(StoreError) -> [UInt8]? {
    var bisection = OverlayBisection(overlay)
    while let key = bisection.nextKey() {
      bisection.answer(isBehind: try rank(of: key.rawSpan) > offset)
    }
    guard let cursor = bisection.entry() else { return nil }
    return cursor.key.array()
  }

  /// The last key of a part of the level that has no more than `offset` entries below it.
  private func lastKey(of part: Tree, atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    var (low, high): (Int, Int) = (0, part.count)
    var found: [UInt8]?
    while low < high {
      let middle = (low + high) / 2
      guard let key = try part.key(atOffset: middle) else { return found }
      if try rank(of: key.rawSpan) > offset {
        high = middle
      } else {
        found = key
        low = middle + 1
      }
    }
    return found
  }
}

extension Tree {
  /// The key of the entry with `offset` entries before it.
  func key(atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    var cursor = Cursor(self)
    guard try cursor.seek(toOffset: offset) else { return nil }
    return cursor.key.array()
  }
}
