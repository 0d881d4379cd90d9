/// The places of a version's trees while it is made: names by the numbers of records and indexes.
struct TreePlaces: Hashable, Sendable {
  var rows: [UInt32: String] = [:]
  /// Only of those that are whole.
  var indexes: [UInt32: String] = [:]
  var metadata = RecordTypes.metadataName
  /// Values that migrations have set aside.
  var aside = RecordTypes.asideName

  /// Creates the places in a store that is whole.
  init(of schema: Schema) {
    for record in schema.records {
      rows[record.number] = RecordTrees.name(ofRows: record.number)
      for index in record.indexes {
        indexes[index.number] = RecordTrees.name(ofIndex: index.number)
      }
    }
  }
}

/// The trees of one record type in an open store: one of its rows, by primary key, and one for each index.
@usableFromInline
final class RecordTrees: Sendable {
  let layout: RowLayout
  let rows: TreeSlot
  /// In step with the schema's indexes.
  let indexes: [IndexTree]
  /// The trees of blobs; nil if no field is external.
  let blobs: BlobTrees?
  /// True if references to blobs are counted as rows change: not in trees that are no part of the state yet.
  let countsBlobs: Bool

  struct IndexTree: Sendable {
    let layout: IndexLayout
    let slot: TreeSlot
  }

  /// - Parameter places: Where the trees are, if not where they are in a store that is whole.
  /// - Throws: `.invalidDescription`, `.invalidValue` where the schema contradicts itself.
  init(
    _ record: RecordSchema, version: UInt32, names: TreeNames, places: TreePlaces? = nil
  ) throws(StoreError) {
    layout = try RowLayout(record, version: version)
    let name = Self.name(ofRows: record.number)
    let place = places?.rows[record.number] ?? name
    rows = try names.slot(of: place)
    countsBlobs = place == name
    blobs = layout.external.isEmpty ? nil : try BlobTrees(names)
    var indexes: [IndexTree] = []
    for index in try layout.indexLayouts() {
      let number = index.schema.number
      if let places, places.indexes[number] == nil { continue }
      let slot = try names.slot(of: places?.indexes[number] ?? Self.name(ofIndex: number))
      indexes.append(IndexTree(layout: index, slot: slot))
    }
    self.indexes = indexes
  }

  var record: RecordSchema { layout.record }

  /// The tree of the rows of record `number`.
  static func name(ofRows number: UInt32) -> String { "r\(number)" }
  /// The tree of index `number`.
  static func name(ofIndex number: UInt32) -> String { "i\(number)" }

  /// Returns true if rows or index entries are in trees of this name.
  static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first == UInt8(ascii: "r") || first == UInt8(ascii: "i")
    else { return false }
    return UInt32(name.dropFirst()) != nil
  }

  /// The schema version of index entries, which say nothing that a version could change: a leaf holds entries
  /// of one version, and one that does not change with the records' divides no leaves.
  static var indexVersion: UInt32 { 0 }
}

extension RecordTrees {
  /// A primary key as people read it, for errors.
  func text(ofKey key: RawSpan) -> String { layout.text(ofKey: key) }

  /// The error of a record that a type cannot be made of, with its key.
  @usableFromInline
  @inline(never)
  func unreadable(_ error: StoreError, key: RawSpan) -> StoreError {
    guard case .invalidValue(let record, let field, let reason) = error else { return error }
    return .unreadableRecord(
      record: record, key: text(ofKey: key), field: field, reason: reason)
  }
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
