// Entries of whole nodes: what a node of some becomes in its parent, and those of a node taken back.

extension OpenEntries {
  mutating func append(_ key: RawSpan, _ reference: PageReference) {
    var bytes: [UInt8] = []
    reference.encode(to: &bytes)
    append(key, bytes.rawSpan, isExternal: !isBranch)
  }

  /// Appends the entries of a leaf.
  mutating func append(_ leaf: borrowing Node) {
    for slot in 0..<leaf.count {
      append(leaf.key(slot).rawSpan, leaf.value(slot), isExternal: leaf.isExternal(slot))
    }
  }

  mutating func prepend(_ earlier: OpenEntries) {
    let later = self
    self = earlier
    for index in 0..<later.count {
      append(later.key(index), later.value(index), isExternal: later.isExternal(index))
    }
  }

  /// Completes the reference to a node of these entries.
  ///
  /// Sums of what a damaged base says stop at what a number can say, above `aggregateMax`.
  func aggregate(
    _ range: Range<Int>, schemaVersion: UInt32, into reference: inout PageReference
  ) {
    if !isBranch {
      reference.count = UInt64(range.count)
      reference.lowestVersion = schemaVersion
      for index in range where isExternal(index) {
        reference.liveBytes.addClamping(self.reference(index).liveBytes)
      }
      return
    }
    reference.lowestVersion = .max
    for index in range {
      let child = self.reference(index)
      reference.count.addClamping(child.count)
      reference.liveBytes.addClamping(child.liveBytes)
      reference.lowestVersion = min(reference.lowestVersion, child.lowestVersion)
    }
  }
}
