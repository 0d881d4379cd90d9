/// Makes new records of the old ones of one type.
final class Remaking {
  let source: Entity
  /// The records that it makes.
  let targets: [Entity]
  private let task: MigrationTask.Remake
  private let old: Entities
  let new: Entities
  let aside: TreeSlot
  /// A finder of the blobs of the old records; nil if they have none.
  private let blobs: BlobFinder?
  private let row = RowWriter()
  private let key = KeyEncoder()

  init(
    _ task: MigrationTask.Remake, from old: Entities, to new: Entities, aside: TreeSlot,
    in trees: TreeAccess
  ) throws(StoreError) {
    self.task = task
    self.old = old
    self.new = new
    self.aside = aside
    let source = try old.entity(named: task.source.name)
    self.source = source
    blobs = trees.blobFinder(of: source)
    switch task.kind {
    case .values:
      targets = [new.entity(number: task.source.number)].compactMap { $0 }
    case .closure(let transform, _):
      var targets: [Entity] = []
      for target in transform.targets {
        targets.append(try new.entity(named: target.name(in: Int(new.schema.version))))
      }
      self.targets = targets
    }
  }

  var version: UInt32 { new.schema.version }

  func target(_ number: UInt32) -> Entity? {
    targets.first { $0.record.number == number }
  }

  func emitter(to sink: any EmitterSink) -> RecordEmitter {
    var rules: [String: EmissionRules] = [:]
    if case .closure(_, let given) = task.kind { rules = given }
    return RecordEmitter(new, targets: targets.map(\.record.name), rules: rules, to: sink)
  }

  /// Makes new records of one.
  ///
  /// - Parameter keep: Takes values that are set aside.
  func remake(
    _ oldKey: RawSpan, _ oldRow: RawSpan, _ emit: RecordEmitter,
    _ keep: (SetAsideEntry, TreeSlot) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (row, key) = (row, key)
    do {
      switch task.kind {
      case .values(let conversion):
        var setAside: [UInt32] = []
        try conversion.convert(key: oldKey, row: oldRow, blobs, to: row, key) {
          setAside.append($0)
        }
        try emit.add(key.key, row, to: targets[0])
        for field in setAside {
          try keep(
            SetAsideEntry(
              version: old.schema.version, record: source.record.number, field: field,
              key: oldKey, row: oldRow), aside)
        }
      case .closure(let transform, _):
        try transform.body.run(key: oldKey, row: oldRow, blobs, old, emit)
      }
    } catch let error as StoreError {
      throw error.naming(
        "\(source.record.name) \(source.text(ofKey: oldKey))", inStepTo: Int(version))
    } catch {
      throw .stepFailed(
        version: Int(version), source: "\(source.record.name) \(source.text(ofKey: oldKey))",
        reason: "\(error)")
    }
  }
}
