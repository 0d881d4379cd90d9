/// A mark in a store for a migration under way: its identity, its progress, and the trees that it has made.
///
/// It is in a tree of its own, from the first commit of the migration to the switch, and is changed by the
/// same commits that do the work.
struct MigrationMark: Hashable {
  /// The identity of the migration: equal for the same versions, steps, revisions of closures, defaults, conversions and
  /// tasks.
  let identity: SipHash128
  /// The task under way.
  var task: UInt32 = 0
  /// The last key of its source that it has dealt with; empty at its beginning.
  var cursor: [UInt8] = []
  /// The number of records that must be in the trees to which a closure adds so far, by number.
  var counts: [UInt32: UInt64] = [:]
  /// The trees that the migration makes.
  let made: [String]

  static let treeName = Entities.migrationName
  private static let key: [UInt8] = [1]

  init(_ tasks: MigrationTasks) {
    identity = tasks.identity
    made = tasks.made
  }
}

// MARK: In the store

extension MigrationMark {
  func put(into trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    let bytes = try encoded()
    let slot = try names.slot(of: Self.treeName)
    try trees.put(Self.key.rawSpan, bytes.rawSpan, in: slot)
  }

  static func remove(from trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    _ = try trees.remove(key.rawSpan, in: try names.slot(of: treeName))
  }

  /// Returns the mark of the migration under way; nil if there is none. Discards one that cannot be read, with what the
  /// migration has made.
  ///
  /// - Throws: `.corrupt` of pages, `.io`, and what a commit throws.
  static func standing(in backend: any StoreBackend) throws(StoreError) -> MigrationMark? {
    let (trees, slot) = (try backend.trees(), try backend.names.slot(of: treeName))
    if case .success(let mark) = try found(in: trees, slot) { return mark }
    try discard(in: backend)
    return nil
  }

  private static func read(
    in trees: TreeAccess, _ slot: TreeSlot
  ) throws(StoreError) -> MigrationMark? {
    var bytes: [UInt8] = []
    let count = try trees.count(in: slot)
    guard try trees.copyValue(of: key.rawSpan, in: slot, to: &bytes) else {
      if count == 0 { return nil }
      throw .corrupt(
        .entry(tree: treeName, key: []), invariant: .migrationMark,
        reason: "there are entries, and none is a mark")
    }
    guard count == 1 else {
      throw .corrupt(
        .entry(tree: treeName, key: key), invariant: .migrationMark,
        reason: "there are \(count - 1) entries beside it")
    }
    return try MigrationMark(decoding: bytes.rawSpan)
  }

  /// The mark of a state, nil without one; or why it cannot be read.
  ///
  /// - Throws: `.io`.
  static func found(
    in trees: TreeAccess, _ slot: TreeSlot
  ) throws(StoreError) -> Result<MigrationMark?, StoreError> {
    do throws(StoreError) {
      return .success(try read(in: trees, slot))
    } catch {
      guard case .corrupt = error else { throw error }
      return .failure(error)
    }
  }

  /// Removes the trees of an interrupted migration. If its mark cannot be read, these are all trees with names that migrations
  /// use: none of them has records of the store's version.
  ///
  /// - Throws: `.corrupt`, and what a commit throws.
  static func discard(in backend: any StoreBackend) throws(StoreError) {
    let (trees, slot) = (try backend.trees(), try backend.names.slot(of: treeName))
    if try trees.count(in: slot) == 0 { return }
    var made = backend.names.all.filter(MadeTree.isName).sortedRarely()
    if case .success(let mark?) = try found(in: trees, slot) { made = mark.made }
    try backend.commit { trees throws(StoreError) in
      for name in made { try trees.removeAll(in: backend.names.slot(of: name)) }
      // Blobs that were written for it are referred to by nothing.
      try BlobRecount.markDue(in: trees, backend.names)
      try trees.removeAll(in: backend.names.slot(of: treeName))
    }
  }
}

// MARK: Bytes

extension MigrationMark {
  private func encoded() throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: identity.low)
    bytes.append(integer: identity.high)
    bytes.append(integer: task)
    bytes.append(integer: UInt16(cursor.count))
    bytes.append(contentsOf: cursor)
    bytes.append(integer: UInt32(counts.count))
    for (number, count) in counts.sortedRarely(by: { $0.key < $1.key }) {
      bytes.append(integer: number)
      bytes.append(integer: count)
    }
    bytes.append(integer: UInt32(made.count))
    for name in made { try bytes.append(shortString: name) }
    return bytes
  }

  init(decoding bytes: RawSpan) throws(StoreError) {
    var reader = ByteReader(
      bytes, at: .entry(tree: Self.treeName, key: Self.key), invariant: .migrationMark)
    let low = try reader.integer(UInt64.self)
    identity = SipHash128(low: low, high: try reader.integer(UInt64.self))
    task = try reader.integer(UInt32.self)
    let length = Int(try reader.integer(UInt16.self))
    cursor = try reader.run(length).array()
    let countCount = try reader.integer(UInt32.self)
    for _ in 0..<countCount {
      let number = try reader.integer(UInt32.self)
      counts[number] = try reader.integer(UInt64.self)
    }
    var made: [String] = []
    let madeCount = try reader.integer(UInt32.self)
    for _ in 0..<madeCount {
      let name = try reader.shortString()
      guard MadeTree.isName(name) else {
        throw reader.fault("a migration makes no tree \(name)")
      }
      made.append(name)
    }
    self.made = made
    guard reader.remaining == 0 else { throw reader.fault("\(reader.remaining) bytes follow it") }
  }
}

extension MigrationTasks {
  /// A hash of the versions and of all that is to be done. Closures take part with the revisions of their steps.
  var identity: SipHash128 {
    var bytes: [UInt8] = []
    bytes.append(route.from.fingerprint.hash)
    for hop in route.hops {
      bytes.append(integer: hop.change.to.storedVersion)
      bytes.append(hop.change.to.fingerprint.hash)
      bytes.append(text: hop.step?.text ?? "")
      bytes.append(integer: Int64(hop.step?.revision ?? 0))
      for record in hop.change.all { bytes.append(record) }
      for line in hop.emitted { bytes.append(text: line) }
    }
    for task in tasks { bytes.append(text: task.text) }
    for name in made { bytes.append(text: name) }
    return SipHash128(of: bytes.rawSpan)
  }
}

extension [UInt8] {
  /// Appends where each field's values come from, and what it has without one.
  fileprivate mutating func append(_ change: RecordChange) {
    append(integer: change.new.number)
    if let share = change.share {
      append(integer: change.old.number)
      for kind in share.kinds.sortedRarely() { append(integer: kind) }
      append(share.hasPlain ? 1 : 0)
    }
    for field in change.fields {
      append(integer: field.new.number)
      append(integer: field.old?.number ?? 0)
      append(text: field.missing.literal)
      append(text: change.sources[field.new.number]?.definition ?? "")
    }
  }
}

extension FieldSource {
  fileprivate var definition: String {
    switch self {
    case .value: "by"
    case .record: "from"
    case .version: "from before"
    case .related(let path): "path \(path.name)"
    case .field(let name): "path \(name)"
    case .conversion(.refuse): "refuse"
    case .conversion(.replace(let value)): "replace \(value.literal)"
    case .conversion(.setAside): "set aside"
    case .constant(let value): "value \(value.literal)"
    case .element(let source): "element \(source.choice) of \(source.list ?? "")"
    case .distinctElements: "distinct"
    }
  }
}

extension MigrationRoute.Hop {
  /// The rules and defaults of the records that closures emit.
  fileprivate var emitted: [String] {
    var lines: [String] = []
    for target in (step?.transforms ?? []).flatMap(\.targets) {
      let name = target.name(in: change.to.version)
      lines.append(name)
      let record = change.to.place(named: name)?.record.name
      for field in record.flatMap({ described.record(named: $0) })?.fields ?? [] {
        let value = field.migrationDefault ?? field.defaultValue
        lines.append("\(field.name) \(value?.literal ?? "")")
        lines += field.rules.map(\.text)
      }
    }
    return lines
  }
}
