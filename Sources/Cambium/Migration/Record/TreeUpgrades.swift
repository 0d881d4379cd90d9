internal import Synchronization

/// The upgrades of a store that has published a version before its rows were rewritten: rows of older versions are
/// upgraded when they are read and when their leaf is rewritten, and indexes that are not complete are not read.
final class TreeUpgrades: Sendable {
  /// By the number of the tree.
  private let rows: [RowUpgrade?]
  /// The keys of the entries for indexes that are not complete, as long as these exist.
  let unbuilt: [TreeSlot: [UInt8]]
  /// The tree that has those keys.
  let pending: TreeSlot
  /// The version of what is written now.
  private let version: UInt32
  /// True if the version is in memory alone: the store itself is of an older one.
  let isUnpublished: Bool
  private let ended = Atomic(false)

  init(
    _ upgrades: [TreeSlot: RowUpgrade], unbuilt: [TreeSlot: [UInt8]], pending: TreeSlot,
    version: UInt32, isUnpublished: Bool
  ) {
    let count = (upgrades.keys.map(\.number).max() ?? 0) + 1
    var rows = [RowUpgrade?](repeating: nil, count: Int(count))
    for (slot, upgrade) in upgrades { rows[Int(slot.number)] = upgrade }
    self.rows = rows
    self.unbuilt = unbuilt
    self.pending = pending
    self.version = version
    self.isUnpublished = isUnpublished
  }

  /// Returns the upgrade of a tree's rows, if there is any.
  @inline(__always)
  subscript(_ tree: TreeSlot) -> RowUpgrade? {
    let number = Int(tree.number)
    return number < rows.count ? rows[number] : nil
  }

  /// The trees whose rows may be of older versions.
  var trees: [TreeSlot] {
    rows.indices.lazy.filter { self.rows[$0] != nil }.map { TreeSlot(UInt32($0)) }
  }

  /// The lowest version that rows may be of.
  var from: UInt32 { rows.lazy.compactMap { $0?.from }.min() ?? version }

  /// True if nothing is left to be done, in states from now on.
  var isOver: Bool { ended.load(ordering: .acquiring) }
  func end() { ended.store(true, ordering: .releasing) }
}

extension TreeUpgrades: FoldUpgrades {
  func transform(_ tree: TreeSlot, _ scope: TransformScope) -> TreeTransform? {
    guard !isOver, let upgrade = self[tree] else { return nil }
    // A leaf holds rows of one version: those that are as new in all but their number become of the newest too
    // where the leaf is rewritten anyway; sought out they are not.
    let version = scope == .touchedLeaves ? max(version, upgrade.version) : upgrade.version
    return TreeTransform(
      RowTransform(upgrade, to: version, faults: scope == .touchedLeaves ? .leave : .refuse), scope)
  }
}

/// The upgrades of an open store, which its backend hands to whoever reads.
final class OpenedUpgrades: Sendable {
  // Set by opening alone, before anybody else has the backend.
  private nonisolated(unsafe) var opened: TreeUpgrades?

  /// Nil if nothing is to be done. Asked for before the state that is read with it is taken.
  var current: TreeUpgrades? {
    guard let opened = unsafe opened, !opened.isOver else { return nil }
    return opened
  }

  func set(_ upgrades: TreeUpgrades?) { unsafe opened = upgrades }
}
