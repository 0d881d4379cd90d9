/// Checks, when a transaction commits, that every checked reference leads to a record, that bounds are kept, and that no
/// deletion is denied. A record that denies a deletion may be deleted or changed later in the same transaction.
///
/// A reference to a record that does not exist yet is open until the commit, so the order of writes makes no difference. A record
/// that was found once is not looked up again while references of many records lead to it.
final class RelationKeeper {
  let map: RelationMap
  private let trees: TreeAccess
  /// Keys that led nowhere when they were written.
  private var open: [Entry] = []
  /// Keys of records whose number of others may not be within its bounds.
  private var touched: [Entry] = []
  /// Links of which no reference was looked at.
  private var unproved: [Link] = []
  /// Deletions that another record denied when they were made, each once.
  private var denials: [Denial] = []
  private var isDenied: Set<Denial> = []
  /// Which lists may be too short until the commit.
  private var shortLists = ShortLists.none
  /// By link: the key of the last record that was found to exist.
  private var known: [[UInt8]?]
  private let newKey = KeyEncoder()
  private let oldKey = KeyEncoder()

  private struct Entry {
    let link: Int
    let key: [UInt8]
  }

  /// Which lists of a row that is written may be too short, as the commit decides about them.
  enum ShortLists {
    /// None: a program saves the row.
    case none
    /// Those that are too short already, as a record of theirs was deleted: an element is taken out of another list.
    case unchanged
    /// All: references to deleted records are cut.
    case all
  }

  /// The numbers of open and touched keys, and of unproved links, when a savepoint began.
  struct State {
    fileprivate let openCount: Int
    fileprivate let touchedCount: Int
    fileprivate let unprovedCount: Int
    fileprivate let denialCount: Int
  }

  /// A record that was deleted, and the reason why that was denied.
  struct Denial: Hashable {
    let link: Int
    /// The primary key of the record that was deleted.
    let subject: [UInt8]
    let reason: Reason

    /// Of other records, the primary key.
    enum Reason: Hashable {
      /// Others lead to it.
      case isUsed
      /// It leads to another.
      case leads(to: [UInt8])
      /// The list of another is too short without it.
      case shortens([UInt8])
    }
  }

  init(_ map: RelationMap, _ trees: TreeAccess) {
    self.map = map
    self.trees = trees
    known = Array(repeating: nil, count: map.links.count)
  }

  var state: State {
    State(
      openCount: open.count, touchedCount: touched.count, unprovedCount: unproved.count,
      denialCount: denials.count)
  }

  /// Forgets references and records noted since then.
  func goBack(to state: State) {
    open.removeSubrange(state.openCount...)
    touched.removeSubrange(state.touchedCount...)
    unproved.removeSubrange(state.unprovedCount...)
    for denial in denials[state.denialCount...] { isDenied.remove(denial) }
    denials.removeSubrange(state.denialCount...)
    known = Array(repeating: nil, count: known.count)
  }
}

// MARK: - Writing and deleting

extension RelationKeeper {
  /// Looks at the references of a row that is about to be written.
  ///
  /// - Parameter old: The row that it replaces; empty for a new record.
  /// - Complexity: A lookup for each reference that changes, none if it leads where the last one did.
  /// - Throws: `.invalidValue` for a list with an element twice, `.relationCount` for one that is not within its bounds,
  ///   `.corrupt`, `.io`: then nothing has changed.
  func check(
    _ key: RawSpan, from old: RawSpan, to new: RawSpan, of entity: Entity
  ) throws(StoreError) {
    let links = map.links(from: entity)
    if !links.isEmpty {
      let row = try entity.row(key: key, row: new)
      for link in links {
        if link.isList {
          try checkList(key, from: old, to: row, link)
        } else if old.byteCount == 0 {
          try link.forEachKey(of: row, in: newKey) { key throws(StoreError) in
            try follow(link, key)
          }
        } else {
          try checkChange(key, from: old, to: row, link)
        }
      }
    }
    if old.byteCount == 0 {
      for link in map.links(to: entity) where link.inverse?.bounds?.least ?? 0 > 0 {
        touched.append(Entry(link: link.number, key: key.array()))
      }
    } else if entity.isOfHierarchy {
      checkKinds(key, from: old, to: new, of: entity)
    }
  }

  /// Looks at a record that comes to be of a kind, or is no longer of one.
  private func checkKinds(
    _ key: RawSpan, from old: RawSpan, to new: RawSpan, of entity: Entity
  ) {
    for link in map.links(to: entity) where link.kind != nil {
      switch (link.mayLead(to: old), link.mayLead(to: new)) {
      case (true, false): leaveOpen(link, key.array())
      case (false, true) where link.inverse?.bounds?.least ?? 0 > 0:
        touched.append(Entry(link: link.number, key: key.array()))
      default: break
      }
    }
  }

  /// Leaves it open until the commit whether a reference leads to a record that is no longer one that it may lead to.
  private func leaveOpen(_ link: Link, _ key: [UInt8]) {
    known[link.number] = nil
    open.append(Entry(link: link.number, key: key))
  }

  /// True if the records that such a record leads to have a lowest number of others.
  func isBound(_ entity: Entity) -> Bool {
    map.links(from: entity).contains { $0.inverse?.bounds?.least ?? 0 > 0 }
  }

  /// Forgets which of the records that are about to be deleted were found.
  func forgetKnown(_ entity: Entity) {
    for link in map.links(to: entity) { known[link.number] = nil }
  }

  /// Leaves it open until the commit whether references lead to a record that is deleted without its delete rules.
  func leaveOpen(_ key: [UInt8], of entity: Entity) {
    for link in map.links(to: entity) { open.append(Entry(link: link.number, key: key)) }
  }

  /// Leaves all references of links open until the commit: records with them are added, and nothing is looked up.
  func leaveUnproved(_ links: [Link]) { unproved += links }

  /// Leaves it open until the commit whether a record that was deleted may be.
  func leaveOpen(_ denial: Denial) {
    if isDenied.insert(denial).inserted { denials.append(denial) }
  }

  /// Runs `body`, in which lists may be too short.
  func allowing(
    _ lists: ShortLists, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let before = shortLists
    shortLists = lists
    defer { shortLists = before }
    try body()
  }

  /// Notes that a record with a key is about to be deleted, for the bounds of those that it leads to.
  func noteDeletion(_ key: RawSpan, _ row: RawSpan, of entity: Entity) throws(StoreError) {
    forgetKnown(entity)
    for link in map.links(from: entity) where link.inverse?.bounds?.least ?? 0 > 0 {
      let reader = try entity.row(key: key, row: row)
      try link.forEachKey(of: reader, in: oldKey) { key throws(StoreError) in touch(link, key) }
    }
  }

  private func touch(_ link: Link, _ key: RawSpan) {
    guard link.inverse?.bounds != nil else { return }
    if let last = touched.last, last.link == link.number, last.key.rawSpan.equals(key) { return }
    touched.append(Entry(link: link.number, key: key.array()))
  }

  /// Finds out whether a reference leads somewhere, or leaves that open.
  @inline(__always)
  private func follow(_ link: Link, _ key: RawSpan) throws(StoreError) {
    touch(link, key)
    if let last = known[link.number], last.rawSpan.equals(key) { return }
    if try link.leads(to: key, in: trees) {
      known[link.number] = key.array()
    } else {
      open.append(Entry(link: link.number, key: key.array()))
    }
  }

  private func checkChange(
    _ key: RawSpan, from old: RawSpan, to new: RowReader, _ link: Link
  ) throws(StoreError) {
    let (source, oldKey, newKey) = (link.source, oldKey, newKey)
    let row = try source.row(key: key, row: old)
    var (hadKey, hasKey) = (false, false)
    try link.forEachKey(of: row, in: oldKey) { _ in hadKey = true }
    try link.forEachKey(of: new, in: newKey) { _ in hasKey = true }
    if hadKey, hasKey, oldKey.key.equals(newKey.key) { return }
    if hadKey { touch(link, oldKey.key) }
    if hasKey { try follow(link, newKey.key) }
  }

  /// - Complexity: A pass over the bytes of both lists, and a lookup for each new element.
  private func checkList(
    _ key: RawSpan, from old: RawSpan, to new: RowReader, _ link: Link
  ) throws(StoreError) {
    let (source, oldKey, newKey) = (link.source, oldKey, newKey)
    let count = try link.elements(of: new).count
    var before: Set<[UInt8]> = []
    // Elements that both rows have at their beginnings, or at their ends, are as they were.
    var places = 0..<count
    if old.byteCount > 0 {
      let row = try source.row(key: key, row: old)
      let difference = try link.elements(of: new).difference(from: try link.elements(of: row))
      places = difference.new
      try link.forEachKey(of: row, in: oldKey, at: difference.old) { key in
        before.insert(key.array())
      }
    }
    var after: Set<[UInt8]> = []
    func refuse(_ element: RawSpan) throws(StoreError) {
      throw .invalidValue(
        record: link.source.record.name, field: link.field.name,
        reason: "it leads to \(try link.value(ofKey: element)) twice")
    }
    try link.forEachKey(of: new, in: newKey, at: places) { found throws(StoreError) in
      let element = found.array()
      if !after.insert(element).inserted { try refuse(found) }
      if !before.contains(element) { try follow(link, found) }
    }
    if !after.isEmpty {
      for others in [0..<places.lowerBound, places.upperBound..<count] {
        try link.forEachKey(of: new, in: newKey, at: others) { found throws(StoreError) in
          if after.contains(found.array()) { try refuse(found) }
        }
      }
    }
    if let bounds = link.bounds, !bounds.contains(count), !new.isNull(ofList: link),
      !(count < bounds.least && mayBeShort(before, after))
    {
      throw .relationCount(
        record: link.source.record.name, key: link.source.text(ofKey: key),
        relation: link.field.name, count: count)
    }
    for element in before where !after.contains(element) { touch(link, element.rawSpan) }
  }
}

extension RelationKeeper {
  private func mayBeShort(_ before: Set<[UInt8]>, _ after: Set<[UInt8]>) -> Bool {
    switch shortLists {
    case .none: false
    case .unchanged: before == after
    case .all: true
    }
  }
}

extension RowReader {
  /// Returns true if an optional list is not there, which is no matter of its bounds.
  fileprivate func isNull(ofList link: Link) -> Bool {
    isNull(link.source.layout.columns[link.column].place)
  }
}

// MARK: - Committing

extension RelationKeeper {
  /// Checks the deletions that were denied, the open references and counts.
  ///
  /// - Complexity: A lookup for each reference that came before the record that it leads to, and two ranks for each record
  ///   with bounds whose number of others has changed; a pass over all references of an unproved link.
  /// - Throws: `.deleteDenied`, `.danglingReference`, `.relationCount`: then the transaction must not be committed.
  ///   `.corrupt`, `.io`.
  func check() throws(StoreError) {
    for denial in denials where try isInForce(denial) { throw try error(of: denial) }
    for link in map.links where unproved.contains(where: { $0 === link }) { try prove(link) }
    for entry in Self.inOrder(open) { try checkOpen(entry.key.rawSpan, map.links[entry.link]) }
    for entry in Self.inOrder(touched) { try checkBounds(entry.key.rawSpan, map.links[entry.link]) }
  }

  /// Returns true if a record is still deleted and the reason against it still holds.
  private func isInForce(_ denial: Denial) throws(StoreError) -> Bool {
    let link = map.links[denial.link]
    let subject = denial.subject.rawSpan
    switch denial.reason {
    case .isUsed:
      if try link.leads(to: subject, in: trees) { return false }
      return try link.count(to: subject, in: trees, newKey) > 0
    case .leads(let other):
      if try trees.contains(subject, in: link.source.rows) { return false }
      return try link.leads(to: other.rawSpan, in: trees)
    case .shortens(let other):
      let (source, newKey) = (link.source, newKey)
      var bytes: [UInt8] = []
      guard let bounds = link.bounds,
        try trees.copyValue(of: other.rawSpan, in: source.rows, to: &bytes)
      else { return false }
      let row = try source.row(key: other.rawSpan, row: bytes.rawSpan)
      var count = 0
      try link.forEachKey(of: row, in: newKey) { _ in count += 1 }
      return count < bounds.least && !row.isNull(ofList: link)
    }
  }

  private func error(of denial: Denial) throws(StoreError) -> StoreError {
    let link = map.links[denial.link]
    var (entity, count) = (link.destination, 0)
    switch denial.reason {
    case .isUsed: count = try link.count(to: denial.subject.rawSpan, in: trees, newKey)
    case .leads: entity = link.source
    case .shortens: break
    }
    if count == 0 {
      for other in denials
      where other.link == denial.link && other.subject == denial.subject && other.reason != .isUsed
      {
        if try isInForce(other) { count += 1 }
      }
    }
    return .deleteDenied(
      record: entity.record.name, key: entity.text(ofKey: denial.subject.rawSpan), by: link.name,
      count: count)
  }

  /// Notes that records are lost to which references lead and which do not exist, instead of refusing the commit. Bounds are
  /// not checked.
  ///
  /// - Returns: the types of these records, and their keys.
  /// - Throws: `.corrupt`, `.full`, `.io`.
  func acceptMissing(in trees: TransactionTrees) throws(StoreError) -> [(Entity, key: [UInt8])] {
    var missing: [(Entity, key: [UInt8])] = []
    for link in map.links where unproved.contains(where: { $0 === link }) {
      var keys: Set<[UInt8]> = []
      try RelationCheck.forEachMissing(of: link, in: self.trees) { keys.insert($0) }
      let sorted = keys.sortedRarely { $0.lexicographicallyPrecedes($1) }
      missing += sorted.map { (link.destination, $0) }
    }
    for entry in Self.inOrder(open) {
      let link = map.links[entry.link]
      if try link.leads(to: entry.key.rawSpan, in: self.trees) { continue }
      missing.append((link.destination, entry.key))
    }
    for (entity, key) in missing { try trees.put(key.rawSpan, RawSpan(), in: entity.lost) }
    (open, touched, unproved) = ([], [], [])
    return missing
  }

  private func prove(_ link: Link) throws(StoreError) {
    let found = try RelationCheck.dangling(link, in: trees) {}
    guard let first = found.first else { return }
    throw .danglingReference(
      record: link.source.record.name, key: link.source.text(ofKey: first.source.rawSpan),
      field: link.field.name, destination: "\(link.destinationName) \(first.destination)")
  }

  /// The entries without those that are there twice, in an order by which the first error is always the same.
  private static func inOrder(_ entries: [Entry]) -> [Entry] {
    var sorted = entries.sorted { one, other in
      one.link == other.link
        ? one.key.rawSpan.compare(other.key.rawSpan) < 0 : one.link < other.link
    }
    var last: Entry?
    sorted.removeAll { entry in
      defer { last = entry }
      return entry.link == last?.link && entry.key == last?.key
    }
    return sorted
  }

  private func checkOpen(_ key: RawSpan, _ link: Link) throws(StoreError) {
    if try link.leads(to: key, in: trees) { return }
    var source: String?
    try link.forEachSource(to: key, in: trees, newKey) { key in
      source = link.source.text(ofKey: key)
      return false
    }
    guard let source else { return }
    throw .danglingReference(
      record: link.source.record.name, key: source, field: link.field.name,
      destination: "\(link.destinationName) \(link.destination.text(ofKey: key))")
  }

  private func checkBounds(_ key: RawSpan, _ link: Link) throws(StoreError) {
    guard let inverse = link.inverse, let bounds = inverse.bounds,
      try link.leads(to: key, in: trees)
    else { return }
    let count = try link.count(to: key, in: trees, newKey)
    guard bounds.contains(count) else {
      throw .relationCount(
        record: link.destination.record.name, key: link.destination.text(ofKey: key),
        relation: inverse.name, count: count)
    }
  }
}
