/// One part of a migration. All of them in their order make a store one of the new version, but for the switch;
/// each is done in one commit, or in slices that are each a commit.
enum MigrationTask: Sendable {
  case arrange(Arrangement)
  case convert(Conversion)
  case remake(Remake)
  case build(IndexBuild)
  case run(HookRun)
  case check(StepCheck)

  /// Operations on whole trees, by name. They read no record.
  struct Arrangement: Sendable {
    /// Source and target: the target becomes the same tree.
    var copies: [(source: String, target: String)] = []
    var removed: [String] = []

    var isEmpty: Bool { copies.isEmpty && removed.isEmpty }
  }

  /// Rows of one tree made anew in their places.
  struct Conversion: Sendable {
    let tree: String
    let record: RecordSchema
    let upgrade: RowUpgrade
    let layout: RowLayout

    var version: UInt32 { upgrade.version }
    var transform: RowTransform { RowTransform(upgrade, to: version, faults: .name(layout)) }
  }

  /// Records of one tree put together anew, in others.
  struct Remake: Sendable {
    let source: RecordSchema
    let from: World
    let to: World
    let kind: Kind

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
      case .values: "putting \(task.source.name) together"
      case .closure: "transforming \(task.source.name)"
      }
    case .build(let task):
      "building the index \(task.indexName)"
    case .run(let task): task.name
    case .check(let task): "checking that \(task.check.text)"
    }
  }

  var kind: MigrationPlan.Work.Kind {
    switch self {
    case .arrange: .arrange
    case .convert: .convert
    case .remake(let task): if case .closure = task.kind { .transform } else { .rebuild }
    case .build: .buildIndex
    case .run: .program
    case .check: .check
    }
  }

  /// The version that it leads to.
  var version: UInt32 {
    switch self {
    case .arrange: 0
    case .convert(let task): task.version
    case .remake(let task): task.to.schema.storedVersion
    case .build(let task): task.world.schema.storedVersion
    case .run(let task): task.world.schema.storedVersion
    case .check(let task): task.world.schema.storedVersion
    }
  }

  /// The tree whose entries it reads, all of them.
  var readTree: String? {
    switch self {
    case .convert(let task): task.tree
    case .remake(let task): task.from.places.rows[task.source.number]
    case .build(let task): task.world.places.rows[task.record]
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
