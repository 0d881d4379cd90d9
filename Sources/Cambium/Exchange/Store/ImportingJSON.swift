#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Records that come as JSON.

extension WriteTransaction {
  /// Imports records from JSON: adds each, or replaces the one with its primary key.
  ///
  /// ```swift
  /// let report = try transaction.importRecords(Item.self, decoding: data, merging: true)
  /// ```
  ///
  /// Of records with the same primary key, the last one is imported, in the place of the first. References are decoded as
  /// the keys that they lead to, and may lead to records that come later in the same transaction.
  ///
  /// - Parameters:
  ///   - data: An array of objects, or objects that follow one another, as lines do.
  ///   - decoder: Decodes each object, unless they are merged.
  ///   - isMerging: True if fields that an object does not have stay as they are; those of a new record get their defaults.
  ///     Objects are then read by the described fields, which have the names of their properties or their stored names: dates
  ///     are ISO 8601 or numbers of seconds since 2001, data is base64, values of types with a codec are any JSON. Parts of
  ///     composites are merged as well. The fields of a kind's parents are in the property that has the parent; a record that
  ///     is of another kind becomes one of the type's. Other members are passed over.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Complexity: As that of an import of as many sources, and reading the JSON. All records are in memory.
  /// - Throws: `StoreError.invalidValue`, with the number of the line, for text that is not JSON, and for an object of which
  ///   no record can be made; as `save(_:onConflict:)`: then nothing is imported.
  @discardableResult
  public mutating func importRecords<Subject: Record>(
    _ type: Subject.Type, decoding data: Data, using decoder: JSONDecoder = JSONDecoder(),
    merging isMerging: Bool = false
  ) throws -> ImportReport {
    let type = try entities.type(Subject.self)
    let run = try ImportRun(type, writer)
    if isMerging { return try merge(data, of: type, run) }
    let buffers = buffers
    var records: [Subject] = []
    try data.forEachJSON(of: type) { json throws(StoreError) in
      let record: Subject
      do { record = try decoder.decode(Subject.self, from: Data(json)) } catch {
        throw type.undecodable(error)
      }
      let key = buffers.key
      try type.encodeKey(record, to: key, row: buffers.row)
      try run.append(key: key.key)
      records.append(record)
    }
    var report = ImportReport()
    report.duplicates = run.begin()
    run.expectNoOthers()
    return try importRecords(records, of: type, run, report) { _, record, _ in record }
  }

  private mutating func merge<Subject: Record>(
    _ data: Data, of type: RecordType<Subject>, _ run: ImportRun
  ) throws -> ImportReport {
    let members = RecordMembers(type.record, type.properties)
    let buffers = buffers
    var objects: [[String: FieldValue]] = []
    try data.forEachJSON(of: type) { json throws(StoreError) in
      let fields: [String: FieldValue]
      do throws(JSONFault) {
        fields = try members.values(of: try JSONParser.parse(json))
      } catch {
        throw .invalidValue(record: type.record.name, field: nil, reason: error.reason)
      }
      try run.append(keyOf: fields, buffers)
      objects.append(fields)
    }
    var report = ImportReport()
    report.duplicates = run.begin()
    run.expectNoOthers()
    return try importRecords(objects, of: type, run, report) { transaction, fields, _ in
      let (key, row) = (transaction.buffers.key, transaction.buffers.row)
      try run.merge(fields, over: type, to: row, key: key)
      // As a value, it passes through all that others have to.
      return try type.read(
        key: key.key, row: row.row,
        blobs: BlobFinder(row.waiting, unstored: run.unstored(of: type)))
    }
  }
}

extension ImportRun {
  /// Puts key and row of the present source's record together: with `fields`, and otherwise as it is.
  ///
  /// - Throws: as `DynamicRecord.encode`; `.corrupt`.
  func merge(
    _ fields: [String: FieldValue], over entity: Entity, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    var record = DynamicRecord(entity.record.name, RecordFields(fields))
    if unsafe isFound {
      record = try DynamicRecord(
        try entity.row(key: self.key, row: self.row, blobs: blobs(of: entity)))
      for (name, value) in fields {
        record[name] = record.fields[name].map { value.merged(into: $0) } ?? value
      }
    }
    try record.encode(to: row, key: key, layout: entity.layout, defaults: entity.defaults)
  }
}

extension FieldValue {
  /// Returns the value in place of an older one: of a composite, parts that it does not name stay as they are.
  fileprivate func merged(into old: FieldValue) -> FieldValue {
    guard case .composite(let parts) = self, case .composite(let oldParts) = old else {
      return self
    }
    return .composite(oldParts.merging(parts) { old, new in new.merged(into: old) })
  }
}

extension KeyEncoder {
  /// Puts a primary key together of the values of fields.
  ///
  /// - Throws: `.invalidValue` if one is missing, or of another type.
  func encode(
    primaryKeyIn fields: [String: FieldValue], of entity: Entity
  ) throws(StoreError) {
    let layout = entity.layout
    begin()
    for part in layout.key.columns {
      let field = layout.columns[Int(part.column)].field
      guard let value = fields[field.name] else {
        throw .invalidValue(
          record: layout.record.name, field: field.name, reason: "the primary key is missing")
      }
      try append(value.converted(to: field.type) ?? value, part, of: layout)
    }
    try finishPrimaryKey(of: layout)
  }
}

extension RecordType {
  /// The error of JSON that a type does not decode.
  fileprivate func undecodable(_ error: any Error) -> StoreError {
    guard let error = error as? DecodingError else {
      return .invalidValue(record: record.name, field: nil, reason: "\(error)")
    }
    let (context, key): (DecodingError.Context, (any CodingKey)?) =
      switch error {
      case .keyNotFound(let key, let context): (context, key)
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        (context, nil)
      @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
      }
    let path = (context.codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
    return .invalidValue(
      record: record.name, field: path.isEmpty ? nil : path.joined(separator: "."),
      reason: context.debugDescription)
  }
}

extension Data {
  /// Calls `body` with each value of JSON, and has its errors name the line.
  fileprivate func forEachJSON(
    of entity: Entity, _ body: ([UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var divider = JSONDivider()
    // A byte order mark is no JSON, but some write it.
    for byte in starts(with: [0xef, 0xbb, 0xbf]) ? dropFirst(3) : self[...] {
      let value: [UInt8]?
      do throws(JSONFault) { value = try divider.take(byte) } catch { throw error.refusal(entity) }
      guard let value else { continue }
      do throws(StoreError) { try body(value) } catch { throw error.inLine(divider.valueLine) }
    }
    let last: [UInt8]?
    do throws(JSONFault) { last = try divider.end() } catch { throw error.refusal(entity) }
    guard let last else { return }
    do throws(StoreError) { try body(last) } catch { throw error.inLine(divider.valueLine) }
  }
}

extension JSONFault {
  fileprivate func refusal(_ entity: Entity) -> StoreError {
    .invalidValue(record: entity.record.name, field: nil, reason: description)
  }
}

extension StoreError {
  /// The error with the line of the value that it is of.
  fileprivate func inLine(_ line: Int) -> StoreError {
    guard case .invalidValue(let record, let field, let reason) = self else { return self }
    return .invalidValue(record: record, field: field, reason: "line \(line): \(reason)")
  }
}

// MARK: - In a transaction of its own

extension PersistentStore {
  /// Imports records from JSON, in a transaction of its own: adds each, or replaces the one with its primary key.
  ///
  /// - Parameters:
  ///   - data: An array of objects, or objects that follow one another, as lines do.
  ///   - decoder: Decodes each object, unless they are merged.
  ///   - isMerging: True if fields that an object does not have stay as they are; see `WriteTransaction.importRecords`.
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Complexity: As that of `WriteTransaction.importRecords`, and a commit.
  /// - Throws: as `write` and `WriteTransaction.importRecords`. Then nothing is imported.
  @discardableResult
  public func importRecords<Subject: Record>(
    _ type: Subject.Type, decoding data: Data, using decoder: JSONDecoder = JSONDecoder(),
    merging isMerging: Bool = false, durability: Durability? = nil
  ) throws -> ImportReport {
    try write(durability: durability) { transaction in
      try transaction.importRecords(type, decoding: data, using: decoder, merging: isMerging)
    }
  }
}
