import Cambium

/// The fields of a record as its values nest: parts within their composites.
struct RecordShape {
  let name: String
  let fields: [FieldShape]
  /// In the order of the primary key.
  let key: [FieldShape]

  init(_ record: RecordSchema) {
    name = record.name
    fields = FieldShape.fields(of: nil, in: record)
    let outermost = fields
    key = record.primaryKey.compactMap { part in
      outermost.first { $0.number == part.field }
    }
  }

  /// The fields that a kind declares itself.
  static func fields(ofKind kind: FieldSchema, in record: RecordSchema) -> [FieldShape] {
    let kinds = record.kinds(of: kind.number).map(\.composite)
    return FieldShape.fields(of: kind.number, in: record).filter { field in
      !kinds.contains(field.number) && !record.isMarker(field.number)
    }
  }

  /// The key first, then the other fields.
  var columns: [FieldShape] {
    let numbers = Set(key.map(\.number))
    return key + fields.filter { !numbers.contains($0.number) }
  }
}

/// A field, and its parts where it is a composite.
struct FieldShape {
  let number: UInt32
  /// Its own, without those of the composites that it is in.
  let name: String
  let type: ColumnType
  let isOptional: Bool
  /// The name of the record that it leads to, if it is a reference.
  let destination: String?
  let parts: [FieldShape]

  /// Whether its values are strings, in the row or outside of it.
  var isString: Bool {
    if case .external(.string, _) = type { true } else { type == .string }
  }

  fileprivate static func fields(of composite: UInt32?, in record: RecordSchema) -> [FieldShape] {
    record.fields.filter { $0.composite == composite }.map { field in
      FieldShape(
        number: field.number, name: field.lastName, type: field.type, isOptional: field.isOptional,
        destination: field.reference?.destination,
        parts: field.type == .composite ? fields(of: field.number, in: record) : [])
    }
  }
}
