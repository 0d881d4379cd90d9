/// All tasks of a migration, and where the trees of the new version are when they are done.
///
/// The old version's trees are only read; what is made is in trees of its own (`MadeTree`) until the switch moves them.
/// Consecutive steps that look at one row at a time are done in one pass.
struct MigrationTasks: Sendable {
  let route: MigrationRoute
  private(set) var tasks: [MigrationTask] = []
  /// All trees that the tasks make.
  private(set) var made: [String] = []
  /// The places of the trees of the version so far.
  private(set) var places: TreePlaces
  private var schema: Schema
  /// Trees that the tasks made and that nothing needs any more.
  private var garbage: [String] = []

  /// - Throws: `.invalidDescription`.
  init(_ route: MigrationRoute, stepwise: Bool) throws(StoreError) {
    self.route = route
    schema = route.from
    places = TreePlaces(of: route.from)
    for hops in Self.stages(of: route.hops, stepwise: stepwise) { try add(hops) }
    buildMissingIndexes()
    for place in route.unproved {
      tasks.append(.prove(MigrationTask.ReferenceProof(place: place, world: world)))
    }
  }

  /// Hops that are done in one pass.
  private static func stages(
    of hops: [MigrationRoute.Hop], stepwise: Bool
  ) -> [[MigrationRoute.Hop]] {
    var stages: [[MigrationRoute.Hop]] = []
    for hop in hops {
      let reads = hop.change.records.contains { !$0.sources.isEmpty || $0.endsDerivations }
      // What closures are given is computed before, and what is not derived any more.
      let isUnderived = reads && stages.last?.contains { !$0.change.underived().isEmpty } ?? false
      if !stepwise, !isUnderived, hop.isOfRows, stages.last?.last?.isOfRows ?? false {
        stages[stages.count - 1].append(hop)
      } else {
        stages.append([hop])
      }
    }
    return stages
  }

  private var world: MigrationTask.World { MigrationTask.World(schema: schema, places: places) }

  private mutating func fresh(_ name: String) -> String {
    let name = MadeTree.name(made.count, for: name)
    made.append(name)
    return name
  }

  private func isLive(_ tree: String) -> Bool { !MadeTree.isName(tree) }
}

extension MigrationRoute.Hop {
  fileprivate var isOfRows: Bool {
    (step?.isOfRows ?? true) && !isBack && change.adding.isEmpty
      && change.records.allSatisfy { $0.kind != .records && $0.share == nil }
  }

  fileprivate var isBack: Bool { change.to.version < change.from.version }

  /// True if closures or paths read the version before as a whole.
  fileprivate var readsVersion: Bool {
    (step?.transforms ?? []).contains(where: \.body.readsVersion)
      || change.all.contains { $0.sources.values.contains(where: \.readsVersion) }
  }

  fileprivate func record(_ number: UInt32) -> RecordChange? {
    change.records.first { $0.old.number == number }
  }
}

// MARK: Swift types of hooks and checks

extension MigrationTasks {
  /// The hooks and checks whose Swift types do not stand for the records of the version that they are run in.
  func misfits(_ names: TreeNames) -> [MigrationPlan.Fault] {
    tasks.compactMap { task in
      do throws(StoreError) {
        switch task {
        case .run(let hook): _ = try hook.world.entities(names, hook.types)
        case .check(let check): _ = try check.world.entities(names, check.check.types)
        default: break
        }
        return nil
      } catch {
        guard case .invalidDescription(let record, let field, let version, let reason) = error
        else { return nil }
        return .change(
          record: record, field: field,
          reason:
            "\(task.text) takes it by a Swift type that does not fit version \(version): \(reason). Name a type that"
            + " is as that version was, or none, and take the records as `DynamicRecord`s, as fetch(record:key:) and"
            + " save(_:) do")
      }
    }
  }
}

// MARK: One stage

extension MigrationTasks {
  private mutating func add(_ hops: [MigrationRoute.Hop]) throws(StoreError) {
    guard let first = hops.first, let last = hops.last else { return }
    for hook in first.step?.before ?? [] {
      addHook(
        "running what comes before version \(last.change.to.version)", last.change.to.storedVersion,
        hook.types, hook.body)
    }
    let readsVersion = hops.contains(where: \.readsVersion)
    if readsVersion { buildMissingIndexes() }
    let old = world
    var changes = Changes(places: places, keepsOld: readsVersion)
    for record in last.change.to.records { try place(record, hops, &changes) }
    let transforms = last.step?.transforms ?? []
    for transform in transforms {
      for target in transform.targets {
        if let record = target.place(in: last.change.to)?.record { own(record, &changes) }
      }
    }
    for move in last.change.adding {
      own(move.new, &changes)
      changes.setsAside = changes.setsAside || move.sources.values.contains(where: \.setsAside)
    }
    drop(old, last.change.to, &changes)
    places = changes.places
    schema = last.change.to
    if changes.setsAside, isLive(places.aside) {
      let tree = fresh(places.aside)
      changes.arrangement.copies.append((places.aside, tree))
      places.aside = tree
    }
    if !changes.arrangement.isEmpty { tasks.append(.arrange(changes.arrangement)) }
    tasks += changes.conversions.map { .convert($0) }
    for (record, conversion) in changes.remade {
      tasks.append(
        .remake(
          MigrationTask.Remake(
            source: record, target: record.number, from: old, to: world, kind: .values(conversion)))
      )
    }
    for move in last.change.adding {
      let step = try RowStep(
        move, from: last.change.from.storedVersion, to: last.change.to.storedVersion)
      tasks.append(
        .remake(
          MigrationTask.Remake(
            source: move.old, target: move.new.number, from: old, to: world, kind: .values(step),
            move: move.places)))
    }
    for transform in transforms { try addTransform(transform, old, last) }
    addDerivations(hops)
    for hook in last.step?.after ?? [] {
      addHook(
        "running what comes after version \(schema.version)", schema.storedVersion, hook.types,
        hook.body)
    }
    for check in last.step?.checks ?? [] {
      tasks.append(.check(MigrationTask.StepCheck(check: check, world: world)))
    }
    if !garbage.isEmpty {
      tasks.append(.arrange(MigrationTask.Arrangement(removed: garbage)))
      garbage = []
    }
  }

  private struct Changes {
    var places: TreePlaces
    /// True if the old version is read as a whole while the new one is made, so that none of its trees may change.
    let keepsOld: Bool
    var arrangement = MigrationTask.Arrangement()
    var conversions: [MigrationTask.Conversion] = []
    var remade: [(RecordSchema, RowStep)] = []
    var setsAside = false
  }

  /// Finds where the rows and indexes of a record of the new version come from.
  private mutating func place(
    _ new: RecordSchema, _ hops: [MigrationRoute.Hop], _ changes: inout Changes
  ) throws(StoreError) {
    guard let old = schema.record(number: new.number), let source = places.rows[old.number],
      let chain = chain(of: new.number, hops)
    else {
      changes.places.rows[new.number] = fresh(Entity.name(ofRows: new.number))
      for index in new.indexes {
        // Empty, and so whole already.
        changes.places.indexes[index.number] = fresh(Entity.name(ofIndex: index.number))
      }
      return
    }
    // Rows of a version are replaced by those of a higher one; on the way back, records are put together.
    let isBack = hops.contains { $0.isBack }
    if let change = chain.first(where: {
      isBack || $0.kind == .records || $0.share != nil
    }), let hop = hops.first {
      changes.places.rows[new.number] = fresh(Entity.name(ofRows: new.number))
      let (from, to) = (hop.change.from.storedVersion, hop.change.to.storedVersion)
      if change.share != KindShare() {
        changes.remade.append((old, try RowStep(change, from: from, to: to)))
      }
      changes.setsAside = changes.setsAside || change.sources.values.contains(where: \.setsAside)
      for index in new.indexes { forget(index, &changes) }
      discard(source)
    } else if let upgrade = try Self.upgrade(chain, hops) {
      var tree = source
      if changes.keepsOld || isLive(source) {
        tree = fresh(Entity.name(ofRows: new.number))
        changes.arrangement.copies.append((source, tree))
        discard(source)
      }
      changes.places.rows[new.number] = tree
      changes.conversions.append(
        MigrationTask.Conversion(
          tree: tree, record: new, upgrade: upgrade,
          layout: try RowLayout(old, version: schema.storedVersion)))
    }
    // A part of an optional composite gets values in place of nulls, or loses some, but its index stays the same: records may
    // still be without the composite.
    for index in new.indexes
    where chain.contains(where: { index.isTouched(by: $0, of: new) }) {
      forget(index, &changes)
    }
  }

  /// Returns the changes of a record through all hops; nil if it is not the same record throughout.
  private func chain(of number: UInt32, _ hops: [MigrationRoute.Hop]) -> [RecordChange]? {
    var chain: [RecordChange] = []
    for hop in hops {
      guard let change = hop.record(number) else { return nil }
      chain.append(change)
    }
    return chain
  }

  /// - Returns: nil if no hop changes the rows.
  private static func upgrade(
    _ chain: [RecordChange], _ hops: [MigrationRoute.Hop]
  ) throws(StoreError) -> RowUpgrade? {
    guard let last = hops.last else { return nil }
    return try RowUpgrade(
      zip(chain, hops).map { ($0, $1.change.from.storedVersion, $1.change.to.storedVersion) },
      to: last.change.to.storedVersion)
  }

  /// Sees to it that records can be added to a tree.
  private mutating func own(_ record: RecordSchema, _ changes: inout Changes) {
    guard let tree = changes.places.rows[record.number] else { return }
    let isOld = changes.keepsOld && places.rows.values.contains(tree)
    if isOld || isLive(tree) {
      let copy = fresh(Entity.name(ofRows: record.number))
      changes.arrangement.copies.append((tree, copy))
      discard(tree)
      changes.places.rows[record.number] = copy
    }
    for index in record.indexes { forget(index, &changes) }
  }

  /// Takes out what the new version does not have.
  private mutating func drop(
    _ old: MigrationTask.World, _ new: Schema, _ changes: inout Changes
  ) {
    for record in old.schema.records {
      let kept = new.record(number: record.number)
      if kept == nil, let tree = changes.places.rows.removeValue(forKey: record.number) {
        discard(tree)
      }
      if let kept, changes.places.rows[kept.number] != old.places.rows[record.number],
        let tree = old.places.rows[record.number],
        !changes.arrangement.copies.contains(where: { $0.source == tree })
      {
        discard(tree)
      }
      let indexes = Set(kept?.indexes.map(\.number) ?? [])
      for index in record.indexes where !indexes.contains(index.number) {
        forget(index, &changes)
      }
    }
  }

  private mutating func forget(_ index: IndexSchema, _ changes: inout Changes) {
    guard let tree = changes.places.indexes.removeValue(forKey: index.number) else { return }
    discard(tree)
  }

  private mutating func discard(_ tree: String) {
    if !isLive(tree), !garbage.contains(tree) { garbage.append(tree) }
  }

  private mutating func addTransform(
    _ transform: TransformRecords, _ old: MigrationTask.World, _ hop: MigrationRoute.Hop
  ) throws(StoreError) {
    guard let source = transform.source.place(in: old.schema)?.record else { return }
    var rules: [String: EmissionRules] = [:]
    for target in transform.targets {
      guard let record = target.place(in: schema)?.record,
        let described = hop.described.record(named: record.name)
      else { continue }
      rules[record.name] = EmissionRules(
        described, try RowLayout(record, version: schema.storedVersion))
    }
    tasks.append(
      .remake(
        MigrationTask.Remake(
          source: source, target: source.number, from: old, to: world,
          kind: .closure(transform, rules: rules))))
  }
}

extension RecordSchema {
  /// Returns true if entries of an index depend on derived fields. Conditions name fields, so they are not examined.
  fileprivate func hasDerived(_ index: IndexSchema) -> Bool {
    index.condition != nil || index.parts.contains { field($0.field)?.derivation != nil }
  }
}

// MARK: Whole versions

extension MigrationTasks {
  /// Before a closure changes a version, all of it is the migration's own, and its indexes are whole.
  private mutating func addHook(
    _ name: String, _ version: UInt32, _ types: [any Record.Type],
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    buildMissingIndexes()
    var arrangement = MigrationTask.Arrangement()
    func owned(_ tree: String, _ tasks: inout MigrationTasks) -> String {
      if !tasks.isLive(tree) { return tree }
      let copy = tasks.fresh(tree)
      arrangement.copies.append((tree, copy))
      return copy
    }
    for trees in [\TreePlaces.rows, \TreePlaces.indexes] {
      for (number, tree) in places[keyPath: trees].sortedRarely(by: { $0.key < $1.key }) {
        places[keyPath: trees][number] = owned(tree, &self)
      }
    }
    places.metadata = owned(places.metadata, &self)
    if !arrangement.isEmpty { tasks.append(.arrange(arrangement)) }
    tasks.append(
      .run(
        MigrationTask.HookRun(
          name: name, version: Int(version), types: types, world: world, body: body)))
  }

  /// Computes the derived fields that the rows of a version do not have yet, by indexes of the references that they are
  /// computed of.
  private mutating func addDerivations(_ hops: [MigrationRoute.Hop]) {
    var numbers: Set<UInt32> = []
    for hop in hops {
      numbers.formUnion(hop.change.underived(UnknownRecords(names: hop.emittedNames)))
    }
    let records = schema.records.filter { numbers.contains($0.number) }
    if records.isEmpty { return }
    var changes = Changes(places: places, keepsOld: false)
    for record in records {
      guard let tree = places.rows[record.number] else { continue }
      if isLive(tree) {
        let copy = fresh(Entity.name(ofRows: record.number))
        changes.arrangement.copies.append((tree, copy))
        changes.places.rows[record.number] = copy
      }
      for index in record.indexes where record.hasDerived(index) { forget(index, &changes) }
    }
    places = changes.places
    if !changes.arrangement.isEmpty { tasks.append(.arrange(changes.arrangement)) }
    buildMissingIndexes { record, index in
      !(numbers.contains(record.number) && record.hasDerived(index))
    }
    for record in records {
      tasks.append(.derive(MigrationTask.Deriving(record: record, world: world)))
    }
  }

  private mutating func buildMissingIndexes(
    where isBuilt: (RecordSchema, IndexSchema) -> Bool = { _, _ in true }
  ) {
    for record in schema.records {
      for index in record.indexes
      where places.indexes[index.number] == nil && isBuilt(record, index) {
        let tree = fresh(Entity.name(ofIndex: index.number))
        places.indexes[index.number] = tree
        tasks.append(
          .build(
            MigrationTask.IndexBuild(
              record: record.number, index: index.number, tree: tree, world: world)))
      }
    }
  }

  /// The changes of the switch: trees that replace others, and trees that are no longer needed.
  var switching: (moves: [(source: String, target: String)], removed: [String]) {
    var moves: [(source: String, target: String)] = []
    let canonical = TreePlaces(of: schema)
    for (made, whole) in [(places.rows, canonical.rows), (places.indexes, canonical.indexes)] {
      for (number, tree) in whole.sortedRarely(by: { $0.key < $1.key }) {
        if let place = made[number], place != tree { moves.append((place, tree)) }
      }
    }
    for (place, name) in [
      (places.metadata, Entities.metadataName), (places.aside, Entities.asideName),
    ] where place != name {
      moves.append((place, name))
    }
    let sources = Set(moves.map(\.source))
    let gone = TreePlaces(of: route.from).trees.subtracting(canonical.trees)
    return (moves, gone.sortedRarely() + made.filter { !sources.contains($0) })
  }
}
