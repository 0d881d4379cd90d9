/// The registry of an open state: every record that its schema has, with or without a Swift type, and the trees that
/// are of no record.
///
/// Code that reads, writes, queries, migrates, observes or checks is given it, and finds there all that its work
/// depends on.
@usableFromInline
final class Entities: Sendable {
  let schema: Schema
  /// In the order of the schema.
  let all: [Entity]
  /// The checked references; nil if there are none.
  let relations: RelationMap?
  /// The relations of records, as queries ask for them.
  let sides = RelationSides()
  /// The derived fields; nil if there are none.
  let derivations: DerivationMap?
  /// True if a record leads to another, checked or not.
  let hasReferences: Bool
  private let byType: [ObjectIdentifier: Entity]
  private let byName: [String: Entity]
  /// The types of kinds, by the number of the record and the place of the kind.
  private let byKind: [UInt32: [Int: Entity]]
  private let byNumber: [UInt32: Entity]
  /// The tree of values under names.
  let metadata: TreeSlot
  /// The tree of the history.
  let history: TreeSlot
  /// The tree of the last numbers of sequences.
  let sequences: TreeSlot
  /// The tree of the schemas.
  let schemas: TreeSlot
  /// The tree of the mark of an interrupted migration.
  let migration: TreeSlot
  /// The trees of blobs.
  let blobs: BlobTrees

  static var metadataName: String { "metadata" }
  static var asideName: String { "aside" }
  static var migrationName: String { "migration" }
  static var sequencesName: String { "sequences" }

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
    sequences = try names.slot(of: Self.sequencesName)
    schemas = try names.slot(of: Schema.treeName)
    migration = try names.slot(of: Self.migrationName)
    blobs = try BlobTrees(names)
    var (all, byType): ([Entity], [ObjectIdentifier: Entity]) = ([], [:])
    var (byName, byNumber): ([String: Entity], [UInt32: Entity]) = ([:], [:])
    var byKind: [UInt32: [Int: Entity]] = [:]
    let layouts = try schema.records.map { record throws(StoreError) in
      try RowLayout(record, version: schema.storedVersion)
    }
    // A type comes after the ancestor that it contains.
    let types = (model?.records ?? []).sortedRarely { $0.levels.count < $1.levels.count }
    for checked in types.map({ $0.namedAsLater(than: schema.version) }) {
      guard let place = schema.place(ofRecord: checked.schema.name) else {
        continue
      }
      let ancestor = checked.levels.count > 1 ? checked.levels[1].type : nil
      let parent = try ancestor.flatMap { byType[ObjectIdentifier($0)] }.map {
        entity throws(StoreError) in
        try ParentPart(entity, checked.levels[0], of: checked, version: schema.storedVersion)
      }
      let entity = try Self.open(
        checked.type, checked, layouts[place], place, names, places, parent)
      byType[ObjectIdentifier(checked.type)] = entity
      if let kind = entity.kind {
        byKind[checked.schema.number, default: [:]][kind] = entity
      } else {
        byNumber[checked.schema.number] = entity
      }
    }
    for (place, record) in schema.records.enumerated() {
      let entity: Entity
      if let typed = byNumber[record.number] {
        entity = typed
      } else {
        entity = try Entity(layouts[place], nil, at: place, names: names, places: places)
      }
      all.append(entity)
      byName[record.name] = entity
      byNumber[record.number] = entity
      let types = [entity] + (byKind[record.number] ?? [:]).values
      if types.contains(where: \.hasOwnDeletionHook) {
        for type in types { type.noteDeletionHook() }
      }
      if types.contains(where: { !$0.trackedNames.isEmpty }) {
        for type in types { type.noteTracking() }
      }
    }
    self.all = all
    self.byKind = byKind
    relations = RelationMap(schema, all)
    derivations = DerivationMap(all, relations)
    hasReferences = schema.records.contains { $0.fields.contains { $0.reference != nil } }
    self.byType = byType
    self.byName = byName
    self.byNumber = byNumber
  }

  private static func open<Subject: Record>(
    _ type: Subject.Type, _ checked: CheckedRecord, _ layout: RowLayout, _ place: Int,
    _ names: TreeNames, _ places: TreePlaces?, _ parent: ParentPart?
  ) throws(StoreError) -> Entity {
    try RecordType<Subject>(
      checked, layout, at: place, names: names, places: places, parent: parent,
      runsHooks: places == nil)
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

  /// Returns the entity that a query is of: that of a Swift type, or one by the type's name or the stored name.
  ///
  /// - Throws: `.unknownRecord`.
  func queried(_ record: PropertyReference) throws(StoreError) -> Entity {
    if let entity = byType[record.type] { return entity }
    let name = record.path ?? ""
    if !record.isField {
      let named = byType.values.filter { $0.typeName == name }
      if named.count == 1 { return named[0] }
    }
    return try entity(named: name)
  }

  /// Returns the entity of the type that stands for a kind of a record, or for the record itself; nil if none does.
  func type(ofKind kind: Int?, of entity: Entity) -> Entity? {
    let number = entity.record.number
    return kind.map { byKind[number]?[$0] } ?? byNumber[number]
  }

  /// Returns the stored name of a kind that a Swift type stands for, or of a record that one stands for.
  func name(ofKind type: String, of entity: Entity) -> String? {
    let types = byKind[entity.record.number]?.values.filter { $0.typeName == type } ?? []
    if let kind = types.first?.kind { return entity.layout.kinds?.all[kind].name }
    return byNumber[entity.record.number]?.typeName == type ? entity.record.name : nil
  }
}
