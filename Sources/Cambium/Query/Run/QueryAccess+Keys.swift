extension QueryAccess {
  /// The primary keys of all that it has, each once, in their order.
  ///
  /// - Complexity: linear in the entries that are read, and a sort of them; the keys are in memory.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func find(
    of record: Entity, in trees: TreeAccess, _ meter: QueryMeter?, _ entryCount: inout Int
  ) throws(StoreError) -> SortedKeys {
    switch self {
    case .rows(let ranges):
      return try Self.keys(
        of: .rows(
          RowSource(
            RangeCursor(try trees.cursor(in: record.rows), ranges, isBackward: false, meter), nil,
            record.layout)), record, &entryCount)
    case .index(let place, let ranges):
      let index = record.indexes[place]
      let entries = RangeCursor(try trees.cursor(in: index.slot), ranges, isBackward: false, meter)
      return try Self.keys(
        of: .index(
          IndexSource(
            entries, index.layout, nil, FoundRow(of: record, in: trees, meter), record.layout,
            wantedCount: 0)), record, &entryCount)
    case .related(let keys):
      return try keys.found()
    case .relatedOrder:
      // All records, in whatever order.
      return try QueryAccess.rows([.all]).find(of: record, in: trees, meter, &entryCount)
    case .union(let sets):
      var all = SortedKeys(of: record.record.name)
      for set in sets {
        let keys = try set.find(of: record, in: trees, meter, &entryCount)
        for place in 0..<keys.count {
          try all.add(keys.key(place), keyLength: keys.key(place).byteCount)
        }
      }
      all.sort()
      all.removeDuplicates()
      return all
    case .intersection(let sets):
      if let keys = try commonKeys(of: record, in: trees, meter) {
        var all = SortedKeys(of: record.record.name)
        while try keys.next() { try all.add(keys.key, keyLength: keys.key.byteCount) }
        entryCount += keys.entryCount
        return all
      }
      var common: SortedKeys?
      for set in sets {
        let keys = try set.find(of: record, in: trees, meter, &entryCount)
        common = try common?.common(with: keys, of: record) ?? keys
      }
      return common ?? SortedKeys(of: record.record.name)
    }
  }

  /// Returns the source of an intersection's keys, one by one; nil if the whole has to be collected first.
  func commonKeys(
    of record: Entity, in trees: TreeAccess, _ meter: QueryMeter?
  ) throws(StoreError) -> CommonKeys? {
    // A record that changes during the query may move from one range to another.
    guard case .intersection(let sets) = self, !trees.isChanging else { return nil }
    var ranges: [OrderedRange] = []
    for set in sets {
      guard let range = set.orderedRange(of: record) else { return nil }
      ranges.append(range)
    }
    return try CommonKeys(ranges, in: trees, meter)
  }

  private static func keys(
    of source: RecordSource, _ record: Entity, _ entryCount: inout Int
  ) throws(StoreError) -> SortedKeys {
    var keys = SortedKeys(of: record.record.name)
    while try source.next() { try keys.add(source.key, keyLength: source.key.byteCount) }
    entryCount += source.entryCount
    keys.sort()
    return keys
  }
}

extension SortedKeys {
  /// Returns the keys that both lists have, which are sorted.
  fileprivate func common(
    with other: SortedKeys, of record: Entity
  ) throws(StoreError) -> SortedKeys {
    var common = SortedKeys(of: record.record.name)
    var (one, two) = (0, 0)
    while one < count, two < other.count {
      let order = key(one).compare(other.key(two))
      if order == 0 { try common.add(key(one), keyLength: key(one).byteCount) }
      if order <= 0 { one += 1 }
      if order >= 0 { two += 1 }
    }
    return common
  }
}
