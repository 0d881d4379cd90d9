/// The consequences of deleting some records: the others that are deleted with them, the references that are cut, and the
/// records that deny it. They are found before anything changes. Whether it is denied is decided when the transaction commits.
///
///     delete Author 7 ─▶ Book 1, Book 2 (cascade) ─▶ Cover 9 (Book.cover cascades)
///                     └▶ Prize 3 without its author (nullify)
///
/// A worklist, without recursion: cycles end at records that are on it already.
struct Deletion {
  private let map: RelationMap
  private let entities: Entities
  private let trees: TreeAccess
  private let streams: Streams
  /// The records to be deleted, in the order in which they were found.
  private(set) var doomed: [Site] = []
  private var isDoomed: Set<Site> = []
  /// The records that lose references, in the order in which they were found.
  private(set) var cut: [Site] = []
  private var cuts: [Site: [Cut]] = [:]
  private var denials: [Denial] = []
  /// References that are followed only while it is done, and the records that they lead to.
  private var streamed: [(link: Link, key: [UInt8])] = []
  private let encoder = KeyEncoder()
  private let found = KeyEncoder()

  /// A record, by the place of its type and its primary key.
  struct Site: Hashable {
    let place: Int
    let key: [UInt8]
  }

  /// A reference that is cut.
  struct Cut {
    let link: Link
    let element: FieldValue
  }

  /// A record that denies the deletion of another, unless it is deleted with it.
  private struct Denial {
    let link: Link
    /// The record whose deletion is denied.
    let subject: Site
    let other: Site
    let kind: Kind

    enum Kind {
      /// The other leads to the record.
      case isUsed
      /// The record leads to the other.
      case leads
      /// The list of the other would be too short.
      case shortens
    }

    /// For the check at the commit.
    var open: RelationKeeper.Denial {
      let reason: RelationKeeper.Denial.Reason =
        switch kind {
        case .isUsed: .isUsed
        case .leads: .leads(to: other.key)
        case .shortens: .shortens(other.key)
        }
      return RelationKeeper.Denial(link: link.number, subject: subject.key, reason: reason)
    }
  }

  /// The references that are followed only while records are deleted, so that the keys of dependent records need not be
  /// kept in memory.
  enum Streams {
    case none
    /// - Parameter runsHooks: True if records with hooks have to be known before.
    case all(runsHooks: Bool)
  }

  /// Finds the consequences of deleting records. Keys without a record are ignored.
  ///
  /// - Complexity: A seek for each record that is deleted and each reference that leads to its type, and a step for each
  ///   record that depends on it. The keys of those are in memory, unless they stream.
  /// - Throws: `.limitExceeded` if there are too many of them, `.corrupt`, `.io`.
  init(
    of keys: [[UInt8]], _ entity: Entity, _ entities: Entities, _ map: RelationMap,
    in trees: TreeAccess, streaming streams: Streams
  ) throws(StoreError) {
    self.map = map
    self.entities = entities
    self.trees = trees
    self.streams =
      if case .all = streams, map.mayBeDenied(deleting: entity) { .none } else { streams }
    for key in keys where try trees.contains(key.rawSpan, in: entity.rows) {
      try doom(Site(place: entity.place, key: key))
    }
    var next = 0
    while next < doomed.count {
      try follow(doomed[next])
      next += 1
    }
    denials.removeAll { isDoomed.contains($0.other) }
    cut.removeAll { isDoomed.contains($0) }
    try denyShortLists()
  }
}

// MARK: - Finding

extension Deletion {
  /// True of a reference that is followed only while the record that it leads to is deleted.
  private func isStreamed(_ link: Link) -> Bool {
    guard case .all(let runsHooks) = streams else { return false }
    return link.rule == .nullify
      || !map.hasRules(for: link.source) && !(runsHooks && link.source.hasDeletionHook)
  }

  private mutating func doom(_ site: Site) throws(StoreError) {
    guard isDoomed.insert(site).inserted else { return }
    doomed.append(site)
    try checkCount()
  }

  /// Keys are some hundred bytes each; more than a gigabyte of them is refused.
  private func checkCount() throws(StoreError) {
    let count = doomed.count + cut.count + denials.count
    if count > StoreError.Limit.deletionCount.bound {
      throw .limitExceeded(.deletionCount, found: count)
    }
  }

  private mutating func follow(_ site: Site) throws(StoreError) {
    let entity = entities.all[site.place]
    for link in map.links(to: entity) {
      let streams = isStreamed(link)
      var sources: [[UInt8]] = []
      try link.forEachSource(to: site.key.rawSpan, in: trees, encoder) { key in
        sources.append(key.array())
        return !streams
      }
      if streams {
        if !sources.isEmpty { streamed.append((link, site.key)) }
        continue
      }
      for key in sources {
        let source = Site(place: link.source.place, key: key)
        switch link.rule {
        case .cascade: try doom(source)
        case .nullify: try addCut(of: source, from: site, link)
        case .deny:
          denials.append(Denial(link: link, subject: site, other: source, kind: .isUsed))
        case .noAction: break
        }
      }
      try checkCount()
    }
    let own = map.links(from: entity).filter { $0.ownRule != .nullify }
    var row: [UInt8] = []
    guard !own.isEmpty, try trees.copyValue(of: site.key.rawSpan, in: entity.rows, to: &row) else {
      return
    }
    let reader = try entity.row(key: site.key.rawSpan, row: row.rawSpan)
    for link in own {
      var targets: [Site] = []
      try link.forEachKey(of: reader, in: found) { key throws(StoreError) in
        guard try trees.contains(key, in: link.destination.rows) else { return }
        targets.append(Site(place: link.destination.place, key: key.array()))
      }
      for target in targets {
        if link.ownRule == .cascade {
          try doom(target)
        } else {
          denials.append(Denial(link: link, subject: site, other: target, kind: .leads))
        }
      }
    }
  }

  private mutating func addCut(
    of source: Site, from site: Site, _ link: Link
  ) throws(StoreError) {
    if isDoomed.contains(source) { return }
    let element = try link.value(ofKey: site.key.rawSpan)
    if cuts[source] == nil { cut.append(source) }
    cuts[source, default: []].append(Cut(link: link, element: element))
  }

  /// Denies deletions that would leave a list shorter than its bounds allow.
  private mutating func denyShortLists() throws(StoreError) {
    for site in cut {
      let entity = entities.all[site.place]
      for link in map.links(from: entity) {
        guard let least = link.bounds?.least, least > 0, let cuts = cuts[site] else { continue }
        let own = cuts.filter { $0.link === link }
        var row: [UInt8] = []
        guard let first = own.first,
          try trees.copyValue(of: site.key.rawSpan, in: entity.rows, to: &row)
        else { continue }
        var count = 0
        let reader = try entity.row(key: site.key.rawSpan, row: row.rawSpan)
        try link.forEachKey(of: reader, in: found) { _ in count += 1 }
        guard count - own.count < least else { continue }
        encoder.begin()
        try encoder.append(
          first.element, link.destination.layout.key.columns[0], of: link.destination.layout)
        denials.append(
          Denial(
            link: link, subject: Site(place: link.destination.place, key: encoder.key.array()),
            other: site, kind: .shortens))
      }
    }
  }
}

// MARK: - Results

extension Deletion {
  /// Why it is denied, for the first record that is: in the order in which they were found.
  func denial() -> StoreError? {
    guard let first = denials.first else { return nil }
    let same = denials.filter { $0.link === first.link && $0.subject == first.subject }
    let entity = entities.all[first.subject.place]
    return .deleteDenied(
      record: entity.record.name, key: entity.text(ofKey: first.subject.key.rawSpan),
      by: first.link.name, count: Set(same.map(\.other)).count)
  }

  /// The number of records of each type that are in a list, by stored name.
  func counts(of sites: [Site]) -> [String: Int] {
    var counts: [String: Int] = [:]
    for site in sites { counts[entities.all[site.place].record.name, default: 0] += 1 }
    return counts
  }
}

// MARK: - Doing it

extension Deletion {
  /// Cuts references and deletes records, and leaves it to the commit whether that is denied. If it fails, the caller has to
  /// roll back to its savepoint.
  fileprivate func run(in writer: RecordWriter) throws(StoreError) {
    for denial in denials { writer.keeper?.leaveOpen(denial.open) }
    for site in cut {
      try writer.cut(cuts[site] ?? [], from: site.key, of: entities.all[site.place], allowing: .all)
    }
    let streamed = Dictionary(grouping: streamed) { $0.link.number }
    for link in map.links {
      if let found = streamed[link.number] { try stream(link, to: found.map(\.key), in: writer) }
    }
    for site in doomed { try delete(site.key, of: entities.all[site.place], in: writer) }
  }

  /// The number of keys of records that are kept in memory while those are streamed.
  private static var streamedAtOnce: Int { 1_024 }

  /// Cuts or deletes the records that lead to some with keys, in batches. A list from which several elements are cut is written
  /// once for each batch.
  ///
  /// - Throws: `.corrupt`, also where an index says of a record that it leads there, and it does not.
  private func stream(
    _ link: Link, to keys: [[UInt8]], in writer: RecordWriter
  ) throws(StoreError) {
    var sources: [[UInt8]] = []
    var cuts: [[UInt8]: [Cut]] = [:]
    var count = 0
    for key in keys {
      let cut = Cut(link: link, element: try link.value(ofKey: key.rawSpan))
      var last: [UInt8]?
      repeat {
        if count >= Self.streamedAtOnce {
          try end(sources, cuts, of: link, in: writer)
          (sources, cuts, count) = ([], [:], 0)
        }
        var first: [UInt8]?
        try link.forEachSource(to: key.rawSpan, in: trees, encoder) { found in
          let source = found.array()
          first = first ?? source
          if cuts[source] == nil { sources.append(source) }
          cuts[source, default: []].append(cut)
          count += 1
          return count < Self.streamedAtOnce
        }
        // References that were cut no longer lead there; else this loop would never end.
        if let first, first == last {
          throw link.source.layout.fault(
            key: first.rawSpan, .indexEntries,
            "an index says that \(link.field.name) is \(cut.element), and it is not")
        }
        last = first
      } while count >= Self.streamedAtOnce
    }
    try end(sources, cuts, of: link, in: writer)
  }

  /// Deletes records that lead to deleted ones, or cuts their references.
  private func end(
    _ sources: [[UInt8]], _ cuts: [[UInt8]: [Cut]], of link: Link, in writer: RecordWriter
  ) throws(StoreError) {
    for source in sources {
      if link.rule == .cascade {
        try delete(source, of: link.source, in: writer)
      } else {
        try writer.cut(cuts[source] ?? [], from: source, of: link.source, allowing: .all)
      }
    }
  }

  private func delete(
    _ key: [UInt8], of entity: Entity, in writer: RecordWriter
  ) throws(StoreError) {
    guard try writer.deleteRow(key.rawSpan, of: entity) else {
      throw entity.missingRow(key.rawSpan)
    }
  }

  /// True if it is the deletion of one record and nothing else.
  fileprivate var isOfOne: Bool {
    doomed.count == 1 && cut.isEmpty && streamed.isEmpty && denials.isEmpty
  }
}

extension RecordWriter {
  /// Deletes records as one set and applies the delete rules, without hooks. The commit throws `.deleteDenied` if others still
  /// deny it then.
  ///
  /// - Returns: The number of those that were there.
  /// - Throws: `.uniqueConflict` of a reference that is cut: then nothing has changed. `.corrupt`, `.full`, `.io`.
  func delete(_ keys: [[UInt8]], of entity: Entity) throws(StoreError) -> Int {
    try checkUsable()
    guard let map = entities.relations else { return 0 }
    let deletion = try Deletion(
      of: keys, entity, entities, map, in: .transaction(trees), streaming: .all(runsHooks: false))
    let count = deletion.count(of: entity, among: keys)
    try run(deletion)
    return count
  }

  private func run(_ deletion: Deletion) throws(StoreError) {
    if deletion.doomed.isEmpty { return }
    if deletion.isOfOne { return try deletion.run(in: self) }
    try atomically { writer throws(StoreError) in try deletion.run(in: writer) }
  }

  /// Deletes records as one set and applies the delete rules, after the hooks of all records that are deleted.
  ///
  /// Hooks may change records, so the consequences are found again after them.
  ///
  /// - Throws: as without hooks; rethrows a hook's error: then nothing has changed.
  func deleteWithHooks(_ keys: [[UInt8]], of entity: Entity) throws -> Int {
    guard let map = entities.relations, runsHooks(deleting: entity) else {
      return try delete(keys, of: entity)
    }
    try checkUsable()
    return try savepoint {
      var asked: Set<Deletion.Site> = []
      var count: Int?
      for _ in 0..<StoreError.Limit.hookDepth.bound {
        let deletion = try Deletion(
          of: keys, entity, entities, map, in: .transaction(trees),
          streaming: .all(runsHooks: true))
        count = count ?? deletion.count(of: entity, among: keys)
        let new = deletion.doomed.filter { site in
          entities.all[site.place].hasDeletionHook && asked.insert(site).inserted
        }
        if new.isEmpty {
          try run(deletion)
          return count ?? 0
        }
        for site in new { try runHook(before: site) }
      }
      // Each time, a hook has added records that are to be deleted too.
      throw StoreError.limitExceeded(.hookDepth, found: StoreError.Limit.hookDepth.bound + 1)
    }
  }

  private func runHook(before site: Deletion.Site) throws {
    let entity = entities.all[site.place]
    var row: [UInt8] = []
    guard try trees.copyValue(of: site.key.rawSpan, in: entity.rows, to: &row) else { return }
    try run {
      try willDelete(of: entity, key: site.key.rawSpan, row: row.rawSpan, in: self)
    } before: {
    }
  }

  /// True if a hook may run when records of a type are deleted.
  @usableFromInline
  func runsHooks(deleting entity: Entity) -> Bool {
    entities.relations?.runsHooks(deleting: entity) ?? entity.hasDeletionHook
  }

  /// Makes room for a record: deletes others that have the same values where they have to be unique, without hooks.
  func clear(_ conflicts: Conflicts, of entity: Entity) throws(StoreError) {
    for move in conflicts.moves {
      try cut(
        [Deletion.Cut(link: move.link, element: move.element)], from: move.key, of: entity,
        allowing: .unchanged)
    }
    if hasRules(for: entity) {
      _ = try delete(conflicts.others, of: entity)
    } else {
      for other in conflicts.others { _ = try deleteRow(other.rawSpan, of: entity) }
    }
  }

  /// The same after the hooks of the deleted records.
  func clearWithHooks(_ conflicts: Conflicts, of entity: Entity) throws {
    var moves = conflicts
    moves.others = []
    try clear(moves, of: entity)
    if hasRules(for: entity) {
      _ = try deleteWithHooks(conflicts.others, of: entity)
    } else {
      for other in conflicts.others { _ = try deleteWithHook(other, of: entity) }
    }
  }

  /// Writes a record without its references to some. Neither its hooks nor its validations run.
  fileprivate func cut(
    _ cuts: [Deletion.Cut], from key: [UInt8], of entity: Entity,
    allowing short: RelationKeeper.ShortLists
  ) throws(StoreError) {
    var row: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: entity.rows, to: &row) else {
      throw entity.missingRow(key.rawSpan)
    }
    let reader = try entity.row(key: key.rawSpan, row: row.rawSpan)
    var (changes, lists): ([Int: FieldValue], [Int: [UInt8]]) = ([:], [:])
    for (column, cuts) in Dictionary(grouping: cuts, by: \.link.column) {
      let link = cuts[0].link
      if !link.isList {
        changes[column] = .null
      } else if let rest = try link.list(of: reader, without: cuts.map(\.element)) {
        lists[column] = rest
      } else if case .array(let elements) = try reader.value(column) {
        changes[column] = .array(
          elements.filter { element in !cuts.contains { $0.element.isSame(as: element) } })
      }
    }
    let changed = buffers.cutRow
    try reader.copy(to: changed, replacing: changes, lists: lists)
    try keeper?.allowing(short) { () throws(StoreError) in
      try write(
        key.rawSpan, changed.row, of: entity, over: row, presence: .isThere, onConflict: .refuse)
    }
  }

  /// True if the deletion of all records of a type has to look at others.
  func mayLeaveSomething(deletingAll entity: Entity) throws(StoreError) -> Bool {
    guard let map = entities.relations, map.hasRules(for: entity) else { return false }
    if map.links(from: entity).contains(where: {
      $0.ownRule != .nullify && $0.destination !== entity
    }) {
      return true
    }
    for link in map.links(to: entity) where link.source !== entity {
      let cursor = try TreeAccess.transaction(trees).cursor(in: link.source.rows)
      if try cursor.first() { return true }
    }
    return false
  }

  func keys(of entity: Entity) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    let cursor = try TreeAccess.transaction(trees).cursor(in: entity.rows)
    while try cursor.advance() { keys.append(cursor.key.array()) }
    return keys
  }
}

extension Deletion {
  /// The number of records to delete that exist.
  fileprivate func count(of entity: Entity, among keys: [[UInt8]]) -> Int {
    Set(keys).count { isDoomed.contains(Site(place: entity.place, key: $0)) }
  }
}
