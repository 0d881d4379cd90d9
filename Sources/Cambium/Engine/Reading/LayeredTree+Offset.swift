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
    for overlay in overlays {
      var changes = OverlayCursor(overlay)
      guard changes.last() else { continue }
      if let other = last, other.rawSpan.compare(changes.key) >= 0 { continue }
      last = changes.key.array()
    }
    return last
  }

  /// The key of the entry with `offset` entries before it.
  ///
  /// A key is not behind that entry if no more than `offset` entries are below it; so the last change
  /// not behind it can be found in each overlay. The entry has that change's key, or is as many entries
  /// of the base behind it as are missing, since no change lies in between.
  ///
  /// - Complexity: O(log count × log changes).
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  func key(atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    guard offset >= 0, offset < count else { return nil }
    var last: [UInt8]?
    for index in overlays.indices {
      let key = try lastKey(of: overlays[index], atOffset: offset)
      guard let key else { continue }
      if let other = last, key.rawSpan.compare(other.rawSpan) <= 0 { continue }
      last = key
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
}

extension Tree {
  /// The key of the entry with `offset` entries before it.
  func key(atOffset offset: Int) throws(StoreError) -> [UInt8]? {
    var cursor = Cursor(self)
    guard try cursor.seek(toOffset: offset) else { return nil }
    return cursor.key.array()
  }
}
