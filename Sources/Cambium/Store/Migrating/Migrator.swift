/// Makes a store of an older version one of the model's, in slices that are each a commit.
///
///     copy trees ─▶ transform the copies, slice by slice ─▶ build indexes ─▶ switch: copies become the trees,
///                                                                           the schema is the new one
///
/// Until the switch the store is one of the old version, whole, for every program; the old state is kept then.
/// What a run that was broken off has made is found by its mark, and gone on with; a program of the old version
/// that opens the store for writing throws it away.
struct Migrator {
  private let backend: any StoreBackend
  private let plan: MigrationPlan
  /// How many records a slice has.
  private let sliceCount: Int

  init(_ backend: any StoreBackend, _ plan: MigrationPlan, sliceCount: Int) {
    self.backend = backend
    self.plan = plan
    self.sliceCount = sliceCount
  }

  /// - Throws: `.invalidValue` for a record that has no value where there must be one, `.uniqueConflict`:
  ///   then the store is as it was. `.corrupt`, `.full`, `.io`: then the next run goes on.
  func run() throws(StoreError) {
    let mark = MigrationMark(plan)
    do throws(StoreError) {
      if try mark.stands(in: backend) == false { try begin(mark) }
      for pass in plan.conversions { try transform(pass) }
      let types = try RecordTypes(plan.to, model: nil, names: backend.names)
      for build in plan.builtIndexes { try self.build(build, types) }
      try switchOver(mark)
    } catch {
      if error.isOfContent { try? MigrationMark.discard(in: backend) }
      throw error
    }
  }
}

// MARK: Slices

extension Migrator {
  private func slot(_ name: String) throws(StoreError) -> TreeSlot {
    try backend.names.slot(of: name)
  }

  /// Copies the trees whose rows change, by reference.
  private func begin(_ mark: MigrationMark) throws(StoreError) {
    try MigrationMark.discard(in: backend)
    var operations: [TreeOperation] = []
    for pass in plan.conversions {
      let rows = try slot(RecordTrees.name(ofRows: pass.number))
      operations.append(.copy(rows, to: try slot(pass.target)))
    }
    try backend.commit { trees throws(StoreError) in
      try mark.put(into: trees, backend.names)
      trees.addWork { $0.operations = operations }
    }
  }

  private func transform(_ pass: MigrationPlan.RecordPass) throws(StoreError) {
    let target = try slot(pass.target)
    while let version = try backend.trees().lowestVersion(in: target), version < plan.to.version {
      try backend.commit { trees throws(StoreError) in
        trees.addWork {
          $0.transforms[target] = TreeTransform(pass.transform, .first(sliceCount))
        }
      }
    }
  }

  /// Makes an index anew from the rows, which are sorted by what the transaction spills.
  private func build(
    _ build: MigrationPlan.IndexBuild, _ types: RecordTypes
  ) throws(StoreError) {
    guard let record = types.trees(number: build.record),
      let index = record.indexes.first(where: { $0.layout.schema.number == build.index.number })
    else { return }
    let rows = try rowsSlot(of: build.record)
    var count = 0
    try backend.commit { trees throws(StoreError) in
      trees.removeAll(in: index.slot)
      let layout = record.layout
      let key = KeyEncoder()
      let cursor = try backend.trees().cursor(in: rows)
      var isOn = try cursor.first()
      while isOn {
        let reader = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
        if let value = try index.layout.encode(reader, to: key) {
          count += 1
          try trees.put(
            key.key, value == .primaryKey ? cursor.key : RawSpan(),
            schemaVersion: RecordTrees.indexVersion, in: index.slot)
        }
        isOn = try cursor.next()
      }
    }
    guard try backend.trees().count(in: index.slot) == count else {
      throw try conflict(in: record, index, rows)
    }
  }

  /// The tree that has the rows as the last version wants them.
  private func rowsSlot(of record: UInt32) throws(StoreError) -> TreeSlot {
    let pass = plan.conversions.first { $0.number == record }
    return try slot(pass?.target ?? RecordTrees.name(ofRows: record))
  }

  /// Two records with the same values: one of them has the entry, the other has none.
  private func conflict(
    in record: RecordTrees, _ index: RecordTrees.IndexTree, _ rows: TreeSlot
  ) throws(StoreError) -> StoreError {
    let trees = try backend.trees()
    let layout = record.layout
    let key = KeyEncoder()
    let cursor = try trees.cursor(in: rows)
    var holder: [UInt8] = []
    var isOn = try cursor.first()
    while isOn {
      let reader = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
      if try index.layout.encode(reader, to: key) == .primaryKey,
        try trees.copyValue(of: key.key, in: index.slot, to: &holder),
        holder.rawSpan.compare(cursor.key) != 0
      {
        break
      }
      isOn = try cursor.next()
    }
    return .uniqueConflict(
      record: record.record.name, constraint: index.layout.schema.name,
      key: record.text(ofKey: holder.rawSpan))
  }

  /// Makes the store one of the new version, in one commit.
  private func switchOver(_ mark: MigrationMark) throws(StoreError) {
    var operations: [TreeOperation] = []
    for pass in plan.conversions {
      let rows = try slot(RecordTrees.name(ofRows: pass.number))
      operations.append(.move(try slot(pass.target), to: rows))
    }
    let schemas = try slot(Schema.treeName)
    let kept = KeptStateChange.keep(version: plan.from.version, label: plan.from.label ?? "")
    try backend.commit { trees throws(StoreError) in
      for name in plan.droppedTrees { trees.removeAll(in: try slot(name)) }
      for step in plan.steps {
        try trees.put(
          Schema.key(of: step.to.version).rawSpan, step.to.encoded().rawSpan,
          schemaVersion: RecordTypes.systemVersion, in: schemas)
      }
      try mark.remove(from: trees, backend.names)
      trees.addWork {
        $0.operations = operations
        $0.keeping = [kept]
      }
    }
  }
}

extension StoreError {
  /// Whether trying again without changing the records or the model is of no use.
  fileprivate var isOfContent: Bool {
    switch self {
    case .invalidValue, .uniqueConflict, .invalidDescription, .limitExceeded: true
    default: false
    }
  }
}
