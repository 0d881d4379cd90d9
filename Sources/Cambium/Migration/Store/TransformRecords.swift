/// Makes any number of new records of each old one: it splits, merges, drops or moves them.
///
/// ```swift
/// TransformRecords("Person", into: "Person", "Address") { old, emit in
///   try emit(DynamicRecord("Person", ["id": old["id"], "name": old["name"]]))
///   try emit(DynamicRecord("Address", ["person": old["id"], "street": old["street"]]))
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
  let body: RecordTransform
  /// The Swift types with which the closure reads the version before.
  let read: [any Record.Type]

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
    read = []
    self.body = RecordTransform(readsVersion: false) { old, emit in try body(old.record(), emit) }
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
    read = []
    self.body = RecordTransform(readsVersion: true) { old, emit in
      if let before = old.version { try body(old.record(), before, emit) }
    }
  }

  /// Creates a transform of records with Swift types that are kept for the two versions. Each describes its version as the
  /// step's schema does. It takes about half of the time of one without types.
  ///
  /// ```swift
  /// TransformRecords(V1.Person.self, into: V2.Person.self, V2.Address.self) { old, emit in
  ///   try emit(V2.Person(id: old.id, name: old.name))
  /// }
  /// ```
  @inlinable
  public init<Old: Record>(
    _ old: Old.Type, into targets: any Record.Type...,
    by body: @escaping @Sendable (_ old: Old, _ emit: RecordEmitter) throws -> Void
  ) {
    self.init(type: old, into: targets) { row, emit in try body(row.load(Old.self), emit) }
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
  @inlinable
  public init<Old: Record>(
    _ old: Old.Type, into targets: any Record.Type..., reading types: any Record.Type...,
    by body:
      @escaping @Sendable (
        _ old: Old, _ before: StoreSnapshot, _ emit: RecordEmitter
      ) throws -> Void
  ) {
    self.init(type: old, into: targets, reading: types) { row, emit in
      if let before = row.version { try body(row.load(Old.self), before, emit) }
    }
  }

  /// - Parameter types: Those of the old version with which the closure reads it; nil if it does not.
  @usableFromInline
  init(
    type: any Record.Type, into targets: [any Record.Type], reading types: [any Record.Type]? = nil,
    by body: @escaping @Sendable (borrowing OldRow, RecordEmitter) throws -> Void
  ) {
    source = .type(type)
    self.targets = targets.map { .type($0) }
    self.body = RecordTransform(readsVersion: types != nil, body)
    read = types ?? []
  }

  /// Creates a transform that makes one new record of each old one, both with Swift types.
  @inlinable
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
