/// A copy of one committed state as a store of its own, while commits continue.
///
///     entries in order ─▶ full pages ─▶ sync, footer ─▶ log-1 ─▶ log-0, which makes it a store
///
/// Nothing is read but the snapshot, so it may be of a store that another process writes to, or that is in memory. The
/// copy is the same store at an earlier time: it has the same identity, and its commits continue after the snapshot's.
/// Its pages are full, and it has no garbage. Kept states are not copied: their pages would be most of it.
struct Backup {
  private let snapshot: Snapshot
  private let names: TreeNames
  private let monitor: BackupMonitor
  private let sizes: NodeSizes

  init(
    of snapshot: Snapshot, _ names: TreeNames, _ monitor: BackupMonitor,
    sizes: NodeSizes = .standard
  ) {
    self.snapshot = snapshot
    self.names = names
    self.monitor = monitor
    self.sizes = sizes
  }

  /// Makes the copy in an empty directory.
  ///
  /// - Parameter salt: Random.
  /// - Throws: `.corrupt` if the source is damaged, `.full`, `.io`; `.closed` where the monitor ends it. Then there is
  ///   no store in the target.
  func run(
    into target: any FileSystem, salt: UInt64 = .random(in: 0 ... .max)
  ) throws(StoreError) -> BackupContents {
    // It pins the overlays, which cursors read.
    defer { withExtendedLifetime(snapshot) {} }
    let state = snapshot.state
    let source = state.base.file.footer
    let trees = try treeNames()
    monitor.begin(try count(of: trees))
    let appender = PageAppender(to: target, of: source.identity, from: 1, output: .direct)
    var footer = Footer(identity: source.identity, features: source.features)
    footer.epoch = source.epoch
    footer.coveredSequence = state.sequence
    let first = trees.filter { $0 == TreeNames.schemas }
    for name in first + trees.filter({ $0 != TreeNames.schemas }) {
      guard let root = try copy(name, to: appender) else { continue }
      footer.trees.append(NamedTree(name: name, root: root))
    }
    footer.trees = footer.trees.sortedRarely {
      $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
    try appender.sync()
    footer.extend(by: appender.extents)
    footer.setAllLive()
    let bytes = appender.extents.reduce(0) { $0 + $1.blocks.count * Layout.blockSize }
    let reference = try appender.publish(footer)
    try Self.check(reference, against: footer, in: target)
    _ = try Log.create(
      in: target, of: source.identity, footer: reference, features: source.features,
      epoch: source.epoch, salt: salt)
    return BackupContents(
      sequence: state.sequence, entries: monitor.progress.entries, bytes: bytes)
  }

  /// Of all trees that have entries or lately had some, in order.
  private func treeNames() throws(StoreError) -> [String] {
    var trees = Set(
      snapshot.state.base.file.footer.trees.map { LevelLayer.treeName(of: $0.name) })
    for overlay in snapshot.state.overlays {
      for slot in overlay.trees { trees.insert(names.name(of: slot)) }
    }
    return trees.sortedRarely { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func count(of trees: [String]) throws(StoreError) -> Int {
    var count = 0
    for name in trees { count += snapshot.tree(try names.slot(of: name)).count }
    return count
  }

  private func copy(
    _ name: String, to appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    let tree = snapshot.tree(try names.slot(of: name))
    let root = try TreeMerge.run(
      SnapshotInput(tree, monitor), into: nil, of: nil, sizes: sizes, tag: TreeTag(of: name),
      appendingTo: appender)
    guard Int(clamping: root?.reference.count ?? 0) == tree.count else {
      throw .corrupt(
        .entry(tree: name, key: []), invariant: .aggregates,
        reason: "\(tree.count) entries are said to be there, \(root?.reference.count ?? 0) are")
    }
    return root
  }

  /// Reads the written pages back from the disk, and checks them.
  private static func check(
    _ reference: FooterReference, against footer: Footer, in target: any FileSystem
  ) throws(StoreError) {
    let file = try PageFile(opening: reference, of: footer.identity, in: target, reading: .mapped)
    let all = footer.segments.map {
      AppendedBlocks(number: $0.number, blocks: 1..<UInt32(clamping: $0.end))
    }
    file.readAhead(all)
    for extent in all { try file.pages.verify(extent) }
  }
}

extension Footer {
  /// Says that everything in its segments but their headers is live.
  fileprivate mutating func setAllLive() {
    for index in segments.indices {
      segments[index].liveBytes = (segments[index].end - 1) * UInt64(Layout.blockSize)
    }
  }
}

/// The contents of a backup.
struct BackupContents: Equatable, Sendable {
  /// The last commit that is in it.
  let sequence: UInt64
  let entries: Int
  /// The bytes of its pages.
  let bytes: Int
  /// The bytes of its files of blobs.
  var blobBytes = 0
}
