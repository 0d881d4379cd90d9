/// A hierarchy as one type: the cases of an enum, or a protocol that its kinds conform to.
///
/// ```swift
/// enum AnyTrip { case business(BusinessTrip), personal(PersonalTrip) }
///
/// let trips = Family<AnyTrip>("Trip") {
///   FamilyMember(BusinessTrip.self, AnyTrip.business)
///   FamilyMember(PersonalTrip.self, AnyTrip.personal)
/// }
/// let next = try store.fetch(Trip.sorted(by: .ascending(\.start)).limit(20), as: trips)
/// ```
///
/// It is a value, and knows no store.
public struct Family<Value>: Sendable {
  let name: String
  let members: [FamilyMember<Value>]

  /// - Parameters:
  ///   - name: The name of the family in errors.
  ///   - members: A member for each kind. A record of a kind without a member is read by the member for its parent.
  public init(
    _ name: String, @ListBuilder<FamilyMember<Value>> _ members: () -> [FamilyMember<Value>]
  ) {
    self.name = name
    self.members = members()
  }
}

/// One kind of a ``Family``.
public struct FamilyMember<Value>: Sendable {
  let reader: any MemberReader<Value>

  /// - Parameters:
  ///   - type: The kind, or the parent for records of no kind.
  ///   - make: Makes the value of the family: the case of an enum, or `{ $0 }`.
  public init<Kind: Record>(_ type: Kind.Type, _ make: @escaping @Sendable (Kind) -> Value) {
    reader = TypedMember(make: make)
  }
}

/// Reads records as one kind of a family.
protocol MemberReader<Value>: Sendable {
  associatedtype Value

  var type: any Record.Type { get }
  /// - Parameter entity: That of the type.
  func read(
    _ entity: Entity, key: RawSpan, row: RawSpan, _ blobs: BlobFinder?
  ) throws -> Value?
}

private struct TypedMember<Kind: Record, Value>: MemberReader {
  let make: @Sendable (Kind) -> Value

  var type: any Record.Type { Kind.self }

  func read(
    _ entity: Entity, key: RawSpan, row: RawSpan, _ blobs: BlobFinder?
  ) throws -> Value? {
    guard let type = entity as? RecordType<Kind> else { return nil }
    return make(try type.load(key: key, row: row, blobs: blobs))
  }
}

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query of a parent, each as the kind that it is.
  ///
  /// ```swift
  /// let next = try store.fetch(Trip.sorted(by: .ascending(\.start)).limit(20), as: trips)
  /// ```
  ///
  /// Kinds that are copied are records of their own: the query is run in each of them, and the results are merged by its
  /// order.
  ///
  /// - Parameters:
  ///   - query: A query of the parent.
  ///   - family: Members that are the subject of the query, or have it as a parent.
  /// - Complexity: That of the query; with copied kinds, of one query for each record.
  /// - Throws: As `fetch(_:after:)`; `StoreError.unknownRecord` for a member that is not in the model, `.invalidQuery` for one
  ///   that does not have the subject as a parent; `.unreadableRecord` for a record of a kind that no member is for.
  public func fetch<Subject: Record, Value>(
    _ query: Query<Subject>, as family: Family<Value>
  ) throws -> [Value] {
    let sources = try FamilySources(query, family, in: try recordReader())
    var values: [Value] = []
    while let value = try sources.next() { values.append(value) }
    return values
  }
}

/// The records of a family, one stored record after the other merged by the order of a query.
private final class FamilySources<Value> {
  private let family: Family<Value>
  private var sources: [FamilySource<Value>] = []
  private var left: Int
  private var skipped: Int

  init<Subject: Record>(
    _ query: Query<Subject>, _ family: Family<Value>, in reader: RecordReader
  ) throws {
    let subject = try reader.entities.type(Subject.self)
    let resolved = try query.resolved(in: subject, reader.entities)
    self.family = family
    left = resolved.limit ?? .max
    skipped = resolved.offset
    var members: [UInt32: [(entity: Entity, reader: any MemberReader<Value>)]] = [:]
    for member in family.members {
      guard let entity = reader.entities.opened(member.reader.type) else {
        throw reader.entities.unknown(member.reader.type)
      }
      guard entity.descends(from: subject) else {
        throw StoreError.invalidQuery(
          record: subject.record.name, field: nil,
          reason:
            "the family \(family.name) has the member \(member.reader.type), of which \(Subject.self) is no parent"
        )
      }
      members[entity.record.number, default: []].append((entity, member.reader))
    }
    let isMerged = members.keys.contains { $0 != subject.record.number }
    guard !isMerged || subject.kind == nil && query.after == nil else {
      throw StoreError.invalidQuery(
        record: subject.record.name, field: nil,
        reason:
          "kinds that are copied are merged from the beginning, and only for a parent that is no kind itself"
      )
    }
    // Plain records of the subject are read, too, if there can be any.
    if !isMerged || !subject.record.isAbstract || !subject.record.kinds.isEmpty {
      members[subject.record.number, default: []] += []
    }
    var inner = resolved
    if isMerged {
      inner.limit = resolved.foundCount
      inner.offset = 0
    } else {
      (left, skipped) = (.max, 0)
    }
    for number in members.keys.sorted() {
      guard let entity = reader.entities.entity(number: number) else { continue }
      sources.append(
        try FamilySource(
          entity, members[number] ?? [], inner, isMerged: isMerged, in: reader))
    }
  }

  func next() throws -> Value? {
    while skipped > 0 {
      guard let source = try nearest() else { return nil }
      try source.advance()
      skipped -= 1
    }
    guard left > 0, let source = try nearest() else { return nil }
    left -= 1
    let value = try source.value(family.name)
    try source.advance()
    return value
  }

  /// The source whose record comes next; nil at the end.
  private func nearest() throws -> FamilySource<Value>? {
    var nearest: FamilySource<Value>?
    for source in sources {
      try source.begin()
      guard let place = source.place else { continue }
      if let known = nearest?.place, !place.lexicographicallyPrecedes(known) { continue }
      nearest = source
    }
    return nearest
  }
}

/// The records of a family that are stored as one.
private final class FamilySource<Value> {
  private let record: Entity
  /// By the place of the kind; nil for the record itself.
  private var members: [Int?: (entity: Entity, reader: any MemberReader<Value>)] = [:]
  private let found: FoundRecords
  private let blobs: BlobFinder?
  /// By which sources are compared; nil if there is only one.
  private let order: BoundOrder?
  private let encoder = KeyEncoder()
  private var hasBegun = false
  /// The present record's place in the order; nil at the end.
  private(set) var place: [UInt8]?

  init(
    _ record: Entity, _ members: [(entity: Entity, reader: any MemberReader<Value>)],
    _ query: FieldQuery, isMerged: Bool, in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    for member in members { self.members[member.entity.kind] = member }
    found = try QueryRunner(record, in: reader).find(query)
    blobs = reader.blobs(of: record)
    order =
      isMerged
      ? try BoundOrder(
        query.order, Conjunction(nil, in: record.layout), isAfter: true, of: record, in: reader)
      : nil
  }

  func begin() throws {
    if hasBegun { return }
    hasBegun = true
    try advance()
  }

  func advance() throws {
    guard try found.next() else {
      place = nil
      return
    }
    guard let order else {
      place = []
      return
    }
    let (record, found, encoder) = (record, found, encoder)
    try order.encode(try record.row(key: found.key, row: try found.row()), to: encoder)
    place = encoder.key.array()
  }

  /// The kinds that the present record is of, the innermost first.
  private func presentKinds() throws(StoreError) -> [Int] {
    let (record, found) = (record, found)
    let row = try found.row()
    _ = try record.row(key: found.key, row: row)
    return record.layout.kinds?.kinds(of: row) ?? []
  }

  /// The present record, as the innermost kind that there is a member for.
  func value(_ family: String) throws -> Value {
    let (record, found) = (record, found)
    let kinds = try presentKinds()
    for kind in kinds.map(Optional.some) + [nil] {
      guard let member = members[kind] else { continue }
      if let value = try member.reader.read(
        member.entity, key: found.key, row: try found.row(), blobs)
      {
        return value
      }
    }
    let name = kinds.first.flatMap { record.layout.kinds?.all[$0].name } ?? record.record.name
    throw StoreError.unreadableRecord(
      record: record.record.name, key: record.text(ofKey: found.key), field: nil,
      reason: "the family \(family) has no member for \(name); add one, or one for its parent")
  }
}

extension Entity {
  /// Returns true for another one's type and for those that contain it.
  fileprivate func descends(from other: Entity) -> Bool {
    var next: Entity? = self
    while let entity = next {
      if entity === other { return true }
      next = entity.parent?.entity
    }
    return false
  }
}
