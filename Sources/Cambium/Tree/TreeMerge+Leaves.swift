// The leaves of the base that operations fall into, or that cannot stay as they are.

extension TreeMerge where Input: ~Copyable {
  /// Merges the leaf at `reference` with the operations that fall into it.
  mutating func mergeLeaf(
    _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    guard let base else { return }
    let page = try base.page(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low: low, high: high)
    builder.appender.replaced.insert(reference)
    // Behind its large values: so one of them at least is moved, however little a range may move.
    defer { range?.take(bytes: UInt64(reference.size)) }
    if try takeReplacements(for: node, reference, below: high),
      try builder.prepareToRewrite(reference)
    {
      return try builder.adopt(node, replacing: replacements, separator: low, next: high)
    }
    if try movesWhole(node, reference, low: low, high: high),
      try builder.prepareToMove(reference)
    {
      return try builder.adopt(node, replacing: replacements, separator: low, next: high)
    }
    builder.expect(from: low, schemaVersion: reference.lowestVersion)
    try putReplaced(node)
    try putRest(of: node, from: replacements.endSlot)
    try putOperations(below: high)
  }

  /// Merges the entries of a leaf from a slot on with the operations among them.
  private mutating func putRest(
    of node: borrowing Node, from start: Int
  ) throws(StoreError) {
    var slot = start
    while slot < node.count {
      let place = placeOfOperation(in: node)
      let end = max(slot, place.slot)
      try put(node, slot..<end)
      slot = end
      if slot == node.count { break }
      try putOperation()
      if place.isFound {
        if node.isExternal(slot) { leave(value: PageReference(decoding: node.value(slot), at: 0)) }
        slot += 1
      }
    }
  }

  /// Before which slot the next operation comes, and whether it is on the key of that.
  private func placeOfOperation(in node: borrowing Node) -> SearchResult {
    inputHasOperation
      ? node.search(input.key) : SearchResult(slot: node.count, isFound: false)
  }

  /// Adds entries of a leaf of the base.
  private mutating func put(
    _ node: borrowing Node, _ slots: Range<Int>
  ) throws(StoreError) {
    let version = node.schemaVersion
    if version >= transform.schemaVersion, !node.hasExternals || adoption == .all {
      return try builder.append(node, slots)
    }
    var key: [UInt8] = []
    for slot in slots {
      node.copyKey(slot, to: &key)
      if node.isExternal(slot) {
        let pages = PageReference(decoding: node.value(slot), at: 0)
        try put(key.rawSpan, externalValue: pages, schemaVersion: version)
      } else {
        try put(key.rawSpan, node.value(slot), schemaVersion: version)
      }
    }
  }

  /// Adds an entry of the base whose value has pages of its own.
  private mutating func put(
    _ key: RawSpan, externalValue pages: PageReference, schemaVersion: UInt32
  ) throws(StoreError) {
    let isOld = schemaVersion < transform.schemaVersion
    if !isOld, try mayStay(value: pages, of: key) {
      try builder.append(key, externalValue: pages, schemaVersion: schemaVersion)
      return
    }
    guard let base else { return }
    range?.take(bytes: pages.liveBytes)
    leave(value: pages)
    var value: [UInt8] = []
    try base.appendLargeValue(pages, to: &value)
    try put(key, value.rawSpan, schemaVersion: schemaVersion)
  }

  /// Notes that the pages of a value are not taken over.
  private func leave(value pages: PageReference) {
    guard let base else { return }
    builder.appender.replaced.insert(pages)
    if pages.liveBytes == pages.size { return }
    do throws(StoreError) {
      let list = try base.page(pages, level: 0, as: ValueListPage.self)
      for index in 0..<ValueListPage.count(list.bytes) {
        builder.appender.replaced.insert(ValueListPage.reference(index, list.bytes))
      }
    } catch {
      // A value that cannot be read may be removed.
      builder.appender.replaced.insertUnknown()
    }
  }

  /// Whether the pages of a value may be taken over.
  private func mayStay(value pages: PageReference, of key: RawSpan) throws(StoreError) -> Bool {
    switch adoption {
    case .all: return true
    case .outside(let segments):
      guard let base, try base.reaches(segments, value: pages) else { return true }
      return range.map { !$0.covers(key: key.array()) } ?? false
    case .passing(let segments): return !segments.contains(pages.position.segment)
    }
  }
}

// MARK: Full leaves

extension TreeMerge where Input: ~Copyable {
  /// Whether all that a leaf needs is another place: nothing falls into it, and no more of its entries would go
  /// into it than are there.
  ///
  /// With no replacements taken.
  private func movesWhole(
    _ node: borrowing Node, _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) -> Bool {
    let version = node.schemaVersion
    guard builder.isFull(node), replacements.count == 0, !hasOperation(below: high),
      !node.hasExternals, version >= transform.schemaVersion, version == reference.lowestVersion
    else { return false }
    // A leaf that might stay comes here for its entries, which are to fill up another.
    return try !mayStay(reference, level: 0, low: low, high: high)
  }
}

// MARK: Values of the same length

extension TreeMerge where Input: ~Copyable {
  /// Takes operations from the input as long as they replace values of a leaf by others of the same length.
  ///
  /// - Returns: whether these are all that fall into the leaf, and there are any.
  private mutating func takeReplacements(
    for node: borrowing Node, _ reference: PageReference, below high: [UInt8]?
  ) throws(StoreError) -> Bool {
    replacements.removeAll()
    let version = node.schemaVersion
    // A damaged branch may say another version than the leaf.
    guard !node.hasExternals, version >= transform.schemaVersion,
      version == reference.lowestVersion
    else { return false }
    while hasOperation(below: high) {
      guard let slot = slotOfReplacement(in: node) else { return false }
      replacements.append(input.value, for: slot)
      inputHasOperation = try input.advance()
    }
    return replacements.count > 0
  }

  /// The slot whose value the next operation replaces by one of the same length; nil if it does not.
  private func slotOfReplacement(in node: borrowing Node) -> Int? {
    guard !input.isRemoval, input.schemaVersion == node.schemaVersion else { return nil }
    let place = node.search(input.key)
    guard place.isFound, place.slot >= replacements.endSlot else { return nil }
    let length = input.value.byteCount
    // What the builder would put elsewhere is left to it.
    let weight = OpenEntries.weight(keyLength: input.key.byteCount, valueLength: length)
    guard length == node.value(place.slot).byteCount, builder.isInline(weight: weight) else {
      return nil
    }
    return place.slot
  }

  /// Adds the entries of a leaf up to the last that was replaced.
  private mutating func putReplaced(_ node: borrowing Node) throws(StoreError) {
    let replacements = replacements
    var slot = 0
    for index in 0..<replacements.count {
      let next = replacements.slot(index)
      try put(node, slot..<next)
      try builder.append(
        node.key(next).rawSpan, replacements.value(index), schemaVersion: node.schemaVersion)
      slot = next + 1
    }
  }
}
