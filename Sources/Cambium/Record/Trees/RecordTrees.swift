/// The trees of one record type in an open store: one of its rows, by primary key, and one for each index.
@usableFromInline
final class RecordTrees: Sendable {
  let layout: RowLayout
  let rows: TreeSlot
  /// In step with the schema's indexes.
  let indexes: [IndexTree]

  struct IndexTree: Sendable {
    let layout: IndexLayout
    let slot: TreeSlot
  }

  /// - Throws: `.invalidDescription`, `.invalidValue` where the schema contradicts itself.
  init(
    _ record: RecordSchema, version: UInt32, names: TreeNames
  ) throws(StoreError) {
    layout = try RowLayout(record, version: version)
    rows = try names.slot(of: Self.name(ofRows: record.number))
    var indexes: [IndexTree] = []
    for index in try layout.indexLayouts() {
      let slot = try names.slot(of: Self.name(ofIndex: index.schema.number))
      indexes.append(IndexTree(layout: index, slot: slot))
    }
    self.indexes = indexes
  }

  var record: RecordSchema { layout.record }

  /// The tree of the rows of record `number`.
  static func name(ofRows number: UInt32) -> String { "r\(number)" }
  /// The tree of index `number`.
  static func name(ofIndex number: UInt32) -> String { "i\(number)" }

  /// The schema version of index entries, which say nothing that a version could change: a leaf holds entries
  /// of one version, and one that does not change with the records' divides no leaves.
  static var indexVersion: UInt32 { 0 }
}

extension RecordTrees {
  /// A primary key as people read it, for errors.
  func text(ofKey key: RawSpan) -> String { layout.text(ofKey: key) }
}

extension RowLayout {
  /// A primary key as people read it, for errors.
  func text(ofKey key: RawSpan) -> String {
    let layout = self
    var reader = KeyReader(key, layout: layout)
    var parts: [String] = []
    for column in layout.key.columns {
      guard let value = try? reader.value(column) else { return "\(key.array())" }
      parts.append("\(value)")
    }
    return parts.joined(separator: ", ")
  }
}
