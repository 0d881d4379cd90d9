/// The values that a migration takes out of rows: what there is of them in the rows that it begins with.
struct MovedValues {
  /// Their length in all.
  private(set) var bytes = 0

  /// - Complexity: reads the rows of records that have such fields.
  /// - Throws: `.corrupt`, `.io`.
  init(by route: MigrationRoute, in backend: any StoreBackend) throws(StoreError) {
    for hop in route.hops {
      for change in hop.change.records where change.kind == .records {
        guard let source = route.from.record(number: change.old.number) else { continue }
        let moves = change.moves
        if moves.isEmpty { continue }
        let layout = try RowLayout(source, version: route.from.storedVersion)
        let rows = try backend.names.slot(of: Entity.name(ofRows: source.number))
        try add(moves, layout, rows, in: try backend.trees())
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
    _ moves: [Move], _ layout: RowLayout, _ rows: TreeSlot, in trees: TreeAccess
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: rows)
    while try cursor.advance() {
      let reader = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
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
    if case .inline(let data) = try external(column.place.index) { return data.count }
    return 0
  }
}
