// Changes of relations from the end that stores nothing: they change the records that store the reference.

extension WriteTransaction {
  /// Lets a record lead to another: makes it one of those at the other end of a reference.
  ///
  /// ```swift
  /// try transaction.add(book, to: Author.books, of: author)
  /// ```
  ///
  /// The stored record changes, as `save` changes it: with its validations, and with its hook before updates. Only its
  /// primary key is taken of `record`. A reference that led elsewhere leads to `owner` now; to a list, `owner` is added
  /// as the last element.
  ///
  /// - Parameter policy: Refuses the change if the reference is unique and another record leads to `owner`, or takes that
  ///   one's place as in `save`.
  /// - Returns: False if it led there already: then nothing has changed.
  /// - Complexity: that of a lookup and of `save`.
  /// - Throws: `StoreError.noSuchRecord` if `record` is not stored; `.invalidValue` if the reference cannot change, since
  ///   it is in the primary key or in a composite that is nil; as `save`: then nothing has changed. That `owner` exists is
  ///   checked by the commit.
  @discardableResult
  public mutating func add<Owner, Related>(
    _ record: Related, to inverse: Inverse<Owner, Related>, of owner: Owner,
    onConflict policy: ConflictPolicy = .refuse
  ) throws -> Bool {
    let end = try RelationEnd(inverse, of: owner, in: entities)
    return try end.change(try end.key(of: record, buffers), .lead, in: self, policy)
  }

  /// Lets a record no longer lead to another: an optional reference is nil, a list is without it.
  ///
  /// ```swift
  /// try transaction.remove(book, from: Author.books, of: author)
  /// ```
  ///
  /// The stored record changes, as `save` changes it. It is not deleted.
  ///
  /// - Returns: False if it did not lead there: then nothing has changed.
  /// - Complexity: that of a lookup and of `save`.
  /// - Throws: `StoreError.noSuchRecord` if `record` is not stored; `.invalidValue` if the reference is not optional;
  ///   `.relationCount` if a list would have too few elements; as `save`: then nothing has changed.
  @discardableResult
  public mutating func remove<Owner, Related>(
    _ record: Related, from inverse: Inverse<Owner, Related>, of owner: Owner
  ) throws -> Bool {
    let end = try RelationEnd(inverse, of: owner, in: entities)
    return try end.change(try end.key(of: record, buffers), .cut, in: self, .refuse)
  }

  /// Lets exactly these records lead to another one: those that are not named are removed, and the others added.
  ///
  /// ```swift
  /// try transaction.set(Author.books, of: author, to: [one, two])
  /// ```
  ///
  /// - Complexity: that of finding the records at the other end, and of a `save` for each that changes.
  /// - Throws: as `add` and `remove`: then nothing has changed.
  public mutating func set<Owner, Related>(
    _ inverse: Inverse<Owner, Related>, of owner: Owner, to records: some Sequence<Related>,
    onConflict policy: ConflictPolicy = .refuse
  ) throws {
    let end = try RelationEnd(inverse, of: owner, in: entities)
    var wanted: [[UInt8]] = []
    for record in records { wanted.append(try end.key(of: record, buffers)) }
    let named = Set(wanted)
    try savepoint { transaction in
      let found = try transaction.recordReader().find(
        inverse(of: owner), of: end.type, for: .keysInAnyOrder)
      var left: [[UInt8]] = []
      while try found.next() {
        let key = found.key.array()
        if !named.contains(key) { left.append(key) }
      }
      for key in left { _ = try end.change(key, .cut, in: transaction, .refuse) }
      for key in wanted { _ = try end.change(key, .lead, in: transaction, policy) }
    }
  }
}

// MARK: - How

/// One record's end of a relation, that of those that lead to it.
private struct RelationEnd<Related: Record> {
  let type: RecordType<Related>
  let change: ReferenceChange

  init<Owner>(
    _ inverse: Inverse<Owner, Related>, of owner: Owner, in entities: Entities
  ) throws(StoreError) {
    type = try entities.type(Related.self)
    let destination = try entities.type(Owner.self).record
    change = try ReferenceChange(
      of: type, try type.field(of: inverse.property), to: destination, owner.id.fieldValue,
      inverse: inverse.name)
  }

  func key(of record: Related, _ buffers: WriteBuffers) throws(StoreError) -> [UInt8] {
    try type.encodeKey(record, to: buffers.key, row: buffers.row)
    let key = buffers.key
    return key.key.array()
  }

  /// Changes the record with a primary key. Returns false if nothing changes.
  func change(
    _ key: [UInt8], _ kind: ReferenceChange.Kind, in transaction: borrowing WriteTransaction,
    _ policy: ConflictPolicy
  ) throws -> Bool {
    let writer = transaction.writer
    try writer.checkUsable()
    var row: [UInt8] = []
    let isThere = try writer.trees.copyValue(of: key.rawSpan, in: type.rows, to: &row)
    try writer.check(isThere, .isThere, key.rawSpan, of: type)
    let changed = RowWriter()
    guard
      try change.apply(kind, key: key.rawSpan, row: row.rawSpan, to: changed)
    else { return false }
    let record = try type.load(
      key: key.rawSpan, row: changed.row, blobs: writer.blobFinder(of: type))
    try transaction.write(record, of: type, .isThere, policy)
    return true
  }
}
