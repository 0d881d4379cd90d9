/// The registry of an open state: every record that its schema has, with or without a Swift type, and the trees that
/// are of no record.
///
/// Who reads, writes, asks, migrates, observes or checks is given it, and finds there whatever depends on what it does.
@usableFromInline
final class Entities: Sendable {
  let schema: Schema
  /// In the order of the schema.
  let all: [Entity]
  /// The checked references; nil if there are none.
  let relations: RelationMap?
  /// True if a record leads to another, checked or not.
  let hasReferences: Bool
  private let byType: [ObjectIdentifier: Entity]
  private let byName: [String: Entity]
  private let byNumber: [UInt32: Entity]
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
    var (all, byType): ([Entity], [ObjectIdentifier: Entity]) = ([], [:])
    var (byName, byNumber): ([String: Entity], [UInt32: Entity]) = ([:], [:])
    for record in schema.records {
      let layout = try RowLayout(record, version: schema.storedVersion)
      let checked = model?.records.first { $0.schema.name == record.name }
      let entity: Entity
      if let checked {
        entity = try Self.open(checked.type, checked, layout, all.count, names, places)
        byType[ObjectIdentifier(checked.type)] = entity
      } else {
        entity = try Entity(layout, nil, at: all.count, names: names, places: places)
      }
      all.append(entity)
      byName[record.name] = entity
      byNumber[record.number] = entity
    }
    self.all = all
    relations = RelationMap(schema, all)
    hasReferences = schema.records.contains { $0.fields.contains { $0.reference != nil } }
    self.byType = byType
    self.byName = byName
    self.byNumber = byNumber
  }

  private static func open<Subject: Record>(
    _ type: Subject.Type, _ checked: CheckedRecord, _ layout: RowLayout, _ place: Int,
    _ names: TreeNames, _ places: TreePlaces?
  ) throws(StoreError) -> Entity {
    try RecordType<Subject>(
      checked, layout, at: place, names: names, places: places, runsHooks: places == nil)
  }

  /// Returns the entity that a Swift type stands for.
  ///
  /// - Throws: `.unknownRecord`.
  @inlinable
  func type<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> RecordType<Subject> {
    guard let opened = opened(type) as? RecordType<Subject> else { throw unknown(type) }
    return opened
  }

  @usableFromInline
  func opened(_ type: any Any.Type) -> Entity? { byType[ObjectIdentifier(type)] }

  @usableFromInline
  func unknown(_ type: any Any.Type) -> StoreError { .unknownRecord(name: "\(type)") }

  /// Returns the entity with a stored name.
  ///
  /// - Throws: `.unknownRecord`.
  func entity(named name: String) throws(StoreError) -> Entity {
    guard let entity = byName[name] else { throw .unknownRecord(name: name) }
    return entity
  }

  func entity(number: UInt32) -> Entity? { byNumber[number] }
}
