/// Makes any number of new records of each old one: it splits, merges, drops or moves them.
///
/// ```swift
/// TransformRecords("Person", into: "Person", "Address") { old, emit in
///   try emit(DynamicRecord(name: "Person", fields: ["id": old["id"], "name": old["name"]]))
///   try emit(DynamicRecord(name: "Address", fields: ["person": old["id"], "street": old["street"]]))
/// }
/// ```
///
/// An old record for which nothing is emitted is gone. Emitted records have the names of the new version's fields, and are
/// validated by their rules; a field that is not named has its default. The closure may be called for a record more than
/// once, on any thread, and must emit the same each time.
public struct TransformRecords: Sendable {
  let source: Subject
  /// All records that it makes.
  let targets: [Subject]
  let body: any RecordTransform

  /// A record type of a version.
  enum Subject: Sendable {
    case name(String)
    /// A Swift type that stands for it, whose description has to be the step's.
    case type(any Record.Type)
  }

  /// - Parameters:
  ///   - name: The name of the records in the old version.
  ///   - targets: The names of all records that it makes, in the new version; without any, `name`.
  public init(
    _ name: String, into targets: String...,
    by body: @escaping @Sendable (_ old: OldRecord, _ emit: RecordEmitter) throws -> Void
  ) {
    source = .name(name)
    self.targets = targets.isEmpty ? [.name(name)] : targets.map { .name($0) }
    self.body = DynamicTransform(name: name, body: body)
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
    self.body = TypedTransform(body: body)
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

  var type: (any Record.Type)? { if case .type(let type) = self { type } else { nil } }
}

/// Makes records of one old one.
protocol RecordTransform: Sendable {
  /// - Parameter types: Of the old version.
  func run(
    key: RawSpan, row: RawSpan, _ blobs: BlobFinder?, _ entities: Entities, _ emit: RecordEmitter
  ) throws
}

private struct DynamicTransform: RecordTransform {
  let name: String
  let body: @Sendable (OldRecord, RecordEmitter) throws -> Void

  func run(
    key: RawSpan, row: RawSpan, _ blobs: BlobFinder?, _ entities: Entities, _ emit: RecordEmitter
  ) throws {
    let entity = try entities.entity(named: name)
    try body(try OldRecord(try entity.row(key: key, row: row, blobs: blobs)), emit)
  }
}

private struct TypedTransform<Old: Record>: RecordTransform {
  let body: @Sendable (Old, RecordEmitter) throws -> Void

  func run(
    key: RawSpan, row: RawSpan, _ blobs: BlobFinder?, _ entities: Entities, _ emit: RecordEmitter
  ) throws {
    try body(try entities.type(Old.self).load(key: key, row: row, blobs: blobs), emit)
  }
}
