internal import Synchronization

/// A converter of rows from one layout to another: a step of a migration.
protocol RowConverting: Sendable {
  /// Puts the new row together; the key stays as it is.
  ///
  /// - Throws: `.corrupt` for a damaged row; what the conversion refuses.
  func convert(key: RawSpan, row: RawSpan, to writer: RowWriter) throws(StoreError)
}

/// Other values for rows that were copied as they are.
protocol RowAmending: Sendable {
  /// Stores its values in the row that was copied from an old one.
  ///
  /// - Parameter writer: Used on the way.
  /// - Returns: false if the row is left to the conversion.
  /// - Throws: what a closure throws that makes a value.
  func amend(
    _ copied: UpgradedRow, key: RawSpan, row: RawSpan, by writer: RowWriter
  ) throws(StoreError) -> Bool

  /// A copy with layouts of its own. Threads that count references to the same layouts slow each other down.
  func copy() -> any RowAmending
}

/// Makes rows of older versions rows of the present one, where the store has published a version before all of
/// its rows were made anew.
///
/// Of each version there is one conversion to the present, however many steps lie between.
final class RowUpgrade: Sendable {
  /// The lowest version whose rows are as they are now.
  let version: UInt32
  /// The lowest that is known.
  let from: UInt32
  /// True if rows of older versions may be in the tree that are no rows of the record any more.
  let hidesRows: Bool
  /// By the versions that they are for, ascending.
  private let routes: [Route]

  /// The way of rows below a version.
  final class Route: Sendable {
    let below: UInt32
    fileprivate let from: UInt32
    fileprivate let copy: RowCopy?
    /// The values that replace copied ones; nil if the copy is the new row.
    fileprivate let given: (any RowAmending)?
    private let steps: [any RowConverting]
    /// The rows that are still of the record; nil for all.
    fileprivate let share: RowShare?

    /// - Parameters:
    ///   - below: Rows of lower versions go this way, if they go no other.
    ///   - steps: One behind the other, at least one.
    ///   - old: The layout of such rows.
    ///   - required: The numbers of fields whose nulls are left to the steps; nil to leave all to them.
    ///   - share: The rows that are still of the record, by their kinds in the old layout; nil for all. The others are hidden.
    init(
      below: UInt32, _ steps: [any RowConverting], from old: RowLayout, to new: RowLayout,
      required: Set<UInt32>? = [], share: RowShare? = nil
    ) throws(StoreError) {
      self.below = below
      self.share = share
      from = old.version
      self.steps = steps
      given = nil
      copy = try required.flatMap { required throws(StoreError) in
        try RowCopy(from: old, to: new, required: required) { key, row, writer throws(StoreError) in
          try Self.convert(key: key, row: row, to: writer, by: steps)
        }
      }
    }

    /// - Parameters:
    ///   - plain: The step without the values that it gives.
    ///   - given: Those values.
    init(
      below: UInt32, _ steps: [any RowConverting], from old: RowLayout, to new: RowLayout,
      copyingBy plain: any RowConverting, givenValues given: any RowAmending
    ) throws(StoreError) {
      self.below = below
      share = nil
      from = old.version
      self.steps = steps
      self.given = given
      copy = try RowCopy(from: old, to: new, required: []) { key, row, writer throws(StoreError) in
        try plain.convert(key: key, row: row, to: writer)
      }
    }

    private init(_ other: Route, amendedBy given: any RowAmending) {
      below = other.below
      share = other.share
      from = other.from
      copy = other.copy
      self.given = given
      steps = other.steps
    }

    fileprivate func forAnotherThread() -> Route {
      guard let given else { return self }
      return Route(self, amendedBy: given.copy())
    }

    fileprivate func convert(
      key: RawSpan, row: RawSpan, to writer: RowWriter
    ) throws(StoreError) {
      try Self.convert(key: key, row: row, to: writer, by: steps)
    }

    private static func convert(
      key: RawSpan, row: RawSpan, to writer: RowWriter, by steps: [any RowConverting]
    ) throws(StoreError) {
      if steps.count == 1 { return try steps[0].convert(key: key, row: row, to: writer) }
      var made: [UInt8] = row.array()
      for step in steps {
        try step.convert(key: key, row: made.rawSpan, to: writer)
        made.assign(writer.row)
      }
    }
  }

  /// - Parameter routes: Ascending, at least one.
  init(_ routes: [Route]) {
    self.routes = routes
    hidesRows = routes.contains { $0.share != nil }
    version = routes.last?.below ?? 0
    from = routes.first?.from ?? 0
  }

  /// The same, to be used by another thread.
  fileprivate func copy() -> RowUpgrade { RowUpgrade(routes.map { $0.forAnotherThread() }) }

  /// Makes a row of an older version one of the present.
  ///
  /// - Throws: `.corrupt` where the row is damaged; `.limitExceeded` where it gets too long.
  @inline(__always)
  func upgrade(
    key: RawSpan, row: RawSpan, of version: UInt32, to target: UpgradedRow
  ) throws(StoreError) {
    let route = route(of: version)
    if let copy = route.copy, copy.run(row: row, to: target) {
      guard let given = route.given else { return }
      if try given.amend(target, key: key, row: row, by: target.writerBeside()) { return }
    }
    try route.convert(key: key, row: row, to: target.beginWriting())
  }

  @inline(__always)
  private func route(of version: UInt32) -> Route {
    var place = 0
    while place &+ 1 < routes.count, version >= routes[place].below { place &+= 1 }
    return routes[place]
  }

  /// Returns true if a row is in the tree, but no row of the record any more: its kind left the record, or stayed where this
  /// one left it. It is read as if it were not there.
  ///
  /// - Parameter version: Of the row.
  func hides(_ row: RawSpan, of version: UInt32) -> Bool {
    guard hidesRows, version < self.version, let share = route(of: version).share else {
      return false
    }
    return share.leavesOut(row)
  }
}

extension RowUpgrade {
  /// Replaces a row that was copied by one of the present version, if it is older. False where there is none, or where it is
  /// hidden.
  ///
  /// - Parameter version: Of the row; nil if there is none.
  /// - Throws: `.corrupt`, `.limitExceeded`.
  func upgrade(
    _ row: inout [UInt8], of key: RawSpan, _ version: UInt32?
  ) throws(StoreError) -> Bool {
    guard let version else { return false }
    if version >= self.version { return true }
    if hides(row.rawSpan, of: version) {
      row.removeAll(keepingCapacity: true)
      return false
    }
    let made = UpgradedRow()
    try upgrade(key: key, row: row.rawSpan, of: version, to: made)
    row.assign(made.row)
    return true
  }
}

/// Makes rows new on their way through a merge.
struct RowTransform: EntryTransform {
  let schemaVersion: UInt32
  private let upgrade: RowUpgrade
  private let faults: Faults
  private let made = UpgradedRow()

  /// What becomes of a row that cannot be read, or not be made new.
  enum Faults: Sendable {
    /// It stays as it is: a fold that somebody else's changes wait for must not fail.
    case leave
    case refuse
    /// It is refused by the name of its record in the step; rows have this layout.
    case name(RowLayout)
  }

  /// - Parameter version: Of the rows afterwards.
  init(_ upgrade: RowUpgrade, to version: UInt32, faults: Faults) {
    self.upgrade = upgrade
    schemaVersion = version
    self.faults = faults
  }

  func copy() -> RowTransform { RowTransform(upgrade.copy(), to: schemaVersion, faults: faults) }

  func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult {
    if schemaVersion >= upgrade.version { return .keep }
    if upgrade.hides(value, of: schemaVersion) { return .drop }
    let made = made
    do throws(StoreError) {
      try upgrade.upgrade(key: key, row: value, of: schemaVersion, to: made)
    } catch {
      switch faults {
      case .leave: return .leave
      case .refuse: throw error
      case .name(let layout):
        throw error.naming(
          "the record \(layout.text(ofKey: key))", inStepTo: Int(self.schemaVersion))
      }
    }
    newValue.append(made.row)
    return .replace
  }
}

extension StoreError {
  /// The error of a step, with the record that it failed at.
  func naming(_ source: String, inStepTo version: Int) -> StoreError {
    switch self {
    case .invalidValue(let record, let field, let reason):
      .stepFailed(
        version: version, source: "\(record)\(field.map { ".\($0)" } ?? "") of \(source)",
        reason: reason)
    case .limitExceeded(let limit, let found):
      .stepFailed(
        version: version, source: source, reason: "\(StoreError.limitExceeded(limit, found: found))"
      )
    case .stepFailed(let version, let place, let reason):
      .stepFailed(version: version, source: "\(place) of \(source)", reason: reason)
    default: self
    }
  }
}

/// A row of the present version, in memory that is used again for the next. Of one owner on one thread.
final class UpgradedRow {
  // One owner uses them, so accesses cannot overlap.
  /// For rows that are not copied.
  @exclusivity(unchecked) private var writer: RowWriter?
  @exclusivity(unchecked) private var memory = ScratchBytes()
  /// The bytes of a row that was copied; -1 where the writer has it.
  @exclusivity(unchecked) private var count = -1

  init() {}

  /// The row that was made last.
  var row: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      if unsafe count < 0, let writer = unsafe writer {
        return unsafe _overrideLifetime(writer.row, borrowing: self)
      }
      let span = unsafe memory.bytes(max(count, 0))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  fileprivate func beginWriting() -> RowWriter {
    unsafe count = -1
    return writerBeside()
  }

  /// A writer that leaves the row as it is.
  fileprivate func writerBeside() -> RowWriter {
    if let writer = unsafe writer { return writer }
    let made = RowWriter()
    unsafe writer = made
    return made
  }

  /// Makes room for a row of `count` bytes, to be written to at once.
  @unsafe @_lifetime(borrow self)
  @inline(__always)
  func begin(_ count: Int) -> MutableRawSpan {
    unsafe self.count = count
    unsafe memory.reserve(count, keeping: 0)
    return unsafe copied()
  }

  /// Replaces bytes of a row that was copied.
  func store(_ bytes: RawSpan, at offset: Int) {
    var target = unsafe copied()
    target.copy(bytes, to: offset)
  }

  @unsafe @_lifetime(borrow self)
  @inline(__always)
  private func copied() -> MutableRawSpan {
    let span = unsafe memory.mutableBytes()
    return unsafe _overrideLifetime(span, borrowing: self)
  }
}

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

extension TreeUpgrades? {
  /// The number of rows of a tree, without those that are hidden.
  ///
  /// - Complexity: Constant time; O(older rows + changes in overlays) for a tree with hidden rows.
  /// - Throws: `.corrupt`, `.io`.
  func count(of layered: LayeredTree, in tree: TreeSlot) throws(StoreError) -> Int {
    try layered.count - hiddenCount(of: layered, in: tree, before: nil)
  }

  /// The number of rows of a tree with keys below `key`, without those that are hidden.
  ///
  /// - Complexity: O(log count); O(older rows + changes in overlays) for a tree with hidden rows.
  /// - Throws: `.corrupt`, `.io`.
  func rank(
    of key: RawSpan, of layered: LayeredTree, in tree: TreeSlot
  ) throws(StoreError) -> Int {
    let rank = try layered.rank(of: key)
    guard let upgrade = self?[tree], upgrade.hidesRows else { return rank }
    return try rank - hiddenCount(of: layered, in: tree, before: key.array())
  }

  private func hiddenCount(
    of layered: LayeredTree, in tree: TreeSlot, before end: [UInt8]?
  ) throws(StoreError) -> Int {
    guard let upgrade = self?[tree], upgrade.hidesRows else { return 0 }
    return try layered.count(below: upgrade.version, before: end) { row, version in
      upgrade.hides(row, of: version)
    }
  }
}

extension TreeUpgrades: FoldUpgrades {
  func transform(_ tree: TreeSlot, _ scope: TransformScope) -> TreeTransform? {
    guard !isOver, let upgrade = self[tree] else { return nil }
    // Commits on top of the fold may have replaced a hidden row, and are counted as if it were there until they are folded.
    if upgrade.hidesRows, scope == .touchedLeaves { return nil }
    // A leaf holds rows of one version: those that are as new in all but their number become of the newest too
    // where the leaf is rewritten anyway; sought out they are not.
    let version = scope == .touchedLeaves ? max(version, upgrade.version) : upgrade.version
    return TreeTransform(
      RowTransform(upgrade, to: version, faults: scope == .touchedLeaves ? .leave : .refuse), scope)
  }
}

/// The upgrades of an open store, which its backend gives to readers.
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
