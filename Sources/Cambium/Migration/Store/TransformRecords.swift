/// Makes any number of new records of each old one: it splits, merges, drops or moves them.
///
/// ```swift
/// TransformRecords("Person", into: "Person", "Address") { old, emit in
///   try emit(DynamicRecord(name: "Person", fields: ["id": old["id"], "name": old["name"]]))
///   try emit(DynamicRecord(name: "Address", fields: ["person": old["id"], "street": old["street"]]))
/// }
/// ```
///
/// A kind of a hierarchy can be both: of one, only its records and those of its kinds are transformed, and the others of the
/// parent are as they would be without the step. Without a type, a record of a kind is read and emitted as a `DynamicRecord`
/// of the root, in which the kind is a composite.
///
/// An old record for which nothing is emitted is gone. Emitted records have the names of the new version's fields, and are
/// validated by their rules; a field that is not named has its default. The closure may be called for a record more than
/// once, on any thread, and must emit the same each time: keys that it makes are functions of the old record, such as
/// `UUID(of:in:)`. Emitted records may lead to one another, in any order: that references lead somewhere is proved in the end.
public struct TransformRecords: Sendable {
  let source: Subject
  /// All records that it makes.
  let targets: [Subject]
  let body: any RecordTransform
  /// The Swift types with which the closure reads the version before.
  private(set) var read: [any Record.Type] = []

  /// A record type of a version.
  enum Subject: Sendable {
    case name(String)
    /// A Swift type that stands for it, whose description has to be the step's.
    case type(any Record.Type)
  }

  /// - Parameters:
  ///   - name: The name of the records, or of a kind, in the old version.
  ///   - targets: The names of all records and kinds that it makes, in the new version; without any, `name`.
  public init(
    _ name: String, into targets: String...,
    by body: @escaping @Sendable (_ old: OldRecord, _ emit: RecordEmitter) throws -> Void
  ) {
    self.init(name, into: targets.isEmpty ? [name] : targets, by: body)
  }

  /// Creates a transform whose targets are in an array.
  public init(
    _ name: String, into targets: [String],
    by body: @escaping @Sendable (_ old: OldRecord, _ emit: RecordEmitter) throws -> Void
  ) {
    source = .name(name)
    self.targets = targets.map { .name($0) }
    self.body = DynamicTransform(readsVersion: false) { old, _, emit in
      try body(old, emit)
    }
  }

  /// Creates a transform whose closure also reads the version before, whole: other records, queries, and along relations.
  ///
  /// ```swift
  /// TransformRecords("Order") { old, before, emit in
  ///   var order = old.record
  ///   order["city"] = try before.fetch(record: "Customer", key: old["customer"])?["city"] ?? .null
  ///   try emit(order)
  /// }
  /// ```
  ///
  /// The snapshot is of the records as the step finds them, after its `RunBefore`; it does not change while the step runs,
  /// nor after an interruption.
  ///
  /// - Parameters:
  ///   - name: The name of the records, or of a kind, in the old version.
  ///   - targets: The names of all records and kinds that it makes, in the new version; without any, `name`.
  public init(
    _ name: String, into targets: String...,
    by body:
      @escaping @Sendable (
        _ old: OldRecord, _ before: StoreSnapshot, _ emit: RecordEmitter
      ) throws -> Void
  ) {
    source = .name(name)
    self.targets = targets.isEmpty ? [.name(name)] : targets.map { .name($0) }
    self.body = DynamicTransform(readsVersion: true) { old, before, emit in
      if let before { try body(old, before, emit) }
    }
  }

  /// Creates a transform of records with Swift types that are kept for the two versions. Each describes its version as the
  /// step's schema does.
  ///
  /// ```swift
  /// TransformRecords(V1.Person.self, into: V2.Person.self, V2.Address.self) { old, emit in
  ///   try emit(V2.Person(id: old.id, name: old.name))
  /// }
  /// ```
  public init<Old: Record>(
    _ old: Old.Type, into targets: any Record.Type...,
    by body: @escaping @Sendable (_ old: Old, _ emit: RecordEmitter) throws -> Void
  ) {
    source = .type(old)
    self.targets = targets.map { .type($0) }
    self.body = TypedTransform<Old>(readsVersion: false) { old, _, emit in try body(old, emit) }
  }

  /// Creates a transform of records with Swift types whose closure also reads the version before.
  ///
  /// ```swift
  /// TransformRecords(V1.Order.self, into: V2.Order.self, reading: V1.Customer.self) { old, before, emit in
  ///   let customer = try before.fetch(old.customer)
  ///   try emit(V2.Order(id: old.id, city: customer?.city ?? ""))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - old: The type of the records in the old version.
  ///   - targets: The types of all records that it makes.
  ///   - types: Other types that are kept for the old version, with which the snapshot is read.
  public init<Old: Record>(
    _ old: Old.Type, into targets: any Record.Type..., reading types: any Record.Type...,
    by body:
      @escaping @Sendable (
        _ old: Old, _ before: StoreSnapshot, _ emit: RecordEmitter
      ) throws -> Void
  ) {
    source = .type(old)
    self.targets = targets.map { .type($0) }
    self.body = TypedTransform<Old>(readsVersion: true) { old, before, emit in
      if let before { try body(old, before, emit) }
    }
    read = types
  }

  /// Creates a transform that makes one new record of each old one, both with Swift types.
  public init<Old: Record, New: Record>(
    _ old: Old.Type, to new: New.Type, by body: @escaping @Sendable (Old) throws -> New
  ) {
    self.init(old, into: new) { old, emit in try emit(try body(old)) }
  }
}

extension TransformRecords.Subject {
  /// Returns the stored name in a version.
  func name(in version: Int) -> String {
    switch self {
    case .name(let name): name
    case .type(let type): RecordDescription.name(of: type, in: version)
    }
  }

  /// Returns the record, or the kind of one, that it stands for in a version; nil if there is none.
  func place(in schema: Schema) -> RecordPlace? { schema.place(named: name(in: schema.version)) }

  var type: (any Record.Type)? { if case .type(let type) = self { type } else { nil } }
}

/// Makes records of one old one.
protocol RecordTransform: Sendable {
  /// True if it reads other records of the old version.
  var readsVersion: Bool { get }

  /// - Parameters:
  ///   - source: The record's, in the old version.
  ///   - entities: Those of the old version.
  ///   - version: The old version, if the transform reads it.
  func run(
    key: RawSpan, row: RawSpan, of source: Entity, _ blobs: BlobFinder?, _ entities: Entities,
    _ version: OldVersion?, _ emit: RecordEmitter
  ) throws

  /// A transform in memory of its own. Threads that count references to the same one slow each other down.
  func copy() -> any RecordTransform
}

extension OldVersion {
  var snapshot: StoreSnapshot { StoreSnapshot(entities, trees) }
}

private struct DynamicTransform: RecordTransform {
  let readsVersion: Bool
  let body: @Sendable (OldRecord, StoreSnapshot?, RecordEmitter) throws -> Void

  func run(
    key: RawSpan, row: RawSpan, of source: Entity, _ blobs: BlobFinder?, _ entities: Entities,
    _ version: OldVersion?, _ emit: RecordEmitter
  ) throws {
    try body(
      try OldRecord(try source.row(key: key, row: row, blobs: blobs)), version?.snapshot, emit)
  }

  func copy() -> any RecordTransform {
    DynamicTransform(readsVersion: readsVersion, body: body)
  }
}

private struct TypedTransform<Old: Record>: RecordTransform {
  let readsVersion: Bool
  let body: @Sendable (Old, StoreSnapshot?, RecordEmitter) throws -> Void

  func run(
    key: RawSpan, row: RawSpan, of source: Entity, _ blobs: BlobFinder?, _ entities: Entities,
    _ version: OldVersion?, _ emit: RecordEmitter
  ) throws {
    try body(
      try entities.type(Old.self).load(key: key, row: row, blobs: blobs), version?.snapshot, emit)
  }

  func copy() -> any RecordTransform { TypedTransform(readsVersion: readsVersion, body: body) }
}

// MARK: - Emitting

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
  private let row = RowWriter()
  private let key = KeyEncoder()
  private var old: [UInt8] = []
  private let element = KeyEncoder()

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

    init(_ stated: EmissionTarget, _ rules: EmissionRules?, lists: [Link]) {
      self.stated = stated
      entity = stated.entity
      name = entity.record.name
      self.rules = rules
      self.lists = lists
      values = ColumnValues(entity.layout)
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
    try target.completed(record).encode(to: row, key: key, target.values)
    try check(row, key, target)
    try sink.add(key.key, row.row, row.waiting, to: target.entity)
  }

  /// Adds a record with the fields of an old one.
  public func callAsFunction(_ record: OldRecord) throws(StoreError) { try self(record.record) }

  /// Adds a record of a Swift type that is kept for the new version.
  public func callAsFunction<Subject: Record>(_ record: Subject) throws(StoreError) {
    let type = try type(Subject.self)
    let target = try target(type.record.name)
    let (row, key) = (row, key)
    try type.encode(record, to: row, key: key)
    if !target.stated.takes(row.row) { throw undeclared("\(Subject.self)") }
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
    try record.encode(to: row, key: key, target.values)
    if try sink.copy(key.key, of: entity, to: &old) {
      let old = old
      let existing = try DynamicRecord(
        try entity.row(key: key.key, row: old.rawSpan, blobs: sink.blobFinder(of: entity)))
      let place = key.key.array()
      let merged = try merge(existing, record)
      try target.completed(merged).encode(to: row, key: key, target.values)
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

  /// Only the types that the step says it makes are known.
  private func type<Subject: Record>(
    _ type: Subject.Type
  ) throws(StoreError) -> RecordType<Subject> {
    do throws(StoreError) {
      return try entities.type(type)
    } catch {
      guard case .unknownRecord(let name) = error else { throw error }
      throw undeclared(name)
    }
  }

  private func undeclared(_ name: String) -> StoreError {
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
  private let defaults: [Default]
  private let rules: RowRules

  private struct Default: Sendable {
    let field: String
    let value: FieldValue
    let isOptional: Bool

    /// Returns true if the default replaces a value: a closure may state that an optional field has none.
    func stands(for value: FieldValue?) -> Bool {
      value == nil || value == .null && !isOptional
    }
  }

  init(_ described: DescribedRecord, _ layout: RowLayout) {
    defaults = described.fields.compactMap { field in
      guard field.composite == nil,
        let value = field.migrationDefault ?? field.defaultValue ?? field.underived
      else { return nil }
      return Default(field: field.name, value: value, isOptional: field.isOptional)
    }
    rules = RowRules(described.fields, layout)
  }

  /// The record with its defaults, where it does not say what a field is.
  func completing(_ record: DynamicRecord) -> DynamicRecord {
    if defaults.isEmpty { return record }
    var record = record
    for given in defaults where given.stands(for: record.fields[given.field]) {
      record[given.field] = given.value
    }
    return record
  }

  /// - Throws: as `RowRules.check`.
  func check(_ row: RowWriter, _ key: KeyEncoder, _ layout: RowLayout) throws(StoreError) {
    try rules.check(row, key, layout)
  }
}
