/// What a store says of a migration that is under way: from which version to which, by their fingerprints.
///
/// It is in a tree of its own, from the first slice to the switch. With it stand the trees that the migration
/// makes: copies of rows, which begin with `m.`, and indexes that the old version does not have.
struct MigrationMark {
  static let treeName = "migration"
  private static let key: [UInt8] = [1]

  private let bytes: [UInt8]

  init(_ plan: MigrationPlan) {
    var bytes: [UInt8] = []
    bytes.append(integer: plan.from.version)
    bytes.append(integer: plan.to.version)
    bytes.append(plan.from.fingerprint.hash)
    bytes.append(plan.to.fingerprint.hash)
    for pass in plan.conversions { bytes.append(integer: pass.number) }
    bytes.append(integer: UInt32.max)
    for build in plan.builtIndexes { bytes.append(integer: build.index.number) }
    self.bytes = bytes
  }

  func put(into trees: TreeChanges, _ names: TreeNames) throws(StoreError) {
    try trees.put(
      Self.key.rawSpan, bytes.rawSpan, schemaVersion: RecordTypes.systemVersion,
      in: try names.slot(of: Self.treeName))
  }

  func remove(from trees: TreeChanges, _ names: TreeNames) throws(StoreError) {
    _ = try trees.remove(Self.key.rawSpan, in: try names.slot(of: Self.treeName))
  }

  /// Whether the migration that is under way is this one.
  func stands(in backend: any StoreBackend) throws(StoreError) -> Bool {
    try Self.standing(in: backend) == bytes
  }

  private static func standing(in backend: any StoreBackend) throws(StoreError) -> [UInt8]? {
    let slot = try backend.names.slot(of: treeName)
    var bytes: [UInt8] = []
    let isThere = try backend.trees().copyValue(of: key.rawSpan, in: slot, to: &bytes)
    return isThere ? bytes : nil
  }

  /// Throws away what a migration has made that was broken off, whichever it was.
  ///
  /// - Throws: `.corrupt`, and what a commit throws.
  static func discard(in backend: any StoreBackend) throws(StoreError) {
    guard let bytes = try standing(in: backend) else { return }
    let names = try madeTrees(bytes)
    try backend.commit { trees throws(StoreError) in
      for name in names { trees.removeAll(in: try backend.names.slot(of: name)) }
      _ = try trees.remove(key.rawSpan, in: try backend.names.slot(of: treeName))
    }
  }

  private static func madeTrees(_ bytes: [UInt8]) throws(StoreError) -> [String] {
    let start = 8 + 2 * SipHash128.size
    guard bytes.count >= start, (bytes.count - start) % 4 == 0 else {
      throw .corrupt(
        .entry(tree: treeName, key: key), invariant: .schemaContents,
        reason: "the mark of a migration has \(bytes.count) bytes")
    }
    var names: [String] = []
    var isOfIndexes = false
    for offset in stride(from: start, to: bytes.count, by: 4) {
      let number = bytes.rawSpan.load(offset, as: UInt32.self)
      if number == .max {
        isOfIndexes = true
      } else {
        names.append(
          isOfIndexes
            ? RecordTrees.name(ofIndex: number) : "m.\(RecordTrees.name(ofRows: number))")
      }
    }
    return names
  }
}
