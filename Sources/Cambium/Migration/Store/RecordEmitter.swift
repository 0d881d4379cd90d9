/// A record that a step makes, and the kinds of it that the step says it makes.
struct EmissionTarget {
  let entity: Entity
  /// The places of kinds; nil for records of any.
  private(set) var kinds: [Int]?

  /// Returns each record once, with the kinds of it.
  static func all(_ places: [RecordPlace], in entities: Entities) -> [EmissionTarget] {
    var targets: [EmissionTarget] = []
    for place in places {
      guard let entity = entities.entity(number: place.record.number) else { continue }
      let kind = place.kind.flatMap { entity.layout.kinds?.place(named: $0.name) }
      if let known = targets.firstIndex(where: { $0.entity === entity }) {
        targets[known].kinds = kind.flatMap { kind in targets[known].kinds.map { $0 + [kind] } }
      } else {
        targets.append(EmissionTarget(entity: entity, kinds: kind.map { [$0] }))
      }
    }
    return targets
  }

  /// Returns true if a row is of a kind that the step makes.
  func takes(_ row: RawSpan) -> Bool {
    guard let kinds, let all = entity.layout.kinds else { return true }
    return kinds.contains { all.has(row, kind: $0, in: entity.layout) }
  }
}

/// Takes the new records that a closure makes of old ones.
///
/// It is valid within one call of the closure.
public final class RecordEmitter {
  /// The types of the new version, in the trees that are being made.
  let entities: Entities
  private let targets: [Target]
  private let sink: any EmitterSink
  @usableFromInline let row = RowWriter()
  @usableFromInline let key = KeyEncoder()
  private var old: [UInt8] = []
  private let element = KeyEncoder()
  // One owner uses them, so accesses cannot overlap.
  /// The Swift types of records that were emitted.
  @exclusivity(unchecked) private var types:
    [(id: ObjectIdentifier, entity: Entity, target: Target)] = []
  /// The place among those of the last one.
  @exclusivity(unchecked) private var place = 0

  /// A record that may be emitted.
  ///
  /// An object, since one is used for every record, and copies of its values would be counted.
  fileprivate final class Target {
    let name: String
    let stated: EmissionTarget
    let entity: Entity
    /// Nil for records that are only put together from others.
    let rules: EmissionRules?
    /// The lists of checked references.
    let lists: [Link]
    /// Those of a record without a Swift type.
    let values: ColumnValues
    /// The values of fields that a record does not name, by their places among the columns.
    let unnamed: [Int: FieldValue]

    init(_ stated: EmissionTarget, _ rules: EmissionRules?, lists: [Link]) {
      self.stated = stated
      entity = stated.entity
      name = entity.record.name
      self.rules = rules
      self.lists = lists
      values = ColumnValues(entity.layout)
      unnamed = entity.layout.underivedInMigration.merging(rules?.unnamed ?? [:]) { one, _ in one }
    }
  }

  /// - Parameters:
  ///   - targets: The records that may be emitted.
  ///   - rules: By the records' names.
  init(
    _ entities: Entities, targets: [EmissionTarget], rules: [String: EmissionRules],
    to sink: any EmitterSink
  ) {
    self.entities = entities
    self.sink = sink
    let lists = (entities.relations?.links ?? []).filter(\.isList)
    self.targets = targets.map { stated in
      let record = stated.entity.record
      return Target(
        stated, rules[record.name],
        lists: lists.filter { $0.source.record.number == record.number })
    }
  }

  /// Adds a record. Two records with the same key, of whichever old records, fail the migration. Its fields have the names
  /// of the new version; a field that it does not name has its default.
  ///
  /// - Throws: `StoreError.stepFailed` for a record that the step does not make, `.invalidValue`,
  ///   `.limitExceeded`; `.full`, `.io`.
  public func callAsFunction(_ record: DynamicRecord) throws(StoreError) {
    let target = try target(record.name)
    let (row, key) = (row, key)
    try target.completed(record).encode(
      to: row, key: key, target.values, defaults: target.unnamed)
    try check(row, key, target)
    try sink.add(key.key, row.row, row.waiting, to: target.entity)
  }

  /// Adds a record with the fields of an old one.
  public func callAsFunction(_ record: OldRecord) throws(StoreError) { try self(record.record) }

  /// Adds a record of a Swift type that is kept for the new version.
  @inlinable
  public func callAsFunction<Subject: Record>(_ record: Subject) throws(StoreError) {
    guard let type = try find(Subject.self) as? RecordType<Subject> else {
      throw undeclared("\(Subject.self)")
    }
    try type.encode(record, to: row, key: key)
    try addTyped()
  }

  /// Finds the record that a Swift type stands for. Only the types that the step says it makes are known.
  @usableFromInline
  func find(_ type: any Record.Type) throws(StoreError) -> Entity {
    let id = ObjectIdentifier(type)
    for index in unsafe 0..<types.count where unsafe types[index].id == id {
      unsafe place = index
      return unsafe types[index].entity
    }
    guard let entity = entities.opened(type) else { throw undeclared("\(type)") }
    unsafe place = types.count
    try unsafe types.append((id, entity, target(entity.record.name)))
    return entity
  }

  /// Adds the record that was put together, of the type that was found last.
  @usableFromInline
  func addTyped() throws(StoreError) {
    let (row, key, target) = unsafe (row, key, types[place].target)
    if !target.stated.takes(row.row) { throw undeclared(target.kindName(of: row.row)) }
    try checkLists(of: target)
    try target.entity.checkKinds(of: row.row, key: key.key)
    try sink.add(key.key, row.row, row.waiting, to: target.entity)
  }

  /// Adds a record, or merges it into the one with its key that was emitted before or existed already.
  ///
  /// - Parameter merge: Makes one record of the existing and the new one; by default the new one.
  /// - Throws: As for adding, and what `merge` throws.
  public func upsert(
    _ record: DynamicRecord,
    merging merge: (_ existing: DynamicRecord, _ new: DynamicRecord) throws -> DynamicRecord = {
      $1
    }
  ) throws {
    let target = try target(record.name)
    let entity = target.entity
    let (row, key) = (row, key)
    let record = target.completed(record)
    try record.encode(to: row, key: key, target.values, defaults: target.unnamed)
    if try sink.copy(key.key, of: entity, to: &old) {
      let old = old
      let existing = try DynamicRecord(
        try entity.row(key: key.key, row: old.rawSpan, blobs: sink.blobFinder(of: entity)))
      let place = key.key.array()
      let merged = try merge(existing, record)
      try target.completed(merged).encode(
        to: row, key: key, target.values, defaults: target.unnamed)
      guard key.key.compare(place.rawSpan) == 0 else {
        throw StoreError.invalidValue(
          record: record.name, field: nil, reason: "merged, it has another key than before")
      }
    }
    try check(row, key, target)
    try sink.put(key.key, row.row, row.waiting, to: entity)
  }

  /// Refuses what the new version's description does.
  private func check(
    _ row: RowWriter, _ key: KeyEncoder, _ target: Target
  ) throws(StoreError) {
    try target.rules?.check(row, key, target.entity.layout)
    if !target.stated.takes(row.row) { throw undeclared(target.kindName(of: row.row)) }
    try checkLists(of: target)
    try target.entity.checkKinds(of: row.row, key: key.key)
  }

  /// Refuses lists of references that have a record twice. That they lead somewhere is proved in the end.
  ///
  /// - Throws: `.invalidValue`.
  private func checkLists(of target: Target) throws(StoreError) {
    if target.lists.isEmpty { return }
    let (row, key, element, entity) = (row, key, element, target.entity)
    let reader = try entity.row(key: key.key, row: row.row)
    for link in target.lists {
      var known: Set<[UInt8]> = []
      try link.forEachKey(of: reader, in: element) { key throws(StoreError) in
        if known.insert(key.array()).inserted { return }
        throw .invalidValue(
          record: target.name, field: link.field.name,
          reason: "it leads to \(try link.value(ofKey: key)) twice")
      }
    }
  }

  /// Adds a record that is put together already.
  func add(_ key: RawSpan, _ row: RowWriter, to target: Entity) throws(StoreError) {
    try sink.add(key, row.row, row.waiting, to: target)
  }

  /// Keeps a value that the new record has not.
  func setAside(_ entry: SetAsideEntry, in tree: TreeSlot) throws(StoreError) {
    try sink.setAside(entry.key.rawSpan, entry.value.rawSpan, in: tree)
  }

  private func target(_ name: String) throws(StoreError) -> Target {
    for target in targets where target.name == name { return target }
    throw undeclared(name)
  }

  @usableFromInline
  func undeclared(_ name: String) -> StoreError {
    .stepFailed(
      version: entities.schema.version, source: "emitting \(name)",
      reason: "the step does not say that it makes \(name); add it to `into:`")
  }
}

extension RecordEmitter.Target {
  func completed(_ record: DynamicRecord) -> DynamicRecord { rules?.completing(record) ?? record }

  /// The name of the innermost kind that a row is of, as `into:` takes it.
  func kindName(of row: RawSpan) -> String {
    guard let kinds = entity.layout.kinds, let kind = kinds.kind(of: row) else {
      return entity.record.name
    }
    return kinds.all[kind].name
  }
}

@available(*, unavailable)
extension RecordEmitter: Sendable {}

/// A destination of emitted records.
protocol EmitterSink: AnyObject {
  /// A record whose key is to be new.
  func add(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError)
  /// A record that is new, or in the place of the one with its key.
  func put(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], to target: Entity
  ) throws(StoreError)
  /// Keeps a value that new records have not.
  func setAside(_ key: RawSpan, _ value: RawSpan, in tree: TreeSlot) throws(StoreError)
  /// Returns a finder of the blobs of records that were made before.
  func blobFinder(of target: Entity) -> BlobFinder?
  /// Replaces `row` by the one with a key; false if there is none.
  func copy(
    _ key: RawSpan, of target: Entity, to row: inout [UInt8]
  ) throws(StoreError) -> Bool
}

/// The rules of a new version's description for records that a closure emits without a Swift type.
struct EmissionRules: Sendable {
  /// By the full names of composites; those of no composite's parts under an empty name.
  private let defaults: [String: [Default]]
  private let hasParts: Bool
  /// The values of fields that a record does not name, by their places among the columns: also of composites as wholes.
  let unnamed: [Int: FieldValue]
  private let rules: RowRules

  private struct Default: Sendable {
    /// Of a part, within its composite.
    let field: String
    let value: FieldValue
    let isOptional: Bool

    /// Returns true if the default replaces a value: a closure may state that an optional field has none.
    func stands(for value: FieldValue?) -> Bool {
      value == nil || value == .null && !isOptional
    }
  }

  init(_ described: DescribedRecord, _ layout: RowLayout) {
    var (defaults, stated): ([String: [Default]], [Int: FieldValue]) = ([:], [:])
    for field in described.fields {
      // Closures give primary keys, also those that a sequence gives later.
      let isKey = layout.index(named: field.name).map { layout.columns[$0].place.kind == .key }
      let underived = isKey ?? false ? nil : field.underived
      guard let value = field.migrationDefault ?? field.defaultValue ?? underived else { continue }
      let composite = field.composite ?? ""
      let name = field.name.utf8.dropFirst(composite.isEmpty ? 0 : composite.utf8.count + 1)
      defaults[composite, default: []].append(
        Default(
          field: String(decoding: name, as: UTF8.self), value: value,
          isOptional: field.isOptional))
      if field.derivation == nil, let place = layout.index(named: field.name) {
        stated[place] = value
      }
    }
    self.defaults = defaults
    hasParts = defaults.keys.contains { !$0.isEmpty }
    unnamed = layout.defaults(stated: stated).filter {
      layout.columns[$0.key].field.derivation == nil
    }
    rules = RowRules(described.fields, layout)
  }

  /// The record with its defaults, where it does not say what a field is.
  func completing(_ record: DynamicRecord) -> DynamicRecord {
    if defaults.isEmpty { return record }
    var record = record
    for given in defaults[""] ?? [] where given.stands(for: record.fields[given.field]) {
      record[given.field] = given.value
    }
    guard hasParts else { return record }
    for (name, value) in record.fields {
      if case .composite(let parts) = value {
        record[name] = .composite(completing(parts, of: name))
      }
    }
    return record
  }

  private func completing(
    _ parts: [String: FieldValue], of composite: String
  ) -> [String: FieldValue] {
    var completed = parts
    for given in defaults[composite] ?? [] where given.stands(for: parts[given.field]) {
      completed[given.field] = given.value
    }
    for (name, value) in parts {
      if case .composite(let inner) = value {
        completed[name] = .composite(completing(inner, of: "\(composite).\(name)"))
      }
    }
    return completed
  }

  /// - Throws: as `RowRules.check`.
  func check(_ row: RowWriter, _ key: KeyEncoder, _ layout: RowLayout) throws(StoreError) {
    try rules.check(row, key, layout)
  }
}
