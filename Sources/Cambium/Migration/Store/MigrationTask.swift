/// One part of a migration. All of them in their order make a store one of the new version, but for the switch;
/// each is done in one commit, or in slices that are each a commit.
indirect enum MigrationTask: Sendable {
  case arrange(Arrangement)
  case convert(Conversion)
  case remake(Remake)
  case build(IndexBuild)
  case derive(Deriving)
  case run(HookRun)
  case check(StepCheck)
  case prove(ReferenceProof)

  /// Operations on whole trees, by name. They read no record.
  struct Arrangement: Sendable {
    /// Source and target: the target becomes the same tree.
    var copies: [(source: String, target: String)] = []
    var removed: [String] = []

    var isEmpty: Bool { copies.isEmpty && removed.isEmpty }
  }

  /// Rewrites the rows of one tree in place.
  struct Conversion: Sendable {
    let tree: String
    let record: RecordSchema
    let upgrade: RowUpgrade
    let layout: RowLayout

    var version: UInt32 { upgrade.version }
    var transform: RowTransform { RowTransform(upgrade, to: version, faults: .name(layout)) }
  }

  /// Rebuilds the records of one tree in others.
  struct Remake: Sendable {
    let source: RecordSchema
    /// The number of the record that is made of values.
    let target: UInt32
    let from: World
    let to: World
    let kind: Kind
    /// The names of what the records were and are, if they are kept elsewhere from now on.
    var move: (source: TypePlace, target: TypePlace)? = nil

    enum Kind: Sendable {
      case values(RowStep)
      case closure(TransformRecords, rules: [String: EmissionRules])
    }
  }

  /// An index made of the rows of its record.
  struct IndexBuild: Sendable {
    let record: UInt32
    let index: UInt32
    let tree: String
    /// With the index among its places.
    let world: World
  }

  /// A closure that changes a whole version.
  struct HookRun: Sendable {
    let name: String
    /// The version to which the step leads.
    let version: Int
    let types: [any Record.Type]
    let world: World
    let body: @Sendable (inout WriteTransaction) throws -> Void
  }

  struct StepCheck: Sendable {
    let check: CheckRecords
    let world: World
  }

  /// A version while it is made: its schema, and where its trees are.
  struct World: Sendable {
    let schema: Schema
    let places: TreePlaces

    /// The records of the version, with the Swift types that stand for some of them.
    ///
    /// - Throws: `.invalidDescription` if a type does not fit.
    func entities(
      _ names: TreeNames, _ types: [any Record.Type] = []
    ) throws(StoreError) -> Entities {
      try Entities(
        schema, model: try schema.checked(types: types), names: names, places: places)
    }
  }
}

extension MigrationTask {
  /// A description of the task, for traces and progress.
  var text: String {
    switch self {
    case .arrange: "arranging trees"
    case .convert(let task): "converting \(task.record.name)"
    case .remake(let task):
      switch task.kind {
      case .values:
        task.move.map { "making \($0.target.name) of \($0.source.name)" }
          ?? "putting \(task.source.name) together"
      case .closure: "transforming \(task.source.name)"
      }
    case .build(let task):
      "building the index \(task.indexName)"
    case .derive(let task): "computing derived fields of \(task.record.name)"
    case .run(let task): task.name
    case .check(let task): "checking that \(task.check.text)"
    case .prove(let task): "proving that \(task.text)"
    }
  }

  var kind: MigrationPlan.Work.Kind {
    switch self {
    case .arrange: .arrange
    case .convert: .convert
    case .remake(let task): if case .closure = task.kind { .transform } else { .rebuild }
    case .build: .buildIndex
    case .derive: .derive
    case .run: .program
    case .check: .check
    case .prove: .prove
    }
  }

  /// The version that it leads to.
  var version: UInt32 {
    switch self {
    case .arrange: 0
    case .convert(let task): task.version
    case .remake(let task): task.to.schema.storedVersion
    case .build(let task): task.world.schema.storedVersion
    case .derive(let task): task.world.schema.storedVersion
    case .run(let task): task.world.schema.storedVersion
    case .check(let task): task.world.schema.storedVersion
    case .prove(let task): task.world.schema.storedVersion
    }
  }

  /// The tree whose entries it reads, all of them.
  var readTree: String? {
    switch self {
    case .convert(let task): task.tree
    case .remake(let task): task.from.places.rows[task.source.number]
    case .build(let task): task.world.places.rows[task.record]
    case .derive(let task): task.world.places.rows[task.record.number]
    case .prove(let task): task.world.places.rows[task.place.record]
    case .arrange, .run, .check: nil
    }
  }
}

extension MigrationTask.IndexBuild {
  fileprivate var indexName: String {
    guard let record = world.schema.record(number: record) else { return "" }
    let index = record.indexes.first { $0.number == self.index }
    return "\(record.name): \(index?.name ?? "")"
  }
}
