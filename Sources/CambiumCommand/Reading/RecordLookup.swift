import Cambium

extension StoreSnapshot {
  /// Returns the record with a primary key, and the shape of its type. Long strings are blobs.
  ///
  /// - Parameters:
  ///   - type: Its stored name.
  ///   - key: The parts of the key, as arguments.
  /// - Throws: `CommandFailure` if there is no such type or record; as `find`.
  func record(_ type: String, key: [String]) throws -> (DynamicRecord, RecordShape) {
    let shape = RecordShape(try schema.type(named: type))
    let parts = try shape.keyValues(key)
    guard let record = try find(parts, of: shape, stringsAsBlobs: true) else {
      throw CommandFailure.noRecord(type, parts)
    }
    return (record, shape)
  }

  /// Returns the record with a primary key; nil if there is none.
  ///
  /// - Parameter parts: The values of the key's fields, in their order.
  /// - Throws: `StoreError.invalidQuery`, `.corrupt`, `.io`, `.closed`.
  func find(
    _ parts: [FieldValue], of shape: RecordShape, stringsAsBlobs: Bool = false
  ) throws -> DynamicRecord? {
    var found: DynamicRecord?
    try forEach(
      record: shape.name, where: .and(shape.conditions(on: parts)), limit: 1,
      stringsAsBlobs: stringsAsBlobs
    ) {
      found = $0
    }
    return found
  }
}

extension RecordShape {
  /// The conditions that hold of the record with a primary key alone.
  func conditions(on parts: [FieldValue]) -> [FieldCondition] {
    zip(key, parts).map { field, value in
      FieldCondition.comparison(field: field.name, .equal, value)
    }
  }
}

extension CommandFailure {
  static func noRecord(_ name: String, _ key: [FieldValue]) -> CommandFailure {
    CommandFailure(.notFound, "There is no \(name.inOneLine) with the key \(key.text).")
  }
}

extension [FieldValue] {
  /// The parts of a key, for a sentence.
  var text: String { map(\.cell).joined(separator: ", ") }
}
