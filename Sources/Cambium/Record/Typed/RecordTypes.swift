/// All record types of an open store: what its model names, and the trees of all that its schema has.
@usableFromInline
final class RecordTypes: Sendable {
  let schema: Schema
  /// By the Swift type.
  private let byType: [ObjectIdentifier: any OpenedRecordType]
  /// By stored name; also those that no Swift type describes.
  private let byName: [String: RecordTrees]
  private let byNumber: [UInt32: RecordTrees]
  /// By stored names of records: what is in fields that a record without a type does not name.
  private let defaults: [String: [Int: FieldValue]]
  /// The tree of values under names.
  let metadata: TreeSlot
  /// The tree of the history.
  let history: TreeSlot
  /// The tree of the schemas.
  let schemas: TreeSlot
  /// The trees of blobs.
  let blobs: BlobTrees

  static var metadataName: String { "metadata" }
  static var asideName: String { "aside" }

  /// The schema version of entries that are neither rows nor index entries.
  static var systemVersion: UInt32 { 0 }

  /// - Parameters:
  ///   - model: Of the schema's version; nil if the store is read without Swift types.
  ///   - places: Where the trees are, if not where they are in a store that is whole: then it is being made, and
  ///     hooks of Swift types are not called.
  /// - Throws: `.invalidDescription`.
  init(
    _ schema: Schema, model: CheckedModel?, names: TreeNames, places: TreePlaces? = nil
  ) throws(StoreError) {
    self.schema = schema
    metadata = try names.slot(of: places?.metadata ?? Self.metadataName)
    history = try names.slot(of: HistoryKey.treeName)
    schemas = try names.slot(of: Schema.treeName)
    blobs = try BlobTrees(names)
    var byName: [String: RecordTrees] = [:]
    var byNumber: [UInt32: RecordTrees] = [:]
    for record in schema.records {
      let trees = try RecordTrees(
        record, version: schema.version, names: names, places: places)
      byName[record.name] = trees
      byNumber[record.number] = trees
    }
    var defaults: [String: [Int: FieldValue]] = [:]
    var byType: [ObjectIdentifier: any OpenedRecordType] = [:]
    for checked in model?.records ?? [] {
      guard let trees = byName[checked.schema.name] else { continue }
      defaults[checked.schema.name] = checked.defaults(in: trees.layout)
      byType[ObjectIdentifier(checked.type)] = try Self.open(
        checked.type, checked, trees, runsHooks: places == nil)
    }
    self.defaults = defaults
    self.byName = byName
    self.byNumber = byNumber
    self.byType = byType
  }

  private static func open<Subject: Record>(
    _ type: Subject.Type, _ checked: CheckedRecord, _ trees: RecordTrees, runsHooks: Bool
  ) throws(StoreError) -> any OpenedRecordType {
    try RecordType<Subject>(checked, trees: trees, runsHooks: runsHooks)
  }

  /// - Throws: `.unknownRecord`.
  @inlinable
  func type<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> RecordType<Subject> {
    guard let opened = opened(type) as? RecordType<Subject> else { throw unknown(type) }
    return opened
  }

  @usableFromInline
  func opened(_ type: any Any.Type) -> (any OpenedRecordType)? { byType[ObjectIdentifier(type)] }

  @usableFromInline
  func unknown(_ type: any Any.Type) -> StoreError { .unknownRecord(name: "\(type)") }

  /// - Throws: `.unknownRecord`.
  func trees(named name: String) throws(StoreError) -> RecordTrees {
    guard let trees = byName[name] else { throw .unknownRecord(name: name) }
    return trees
  }

  /// The defaults of a record's fields, by their places among the columns. None where the store was opened without
  /// a model, since only that has them.
  func defaults(of record: RecordTrees) -> [Int: FieldValue] {
    defaults[record.record.name] ?? [:]
  }

  func trees(number: UInt32) -> RecordTrees? { byNumber[number] }
}

extension CheckedRecord {
  fileprivate func defaults(in layout: RowLayout) -> [Int: FieldValue] {
    var defaults: [Int: FieldValue] = [:]
    for field in fields {
      if let value = field.defaultValue, let place = layout.index(named: field.name) {
        defaults[place] = value
      }
    }
    return defaults
  }
}
