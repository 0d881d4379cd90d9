import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Random transactions on random kinds, in a store and in an oracle.
final class RelationHistory {
  private struct Undo: Error {}

  let kinds: RelatedKinds
  private var random: SplitMix64
  private var oracle: RelationOracle
  private let store: PersistentStore
  /// The highest number of a record.
  private let highest: Int
  private(set) var counts = Counts()

  struct Counts {
    var commits = 0
    var refusedCommits = 0
    var refusedCalls = 0
    var denials = 0
    var deletions = 0

    mutating func add(_ other: Counts) {
      commits += other.commits
      refusedCommits += other.refusedCommits
      refusedCalls += other.refusedCalls
      denials += other.denials
      deletions += other.deletions
    }
  }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    var kinds = RelatedKinds.random(&random)
    kinds.derivedPlace = [.none, .record, .hierarchy, .composite][Int((seed + seed / 8) % 4)]
    self.kinds = kinds
    oracle = RelationOracle(kinds)
    highest = Int.random(in: 2...7, using: &random)
    if seed % 8 == 0 {
      // One that folds and spills all the time.
      var options = EngineOptions.small(foldThreshold: 8 << 10)
      options.nodeSizes = .forLongKeys
      options.transactionBudget = 4 << 10
      let backend = try EngineBackend(
        alone: SimulatedFileSystem(), options, creating: true, seed: seed)
      let opening = try StoreOpening(kinds.model, steps: [], .automatic, StoreOptions())
      store = PersistentStore(try opening.open(backend), StoreOptions())
    } else {
      store = try PersistentStore(inMemory: kinds.model)
    }
  }

  func run(transactions: Int) throws {
    for number in 0..<transactions {
      do {
        try transaction()
        try compare(try store.snapshot())
        if number % 16 == 0 || number == transactions - 1 { try check() }
      } catch {
        throw Disagreement(description: "transaction \(number) of \(kinds): \(error)")
      }
    }
    try store.close()
  }

  private func transaction() throws {
    let before = oracle
    do {
      try store.write { transaction in
        try change(&transaction, depth: 0)
        if !random.chance(8) { try mend(&transaction) }
        if random.chance(12) { try compare(transaction) }
        if random.chance(12) { throw Undo() }
      }
      let faults = oracle.faults
      try agree(faults.isEmpty, "committed in spite of \(faults)")
      oracle.commit()
      counts.commits += 1
    } catch let error as StoreError {
      let faults = oracle.faults
      try agree(faults.contains(error), "\(error) at the commit, expected \(faults)")
      oracle = before
      counts.refusedCommits += 1
      if case .deleteDenied = error { counts.denials += 1 }
    } catch is Undo {
      oracle = before
    }
  }

  private func change(_ transaction: inout WriteTransaction, depth: Int) throws {
    for _ in 0..<Int.random(in: 1...(depth == 0 ? 6 : 3), using: &random) {
      if depth < 2, random.chance(10) {
        let before = oracle
        do {
          try transaction.savepoint { transaction in
            try change(&transaction, depth: depth + 1)
            if random.chance(2) { throw Undo() }
          }
        } catch is Undo {
          oracle = before
          if random.chance(3) { try compare(transaction) }
        }
      } else {
        try perform(operation(), &transaction)
      }
    }
  }

  private func perform(
    _ operation: RelationOracle.Operation, _ transaction: inout WriteTransaction
  ) throws {
    let expected = oracle.perform(operation)
    do {
      try run(operation, &transaction)
      try agree(expected.isEmpty, "\(operation) succeeded, expected \(expected)")
    } catch let error as StoreError {
      try agree(
        expected.contains(error.withoutReason),
        "\(operation) threw \(error), expected \(expected)")
      counts.refusedCalls += 1
    }
  }

  private func run(
    _ operation: RelationOracle.Operation, _ transaction: inout WriteTransaction
  ) throws {
    switch operation {
    case .write(let site, let row, let presence, let policy):
      let record = kinds.record(site.key, row, of: site.kind)
      if presence == .any { return try transaction.save(record, onConflict: policy) }
      let entity = try transaction.entities.entity(named: record.name)
      try record.encode(
        to: transaction.buffers.row, key: transaction.buffers.key, layout: entity.layout,
        defaults: entity.defaults)
      try transaction.writeRow(of: entity, presence, policy)
    case .delete(let kind, let keys):
      let name = kinds.kinds[kind].name
      counts.deletions += 1
      if keys.count == 1 {
        let values = kinds.keyValues(keys[0], of: kind)
        _ =
          try values.count == 1
          ? transaction.delete(record: name, key: values[0])
          : transaction.delete(record: name, key: values[0], values[1])
        return
      }
      let entity = try transaction.entities.entity(named: name)
      let encoder = KeyEncoder()
      var encoded: [Bytes] = []
      for key in keys {
        try encoder.encode(primaryKey: kinds.keyValues(key, of: kind), of: entity)
        encoded.append(encoder.key.array())
      }
      if transaction.writer.hasRules(for: entity) {
        _ = try transaction.delete(encoded, of: entity)
      } else {
        for key in encoded { _ = try transaction.writer.delete(key.rawSpan, of: entity) }
      }
    case .deleteAll(let kind):
      counts.deletions += 1
      let entity = try transaction.entities.entity(named: kinds.kinds[kind].name)
      try transaction.writer.deleteAllWithHooks(of: entity)
    }
  }
}

// MARK: - Choices

extension RelationHistory {
  private func operation() -> RelationOracle.Operation {
    let kind = Int.random(in: 0..<kinds.kinds.count, using: &random)
    switch random.next() % 40 {
    case 0: return .deleteAll(kind: kind)
    case 1..<4:
      // As a query finds them.
      let note = Int.random(in: 0..<3, using: &random)
      return .delete(
        kind: kind, keys: oracle.rows[kind].filter { $0.value.note == note }.keys.sorted())
    case 4..<10: return .delete(kind: kind, keys: [key(of: kind)])
    default:
      let site = RelationOracle.Site(kind: kind, key: key(of: kind))
      return .write(
        site, row(of: site, loose: true), random.pick([.any, .any, .isNew, .isThere]),
        random.chance(2) ? .replaceOther : .refuse)
    }
  }

  private func key(of kind: Int) -> Int {
    let number = Int.random(in: 0...highest, using: &random)
    switch kinds.kinds[kind].key {
    case .number: return number
    case .link(let place): return target(of: kinds.links[kind][place], loose: true)
    case .linkFirst(let place):
      return target(of: kinds.links[kind][place], loose: true) * 100 + number
    case .linkSecond(let place):
      return number * 100 + target(of: kinds.links[kind][place], loose: true)
    }
  }

  /// - Parameter loose: True for some references that lead nowhere, lists that are too long and the like.
  private func row(of site: RelationOracle.Site, loose: Bool) -> RelationOracle.Row {
    let keyLink = kinds.kinds[site.kind].key.link
    let targets = kinds.links[site.kind].enumerated().map { place, link -> [Int]? in
      if place == keyLink { return [kinds.target(inKey: site.key, of: site.kind)] }
      switch link.shape {
      case .required: return [target(of: link, loose: loose)]
      case .optional: return random.chance(3) ? nil : [target(of: link, loose: loose)]
      case .optionalList where random.chance(4): return nil
      case .list, .optionalList: return list(of: link, loose: loose)
      }
    }
    return RelationOracle.Row(
      targets: targets,
      code: kinds.kinds[site.kind].hasCode && random.chance(2)
        ? Int.random(in: 0..<5, using: &random) : nil,
      note: Int.random(in: 0..<5, using: &random))
  }

  private func target(of link: RelatedKinds.Link, loose: Bool) -> Int {
    let there = oracle.rows[link.destination].keys.sorted()
    if there.isEmpty || loose && random.chance(8) {
      return key(of: link.destination)
    }
    return random.pick(there)
  }

  private func list(of link: RelatedKinds.Link, loose: Bool) -> [Int] {
    var least = link.bounds.lowerBound
    var most = min(link.bounds.upperBound, 4)
    if loose, random.chance(12) { (least, most) = (0, 5) }
    var list: [Int] = []
    for _ in 0..<Int.random(in: least...most, using: &random) {
      for _ in 0..<4 {
        let target = target(of: link, loose: loose)
        if list.contains(target), !(loose && link.isChecked && random.chance(40)) { continue }
        list.append(target)
        break
      }
    }
    return list
  }
}

// MARK: - Mending

extension RelationHistory {
  /// Adds what references lead to, and does something about numbers that are not within their bounds.
  private func mend(_ transaction: inout WriteTransaction) throws {
    for _ in 0..<12 {
      if let site = oracle.missingSites.min(by: { ($0.kind, $0.key) < ($1.kind, $1.key) }) {
        try perform(
          .write(site, row(of: site, loose: false), .any, .refuse), &transaction)
      } else if let (link, inverse, site, count) = oracle.wrongCounts.min(by: {
        ($0.0.name, $0.2.key) < ($1.0.name, $1.2.key)
      }) {
        let place = kinds.links[link.owner].firstIndex(of: link) ?? 0
        if count < inverse.bounds.lowerBound {
          try perform(operation(adding: site.key, at: place, of: link), &transaction)
        } else {
          let source = random.pick(oracle.sources(of: link, leadingTo: site.key))
          try perform(.delete(kind: link.owner, keys: [source]), &transaction)
        }
      } else {
        return
      }
    }
  }

  /// A write by which one more record leads to `key`.
  private func operation(
    adding key: Int, at place: Int, of link: RelatedKinds.Link
  ) -> RelationOracle.Operation {
    let number = Int.random(in: 0...highest, using: &random)
    let source: Int
    switch kinds.kinds[link.owner].key {
    case .link(place): source = key
    case .linkFirst(place): source = key * 100 + number
    case .linkSecond(place): source = number * 100 + key
    default: source = self.key(of: link.owner)
    }
    let site = RelationOracle.Site(kind: link.owner, key: source)
    var row = oracle.row(site) ?? row(of: site, loose: false)
    if !kinds.isInKey(link) {
      var list = link.isList ? row.targets[place] ?? [] : []
      if !list.contains(key) { list.append(key) }
      if list.count > link.bounds.upperBound { list.removeFirst() }
      row.targets[place] = list
    }
    return .write(site, row, .any, .replaceOther)
  }
}

// MARK: - Comparing

extension RelationHistory {
  private func compare(_ reader: borrowing some RecordReading & ~Copyable) throws {
    for (kind, rows) in oracle.rows.enumerated() {
      let expected = rows.sorted { $0.key < $1.key }
      let found = try reader.fetch(record: kinds.kinds[kind].name)
      let records = expected.map { kinds.record($0.key, $0.value, of: kind, among: oracle) }
      try agree(found == records, "there is \(found) instead of \(records)")
    }
    // One way back of one record, another each time.
    guard let link = kinds.links.joined().randomElement(using: &random) else { return }
    let key = key(of: link.destination)
    let found = try reader.fetch(
      record: kinds.kinds[link.owner].name, where: kinds.condition(link, leadsTo: key))
    let expected = oracle.sources(of: link, leadingTo: key).compactMap { source in
      oracle.rows[link.owner][source].map {
        kinds.record(source, $0, of: link.owner, among: oracle)
      }
    }
    try agree(
      Set(found) == Set(expected) && found.count == expected.count,
      "\(link.name) leads to \(key) from \(found) instead of \(expected)")
  }

  /// All ways back, and the store's own check.
  private func check() throws {
    let snapshot = try store.snapshot()
    let faults = try snapshot.check()
    try agree(faults.isEmpty, "\(faults)")
    for link in kinds.links.joined() {
      for key in oracle.rows[link.destination].keys {
        let count = try snapshot.count(
          record: kinds.kinds[link.owner].name, where: kinds.condition(link, leadsTo: key))
        let expected = oracle.sources(of: link, leadingTo: key).count
        try agree(count == expected, "\(count), not \(expected) lead to \(key) by \(link.name)")
      }
    }
  }
}

extension StoreError {
  /// The error without what is said of a value.
  fileprivate var withoutReason: StoreError {
    guard case .invalidValue(let record, let field, _) = self else { return self }
    return .invalidValue(record: record, field: field, reason: "")
  }
}
