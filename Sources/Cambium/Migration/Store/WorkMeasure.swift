/// The work of a migration's tasks, as far as it is known before they run.
struct WorkMeasure {
  private(set) var work: [MigrationPlan.Work] = []
  /// The number of records that each task reads.
  private(set) var counts: [Int] = []
  private(set) var records = 0
  private(set) var bytesRead = 0
  private(set) var bytesWritten = 0
  /// Bytes of entries that pass through the log. Rows that are converted in their places do not.
  private(set) var bytesLogged = 0

  /// The most bytes that the log adds to the key and value of an entry.
  private static var entryOverhead: Int { 32 }
  /// The pages that each commit writes beside entries: branches, the catalog, a footer.
  static var bytesPerCommit: Int { 64 << 10 }

  /// About how many commits there are, the switch among them.
  func commits(of sliceCount: Int) -> Int { 2 * work.count + records / max(1, sliceCount) + 3 }

  init(_ tasks: MigrationTasks, in backend: any StoreBackend) throws(StoreError) {
    let trees = try backend.trees()
    // What is not made yet is about as large as what it is made of.
    var made: [String: String] = [:]
    for task in tasks.tasks {
      if case .arrange(let arrangement) = task {
        for (source, target) in arrangement.copies { made[target] = made[source] ?? source }
        counts.append(0)
        continue
      }
      if case .remake(let remake) = task, let source = task.readTree {
        for (number, tree) in remake.to.places.rows
        where remake.from.places.rows[number] != tree && made[tree] == nil {
          made[tree] = made[source] ?? source
        }
      }
      var count: Int?
      if let tree = task.readTree {
        let slot = try backend.names.slot(of: made[tree] ?? tree)
        let bytes = Int(clamping: trees.liveBytes(in: slot))
        let found = try trees.count(in: slot)
        count = found
        records += found
        bytesRead += bytes
        // An index is a part of its rows; a third, say.
        let made =
          switch task.kind {
          case .prove: 0
          case .buildIndex: bytes / 3
          default: bytes
          }
        bytesWritten += made
        if made > 0, task.kind != .convert { bytesLogged += made + found * Self.entryOverhead }
      }
      counts.append(count ?? 0)
      work.append(MigrationPlan.Work(kind: task.kind, task: task.text, records: count))
    }
  }
}

/// The values that a migration takes out of rows: what there is of them in the rows that it begins with.
struct MovedValues {
  /// Their length in all.
  private(set) var bytes = 0

  /// - Complexity: reads the rows of records that have such fields.
  /// - Throws: `.corrupt`, `.io`.
  init(
    by route: MigrationRoute, from old: Entities, in trees: TreeAccess
  ) throws(StoreError) {
    for hop in route.hops {
      for change in hop.change.all where change.kind == .records {
        guard let source = old.entity(number: change.old.number) else { continue }
        let moves = change.moves
        if !moves.isEmpty { try add(moves, of: source, in: trees) }
      }
    }
  }

  /// A field whose values are to lie outside of rows where they are longer than a threshold.
  fileprivate struct Move {
    let field: UInt32
    let threshold: Int
    /// The length of the value that all records get; nil if each has its own.
    let newLength: Int?
  }

  private mutating func add(
    _ moves: [Move], of source: Entity, in trees: TreeAccess
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: source.rows)
    while try cursor.advance() {
      let reader = try source.row(key: cursor.key, row: try cursor.value())
      for move in moves {
        let length: Int
        if let given = move.newLength {
          length = given
        } else {
          length = try reader.length(of: move.field)
        }
        // What a row has is in memory: many of them together are no more than a medium has.
        if length > move.threshold { bytes &+= length }
      }
    }
  }
}

extension RecordChange {
  /// The values that move out of rows, except for those that closures make.
  fileprivate var moves: [MovedValues.Move] {
    fields.compactMap { field in
      guard case .external(_, let options) = field.new.type, sources[field.new.number] == nil
      else { return nil }
      if let old = field.old {
        return MovedValues.Move(
          field: old.number, threshold: options.threshold, newLength: nil)
      }
      guard let length = field.missing.storedLength else { return nil }
      return MovedValues.Move(
        field: field.new.number, threshold: options.threshold, newLength: length)
    }
  }
}

extension FieldValue {
  /// The length of a value of an external field; nil for other values.
  fileprivate var storedLength: Int? {
    switch self {
    case .data(let data): data.count
    case .string(let text): text.utf8.count
    case .blob(let blob): blob.count
    default: nil
    }
  }
}

extension RowReader {
  /// Returns the number of bytes of a field's value in the row.
  fileprivate func length(of field: UInt32) throws(StoreError) -> Int {
    guard let column = layout.columns.first(where: { $0.field.number == field }),
      column.place.kind == .variable, !isNull(column.place)
    else { return 0 }
    guard column.field.type.isExternal else { return bytes(column.place.index).byteCount }
    return switch try external(column.place.index) {
    case .inline(let data): data.count
    case .packed(let value): value.length
    case .reference, .waiting: 0
    }
  }
}
