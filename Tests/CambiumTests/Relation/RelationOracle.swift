@testable import Cambium

/// Records and their references as dictionaries. All consequences are found by looking at every record again and again,
/// until nothing new is found.
struct RelationOracle {
  let kinds: RelatedKinds
  /// By kind and key.
  private(set) var rows: [[Int: Row]]
  /// The deletions of the transaction that others denied when they were made.
  private var denials: Set<Denial> = []

  /// A record without its key.
  struct Row: Hashable {
    /// The keys that each reference of the kind leads to; nil for null.
    var targets: [[Int]?]
    var code: Int?
    var note: Int
  }

  /// A record's place.
  struct Site: Hashable {
    var kind: Int
    var key: Int
  }

  /// A record that was deleted although another depends on it, which the commit decides about.
  private struct Denial: Hashable {
    let link: RelatedKinds.Link
    let subject: Site
    let reason: Reason

    enum Reason: Hashable {
      case isUsed
      case leads(to: Site)
      case shortens(Site)
    }
  }

  enum Operation {
    case write(Site, Row, RecordWriter.Presence, ConflictPolicy)
    /// Deletes records of one kind, as one set.
    case delete(kind: Int, keys: [Int])
    case deleteAll(kind: Int)
  }

  init(_ kinds: RelatedKinds, _ rows: [[Int: Row]]? = nil) {
    self.kinds = kinds
    self.rows = rows ?? kinds.kinds.map { _ in [:] }
  }

  /// The records, by kind and key.
  var sites: [Site] {
    rows.enumerated().flatMap { kind, rows in rows.keys.sorted().map { Site(kind: kind, key: $0) } }
  }

  func row(_ site: Site) -> Row? { rows[site.kind][site.key] }

  /// Begins another transaction.
  mutating func commit() { denials = [] }

  /// Changes the records.
  ///
  /// - Returns: The errors of which one is to be thrown; then nothing has changed. None if it succeeds.
  mutating func perform(_ operation: Operation) -> Set<StoreError> {
    switch operation {
    case .write(let site, let row, let presence, let policy):
      return write(site, row, presence, policy)
    case .delete(let kind, let keys):
      delete(Set(keys.map { Site(kind: kind, key: $0) }))
      return []
    case .deleteAll(let kind):
      delete(Set(rows[kind].keys.map { Site(kind: kind, key: $0) }))
      return []
    }
  }
}

// MARK: - Looking at everything

extension RelationOracle {
  /// A reference of a record that leads somewhere.
  private struct Step {
    let from: Site
    let link: RelatedKinds.Link
    let to: Site
  }

  /// Every step of every checked reference.
  private var steps: [Step] {
    var steps: [Step] = []
    for kind in rows.indices {
      for (key, row) in rows[kind] {
        for (link, targets) in zip(kinds.links[kind], row.targets) where link.isChecked {
          for target in targets ?? [] {
            steps.append(
              Step(
                from: Site(kind: kind, key: key), link: link,
                to: Site(kind: link.destination, key: target)))
          }
        }
      }
    }
    return steps
  }

  private func text(_ site: Site) -> String { kinds.text(ofKey: site.key, of: site.kind) }
  private func name(_ site: Site) -> String { kinds.kinds[site.kind].name }

  /// The errors of which a commit has to throw one; it succeeds if there are none.
  var faults: Set<StoreError> {
    var faults = denialFaults
    if !faults.isEmpty { return faults }
    for step in missing {
      faults.insert(
        .danglingReference(
          record: name(step.from), key: text(step.from), field: kinds.storedName(of: step.link),
          destination: "\(name(step.to)) \(text(step.to))"))
    }
    for (_, inverse, site, count) in wrongCounts {
      faults.insert(
        .relationCount(
          record: name(site), key: text(site), relation: inverse.name, count: count))
    }
    return faults
  }

  private var missing: [Step] { steps.filter { row($0.to) == nil } }

  /// The records that references lead to, and that are not there.
  var missingSites: Set<Site> { Set(missing.map(\.to)) }

  /// The ends of relations that have too few or too many records.
  var wrongCounts: [(RelatedKinds.Link, RelatedKinds.Inverse, Site, Int)] {
    var wrong: [(RelatedKinds.Link, RelatedKinds.Inverse, Site, Int)] = []
    for link in kinds.links.joined() where link.isChecked {
      guard let inverse = link.inverse, inverse.bounds != 0...Int.max else { continue }
      for key in rows[link.destination].keys {
        let count = sources(of: link, leadingTo: key).count
        if !inverse.bounds.contains(count) {
          wrong.append((link, inverse, Site(kind: link.destination, key: key), count))
        }
      }
    }
    return wrong
  }

  /// The keys of the records whose reference leads to one with a key.
  func sources(of link: RelatedKinds.Link, leadingTo key: Int) -> [Int] {
    guard let place = kinds.links[link.owner].firstIndex(where: { $0.name == link.name }) else {
      return []
    }
    return rows[link.owner].filter { $0.value.targets[place]?.contains(key) ?? false }.map(\.key)
      .sorted()
  }
}

// MARK: - Deleting

extension RelationOracle {
  private mutating func delete(_ sites: Set<Site>) {
    let steps = steps
    let doomed = closure(of: sites, steps)
    noteDenials(of: doomed, steps)
    remove(doomed)
  }

  /// The records that are deleted with some: once around all steps for each that is found.
  private func closure(of sites: Set<Site>, _ steps: [Step]) -> Set<Site> {
    var doomed = sites.filter { row($0) != nil }
    while true {
      let next = steps.first { step in
        row(step.to) != nil
          && (kinds.rule(of: step.link) == .cascade && doomed.contains(step.to)
            && !doomed.contains(step.from)
            || step.link.ownRule == .cascade && doomed.contains(step.from)
              && !doomed.contains(step.to))
      }
      guard let next else { return doomed }
      doomed.insert(next.from)
      doomed.insert(next.to)
    }
  }

  private mutating func noteDenials(of doomed: Set<Site>, _ steps: [Step]) {
    for site in doomed {
      for link in kinds.links.joined() where link.isChecked {
        let alike = steps.filter { $0.link == link }
        for step in alike where step.to == site && !doomed.contains(step.from) {
          if kinds.rule(of: link) == .deny {
            denials.insert(Denial(link: link, subject: site, reason: .isUsed))
          }
          let kept = alike.count { $0.from == step.from && !doomed.contains($0.to) }
          if link.isList, kinds.rule(of: link) == .nullify, kept < link.bounds.lowerBound {
            denials.insert(Denial(link: link, subject: site, reason: .shortens(step.from)))
          }
        }
        for step in alike where step.from == site && link.ownRule == .deny {
          if row(step.to) != nil, !doomed.contains(step.to) {
            denials.insert(Denial(link: link, subject: site, reason: .leads(to: step.to)))
          }
        }
      }
    }
  }

  /// One of these is thrown, with the number of records that deny the deletion of one by one reference.
  private var denialFaults: Set<StoreError> {
    var errors: Set<StoreError> = []
    for denial in denials where isInForce(denial) {
      var count = 1...1
      if denial.reason == .isUsed {
        let sources = sources(of: denial.link, leadingTo: denial.subject.key).count
        count = sources...sources
      } else {
        // The error names no particular element that leaves a list too short, so its count is not compared.
        let alike = denials.filter { $0.link == denial.link && isInForce($0) }
        count = 1...alike.count
      }
      for count in count {
        errors.insert(
          .deleteDenied(
            record: name(denial.subject), key: text(denial.subject),
            by: kinds.text(of: denial.link), count: count))
      }
    }
    return errors
  }

  private func isInForce(_ denial: Denial) -> Bool {
    switch denial.reason {
    case .isUsed:
      return row(denial.subject) == nil
        && !sources(of: denial.link, leadingTo: denial.subject.key).isEmpty
    case .leads(let other): return row(denial.subject) == nil && row(other) != nil
    case .shortens(let other):
      guard let place = kinds.links[other.kind].firstIndex(of: denial.link),
        let targets = row(other)?.targets[place]
      else { return false }
      return targets.count < denial.link.bounds.lowerBound
    }
  }

  /// Deletes records, and cuts the references that lead to them.
  private mutating func remove(_ doomed: Set<Site>) {
    for site in doomed { rows[site.kind][site.key] = nil }
    for kind in rows.indices {
      for (place, link) in kinds.links[kind].enumerated()
      where link.isChecked && kinds.rule(of: link) == .nullify {
        for (key, row) in rows[kind] {
          guard let targets = row.targets[place] else { continue }
          let kept = targets.filter { !doomed.contains(Site(kind: link.destination, key: $0)) }
          if kept != targets { rows[kind][key]?.targets[place] = link.isList ? kept : nil }
        }
      }
    }
  }
}

// MARK: - Writing

extension RelationOracle {
  private mutating func write(
    _ site: Site, _ row: Row, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) -> Set<StoreError> {
    let before = (rows, denials)
    var errors = ownErrors(of: site, row)
    switch presence {
    case .isNew where self.row(site) != nil:
      errors.insert(.duplicateKey(record: name(site), key: text(site)))
    case .isThere where self.row(site) == nil:
      errors.insert(.noSuchRecord(record: name(site), key: text(site)))
    default: break
    }
    switch policy {
    case .refuse:
      for (other, constraint, _) in conflicts(of: site, row) {
        errors.insert(
          .uniqueConflict(
            record: name(other), constraint: constraint, key: text(other)))
      }
    case .replaceOther: errors.formUnion(clear(conflicts(of: site, row)))
    case .updateOther, .keepOther: fatalError("no history has these")
    }
    if errors.isEmpty { rows[site.kind][site.key] = row } else { (rows, denials) = before }
    return errors
  }

  /// The error of a record that is invalid by itself.
  private func ownErrors(of site: Site, _ row: Row) -> Set<StoreError> {
    var errors: Set<StoreError> = []
    for (link, targets) in zip(kinds.links[site.kind], row.targets) {
      guard link.isChecked, link.isList, let targets else { continue }
      if Set(targets).count != targets.count {
        errors.insert(
          .invalidValue(record: name(site), field: kinds.storedName(of: link), reason: ""))
      }
      let count = Set(targets).count
      if !link.bounds.contains(count) {
        errors.insert(
          .relationCount(
            record: name(site), key: text(site), relation: kinds.storedName(of: link), count: count)
        )
      }
    }
    return errors
  }

  /// Other records with the same unique values, the constraints, and what is in the way if it is an element of a list.
  private func conflicts(
    of site: Site, _ row: Row
  ) -> [(other: Site, constraint: String, element: (place: Int, target: Int)?)] {
    var conflicts: [(other: Site, constraint: String, element: (place: Int, target: Int)?)] = []
    for (key, other) in rows[site.kind] where key != site.key {
      let there = Site(kind: site.kind, key: key)
      if let code = row.code, code == other.code { conflicts.append((there, "code", nil)) }
      for (place, link) in kinds.links[site.kind].enumerated() where link.isUnique {
        let name = kinds.storedName(of: link)
        for target in Set(row.targets[place] ?? []).intersection(other.targets[place] ?? []) {
          conflicts.append(
            link.isList
              ? (there, "elements(\(name))", link.isChecked ? (place, target) : nil)
              : (there, name, nil))
        }
      }
    }
    return conflicts
  }

  /// Takes others out of the way.
  private mutating func clear(
    _ conflicts: [(other: Site, constraint: String, element: (place: Int, target: Int)?)]
  ) -> Set<StoreError> {
    var errors: Set<StoreError> = []
    let deleted = Set(conflicts.lazy.filter { $0.element == nil }.map(\.other))
    // An element of a list moves into that of the new record.
    for (other, _, element) in conflicts where !deleted.contains(other) {
      guard let element else { continue }
      rows[other.kind][other.key]?.targets[element.place]?.removeAll { $0 == element.target }
      let link = kinds.links[other.kind][element.place]
      let count = rows[other.kind][other.key]?.targets[element.place]?.count ?? 0
      if count < link.bounds.lowerBound {
        errors.insert(
          .relationCount(
            record: name(other), key: text(other), relation: kinds.storedName(of: link),
            count: count))
      }
    }
    delete(deleted)
    return errors
  }
}
