/// How a store comes from the version it has to another: what all steps together do to each tree.
///
/// Steps are inferred one by one; then, as far as they look at one row at a time, they are done in one pass.
struct MigrationPlan: Sendable {
  let from: Schema
  let steps: [SchemaChange]
  /// Of the records that both have and whose rows change.
  let conversions: [RecordPass]
  let builtIndexes: [IndexBuild]
  /// Trees that the last version does not have.
  let droppedTrees: [String]

  var to: Schema { steps.last?.to ?? from }

  /// The rows of one record type, taken through all steps.
  struct RecordPass: Sendable {
    let number: UInt32
    private let version: UInt32
    private let conversions: [RowConversion]
    private let layout: RowLayout

    var transform: RowTransform { RowTransform(to: version, conversions, from: layout) }

    /// The tree that the rows are made anew in, before it takes the place of the old.
    var target: String { "m.\(RecordTrees.name(ofRows: number))" }
  }

  /// An index that the last version has and the first has not.
  struct IndexBuild: Sendable {
    let record: UInt32
    let index: IndexSchema
  }

  /// - Parameter steps: In their order, at least one; each goes on where the one before ends.
  /// - Throws: `.invalidDescription`.
  init(_ steps: [SchemaChange], from: Schema) throws(StoreError) {
    self.from = from
    self.steps = steps
    let to = steps.last?.to ?? from
    var conversions: [RecordPass] = []
    var builds: [IndexBuild] = []
    for record in to.records {
      let old = from.record(number: record.number)
      let known = Set(old?.indexes.map(\.number) ?? [])
      for index in record.indexes where !known.contains(index.number) {
        builds.append(IndexBuild(record: record.number, index: index))
      }
      if let old, let pass = try RecordPass(old, steps, from: from, to: to) {
        conversions.append(pass)
      }
    }
    self.conversions = conversions
    builtIndexes = builds
    droppedTrees = Self.dropped(from: from, to: to)
  }

  private static func dropped(from: Schema, to: Schema) -> [String] {
    var dropped: [String] = []
    for record in from.records {
      let new = to.record(number: record.number)
      if new == nil { dropped.append(RecordTrees.name(ofRows: record.number)) }
      let kept = Set(new?.indexes.map(\.number) ?? [])
      for index in record.indexes where !kept.contains(index.number) {
        dropped.append(RecordTrees.name(ofIndex: index.number))
      }
    }
    return dropped
  }
}

extension MigrationPlan.RecordPass {
  /// - Returns: nil where no step changes the rows.
  fileprivate init?(
    _ record: RecordSchema, _ steps: [SchemaChange], from: Schema, to: Schema
  ) throws(StoreError) {
    var conversions: [RowConversion] = []
    for step in steps {
      guard let change = step.records.first(where: { $0.old.number == record.number }) else {
        // It was removed; what has its name later is another.
        return nil
      }
      guard change.rewritesRows else { continue }
      conversions.append(
        RowConversion(
          change, from: try RowLayout(change.old, version: step.from.version),
          to: try RowLayout(change.new, version: step.to.version)))
    }
    if conversions.isEmpty { return nil }
    number = record.number
    version = to.version
    self.conversions = conversions
    layout = try RowLayout(record, version: from.version)
  }
}
