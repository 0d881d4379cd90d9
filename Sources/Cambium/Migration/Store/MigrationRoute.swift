/// The steps from the version that a store has to the one that a program wants, and the reasons why they cannot be taken.
struct MigrationRoute: Sendable {
  let from: Schema
  /// The version that the program wants.
  let wanted: Int
  let hops: [Hop]
  /// The reasons why the steps cannot be taken.
  let faults: [MigrationFault]

  var to: Schema { hops.last?.change.to ?? from }

  /// One step, with what is inferred.
  struct Hop: Sendable {
    let change: SchemaChange
    let described: DescribedVersion
    /// The step that the program states, if it does.
    let step: MigrationStep?

    /// True if the store may have the new version before its rows do.
    var isDeferrable: Bool { isInferredUp && change.isDeferrable }

    fileprivate var isAdditive: Bool { isInferredUp && change.isAdditive }

    /// Why the step cannot be deferred though it can be made, by record and field.
    var deferralFaults: [MigrationPlan.Fault] {
      var faults = change.deferralFaults.filter { !change.faults.contains($0) }
      if !isInferredUp {
        let isBack = change.to.version < change.from.version
        let reason = isBack ? "it leads to an older version" : "the program states a part of it"
        faults.insert(MigrationFault(record: "Step", field: nil, reason: reason), at: 0)
      }
      return faults.map { .change(record: $0.record, field: $0.field, reason: $0.reason) }
    }

    private var isInferredUp: Bool {
      (step?.parts.isEmpty ?? true) && change.to.version > change.from.version
    }
  }

  /// The number of hops at the end that are published without rewriting rows.
  ///
  /// By default these are all or none: if one step has to rewrite rows, one pass takes them through all steps.
  func countLeft(by mode: MigrationMode, _ options: MigrationOptions) -> Int {
    if mode == .deferred { return hops.reversed().prefix(while: \.isDeferrable).count }
    return !options.stepwise && hops.allSatisfy(\.isAdditive) ? hops.count : 0
  }

  /// The records that are kept elsewhere in the end.
  ///
  /// - Throws: never for defaults, which are in no blobs.
  func moves() throws(StoreError) -> [KindMove] {
    try KindPlacing(from: from, to: to, through: hops.map(\.change)).moves.filter(\.changesPlace)
  }

  /// The first hops of it.
  func prefix(_ count: Int) -> MigrationRoute {
    let hops = Array(hops.prefix(count))
    return MigrationRoute(
      from: from, wanted: Int(hops.last?.change.to.version ?? from.version), hops: hops,
      faults: faults)
  }

  /// - Throws: `.cannotMigrate` if the steps cannot be taken.
  func check() throws(StoreError) {
    guard faults.isEmpty else {
      throw .cannotMigrate(
        from: Int(from.version), to: wanted, reasons: faults.map(\.description))
    }
  }
}

extension MigrationRoute {
  /// - Parameters:
  ///   - stored: The newest schema of the store.
  ///   - history: All schemas of the store.
  /// - Throws: `.schemaMismatch` where the model describes the store's version otherwise; `.newerSchema`
  ///   where the store has a newer version, and no step leads back; `.invalidDescription`.
  init(
    from stored: Schema, history: [Schema], to model: StoreModel, _ steps: [MigrationStep],
    _ options: MigrationOptions
  ) throws(StoreError) {
    from = stored
    wanted = model.version
    var resolved: [MigrationStep] = []
    for step in steps { resolved.append(try step.resolved(in: model)) }
    var finding = RouteFinding(stored, model, try model.describedVersions(), options)
    finding.look(at: resolved)
    // The program would take the steps that the lock names, so they decide the path, too.
    let named = model.namedSteps.filter { named in
      !resolved.contains { $0.stated.leads(as: named) }
    }
    let steps = resolved + named.map { MigrationStep($0) }
    if stored.version > model.version {
      try finding.goBack(by: steps, history)
    } else {
      try finding.checkStored()
      try finding.goUp(by: steps)
    }
    hops = finding.hops
    faults = finding.faults
  }
}

extension StoreModel {
  /// Checks the descriptions of all versions, and that a store of each version can be migrated by the steps, as far as that
  /// does not depend on its records. For a test of the program: opening a store checks only what that store needs.
  ///
  /// - Complexity: Quadratic in the versions.
  /// - Throws: `StoreError.invalidDescription`; `.cannotMigrate` with what is wrong with the steps from a version.
  public func check(
    _ steps: [MigrationStep], options: MigrationOptions = MigrationOptions()
  ) throws(StoreError) {
    let schemas = try schemas()
    for schema in schemas where schema.version >= options.oldestVersion {
      try MigrationRoute(
        from: schema, history: Array(schemas.prefix(schema.version)), to: self, steps, options
      ).check()
    }
  }
}

extension Schema {
  fileprivate var number: Int { Int(version) }
}

/// Finds the steps, one after the other.
private struct RouteFinding {
  private let stored: Schema
  private let model: StoreModel
  /// The descriptions of versions 1 and up.
  private let versions: [DescribedVersion]
  private let options: MigrationOptions
  private(set) var hops: [MigrationRoute.Hop] = []
  private(set) var faults: [MigrationFault] = []

  init(
    _ stored: Schema, _ model: StoreModel, _ versions: [DescribedVersion],
    _ options: MigrationOptions
  ) {
    self.stored = stored
    self.model = model
    self.versions = versions
    self.options = options
  }

  private var schema: Schema { hops.last?.change.to ?? stored }

  private mutating func refuse(_ reason: String) {
    faults.append(MigrationFault(record: "Step", field: nil, reason: reason))
  }

  /// Refuses steps that could never be meant so.
  mutating func look(at steps: [MigrationStep]) {
    for (index, step) in steps.enumerated() {
      let name = step.text
      if step.to < 1 || step.from.lowerBound < 1 {
        refuse("\(name): versions start at 1")
      } else if step.kind != .direct, step.from.upperBound >= step.to {
        refuse("\(name) leads in a circle; a step back is one from a single version")
      } else if step.from == step.to...step.to {
        refuse("\(name) leads from a version to itself")
      }
      if max(step.to, step.from.upperBound) > model.version, step.kind != .direct {
        refuse("\(name) is beyond the model's version, \(model.version)")
      }
      for other in steps[..<index]
      where other.kind == step.kind && other.from.overlaps(step.from)
        && (step.kind == .squashed || other.to == step.to)
      {
        refuse("\(name) is given twice: two steps lead from the same version")
      }
    }
  }

  /// Refuses a store that is not what the model says of its version.
  func checkStored() throws(StoreError) {
    guard stored.number <= versions.count else { return }
    var fresh: Schema?
    for described in versions[..<stored.number] {
      var numbering = Numbering(described, after: fresh)
      fresh = try numbering.schema(label: nil)
    }
    if let fresh, fresh.fingerprint != stored.fingerprint {
      throw .schemaMismatch(version: stored.number, differences: stored.differences(to: fresh))
    }
  }

  // MARK: Up

  mutating func goUp(by steps: [MigrationStep]) throws(StoreError) {
    if stored.number < options.oldestVersion {
      refuse(
        "stores below version \(options.oldestVersion) are no longer migrated; use a release of the"
          + " program that takes them there first")
    }
    while schema.number < model.version {
      let old = schema.number
      // The step that leads farthest, but not past the program's version.
      let usable = steps.filter { $0.from.contains(old) && $0.to > old && $0.to <= model.version }
      let step = usable.max { $0.to < $1.to || $0.to == $1.to && $0.kind.rank < $1.kind.rank }
      try go(to: step?.to ?? old + 1, by: step)
    }
    if hops.count > 1, !options.allowsSeveralSteps {
      refuse("it takes \(hops.count) steps, and only one at a time is allowed")
    }
  }

  /// Adds a step; what it does not state follows from the descriptions of the versions between.
  private mutating func go(to version: Int, by step: MigrationStep?) throws(StoreError) {
    let old = schema
    var between: [SchemaChange] = []
    var new = old
    for described in versions[old.number..<version] {
      let before = new
      var numbering = Numbering(described, after: before)
      new = try numbering.schema(label: model.label(of: described.version))
      if version > old.number + 1 {
        between.append(try SchemaChange(from: before, to: new, described: described))
      }
    }
    try add(old, new, versions[version - 1], step, between)
  }

  private mutating func add(
    _ old: Schema, _ new: Schema, _ described: DescribedVersion, _ step: MigrationStep?,
    _ between: [SchemaChange] = []
  ) throws(StoreError) {
    let change = try SchemaChange(
      from: old, to: new, described: described,
      given: step?.changes(from: old.number) ?? .none, between: between)
    faults += change.faults
    if let step { look(at: step, old, new) }
    hops.append(MigrationRoute.Hop(change: change, described: described, step: step))
    if let step { compareWithLock(step) } else { refuseLosses() }
  }

  // MARK: What a lock says

  /// Refuses a step that the lock names, and one that is given in its place but is another.
  private mutating func compareWithLock(_ step: MigrationStep) {
    if step.isElsewhere {
      return refuse(
        "version \(step.to) is made by \(step.stated.text) of the program, which the lock only names; open the store"
          + " with the program, or give this step, for the command in a file: --steps FILE")
    }
    if let named = model.namedSteps.first(where: { step.stated.leads(as: $0) }) {
      let isAnother =
        step.label.map { $0 != named.label } ?? false
        || step.revision != 0 && step.revision != named.revision
      if isAnother {
        refuse("\(step.stated.text) is given, and the program's is \(named.text) by the lock")
      }
    } else {
      let span = min(step.from.lowerBound, step.to)...max(step.from.upperBound, step.to)
      for passed in model.namedSteps
      where span.contains(passed.from.lowerBound) && span.contains(passed.to)
        && (passed.to > passed.from.lowerBound) == (step.to > step.from.lowerBound)
      {
        refuse(
          "\(step.stated.text) would pass over \(passed.text), which the program takes by the lock; give that step"
        )
      }
    }
  }

  /// Refuses an inferred step that removes something if the lock does not say that the program has no step there.
  private mutating func refuseLosses() {
    guard let stated = model.statedSteps, let hop = hops.last,
      stated[hop.change.to.number] == nil
    else { return }
    let removed = MigrationPlan.PlannedStep(hop).plannedChanges.compactMap { change in
      if case .difference(let difference, _) = change, difference.change == .removed {
        "\(difference)"
      } else {
        nil
      }
    }
    guard !removed.isEmpty else { return }
    refuse(
      "without a step of the program, \(removed.joined(separator: ", ")) in version \(hop.change.to.number), and the lock"
        + " does not say whether there is such a step; write the lock by SchemaLock.write(model, steps: steps, at: path),"
        + " open the store with the program, or give the steps, for the command in a file: --steps FILE, which is [] if"
        + " there are none")
  }

  // MARK: Back

  /// Adds the steps that lead back, to what the store itself says that each version was.
  ///
  /// - Throws: `.newerSchema` if no steps lead to the model's version; `.schemaMismatch`.
  mutating func goBack(by steps: [MigrationStep], _ history: [Schema]) throws(StoreError) {
    let known = Dictionary(
      history.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
    guard
      let path = stepsBack(steps.filter { known[$0.to] != nil }) ?? stepsBack(steps)
    else { throw .newerSchema(found: stored.number, supported: model.version) }
    for step in path {
      let stated = step.to == model.version ? try own(after: schema) : nil
      guard let old = known[step.to] ?? stated else {
        return refuse("the store has never had version \(step.to), so there is no way back to it")
      }
      // Numbers that were given since stay given.
      let back = Schema(
        version: old.storedVersion, label: old.label, records: old.records,
        nextNumber: max(old.nextNumber, schema.nextNumber))
      try add(schema, back, try described(old), step)
    }
  }

  /// Finds the steps back from the store's version to the model's: at each version the one that leads farthest,
  /// of those from which others lead on.
  private func stepsBack(_ steps: [MigrationStep]) -> [MigrationStep]? {
    let back = steps.filter { $0.kind == .direct && $0.to < $0.from.lowerBound }
    var open: Set = [model.version]
    for step in back.sortedRarely(by: { $0.from.lowerBound < $1.from.lowerBound })
    where open.contains(step.to) {
      open.insert(step.from.lowerBound)
    }
    var path: [MigrationStep] = []
    var version = stored.number
    while version > model.version {
      let usable = back.filter { $0.from.lowerBound == version && open.contains($0.to) }
      guard let step = usable.min(by: { $0.to < $1.to }) else { return nil }
      path.append(step)
      version = step.to
    }
    return path
  }

  /// The model's version for a store that has never had it: what has the same name in a newer version is the same.
  private func own(after newer: Schema) throws(StoreError) -> Schema {
    var previous = newer
    previous.storedVersion = UInt32(model.version)
    var numbering = Numbering(versions[model.version - 1], after: previous)
    return try numbering.schema(label: model.label)
  }

  /// Returns what the program describes of an older version. It has no descriptions of those above its own.
  private func described(_ old: Schema) throws(StoreError) -> DescribedVersion {
    guard old.number == model.version else {
      return try DescribedVersion(version: old.number, records: [], after: nil)
    }
    let fresh = try model.checked(after: old).schema
    guard fresh.fingerprint == old.fingerprint else {
      throw .schemaMismatch(version: model.version, differences: old.differences(to: fresh))
    }
    return versions[model.version - 1]
  }

  // MARK: What steps name

  /// Refuses what a step says of records or types that are not there.
  private mutating func look(at step: MigrationStep, _ old: Schema, _ new: Schema) {
    for transform in step.transforms {
      if transform.targets.isEmpty {
        refuse(
          "\(step.text) makes nothing of \(transform.source.name(in: old.number)); name what it makes"
        )
      }
      for target in transform.targets where target.place(in: new) == nil {
        refuse(
          "\(step.text) makes \(target.name(in: new.number)), which version \(new.number) does not have"
        )
      }
      check([transform.source.type].compactMap { $0 } + transform.read, old)
      check(transform.targets.compactMap(\.type), new)
    }
    for hook in step.before { check(hook.types, old) }
    for hook in step.after { check(hook.types, new) }
    for check in step.checks { self.check(check.types, new) }
  }

  private mutating func check(_ types: [any Record.Type], _ schema: Schema) {
    do throws(StoreError) {
      let model = try schema.checked(types: types)
      var names: Set<[String]> = []
      for record in model.records
      where !names.insert([record.schema.name, record.kind ?? ""]).inserted {
        refuse("two types stand for \(record.schema.name) in version \(schema.number)")
      }
    } catch {
      refuse("\(error)")
    }
  }
}

extension StoreModel {
  /// The steps that the lock names that the model was made of.
  fileprivate var namedSteps: [StatedStep] {
    (statedSteps ?? [:]).sortedRarely { $0.key < $1.key }.flatMap(\.value)
  }
}

extension MigrationStep {
  /// The name in plans, traces and errors.
  var text: String {
    let old =
      from.lowerBound == from.upperBound
      ? "\(from.lowerBound)" : "\(from.lowerBound)–\(from.upperBound)"
    return "step \(old) → \(to)" + (label.map { " “\($0)”" } ?? "")
  }
}

extension MigrationStep.Kind {
  /// The rank of the kind: of two steps that lead equally far, the more specific one is taken.
  fileprivate var rank: Int {
    switch self {
    case .next: 0
    case .squashed: 1
    case .direct: 2
    }
  }
}
