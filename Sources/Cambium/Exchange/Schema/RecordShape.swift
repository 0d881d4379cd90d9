/// The fields of a record as its values nest: parts within their composites.
package struct RecordShape {
  package let name: String
  package let fields: [FieldShape]
  /// In the order of the primary key.
  package let key: [FieldShape]

  package init(_ record: RecordSchema) {
    name = record.name
    fields = FieldShape.fields(of: nil, in: record)
    let outermost = fields
    key = record.primaryKey.compactMap { part in
      outermost.first { $0.number == part.field }
    }
  }

  /// The fields that a kind declares itself.
  package static func fields(ofKind kind: FieldSchema, in record: RecordSchema) -> [FieldShape] {
    let kinds = record.kinds(of: kind.number).map(\.composite)
    return FieldShape.fields(of: kind.number, in: record).filter { field in
      !kinds.contains(field.number) && !record.isMarker(field.number)
    }
  }

  /// The key first, then the other fields.
  package var columns: [FieldShape] {
    let numbers = Set(key.map(\.number))
    return key + fields.filter { !numbers.contains($0.number) }
  }
}

/// A field, and its parts where it is a composite.
package struct FieldShape {
  package let number: UInt32
  /// Its own, without those of the composites that it is in.
  package let name: String
  /// The name of the property of a Swift type that has it; nil if there is none.
  let property: String?
  package let type: ColumnType
  package let isOptional: Bool
  /// The name of the record that it leads to, if it is a reference.
  package let destination: String?
  package let parts: [FieldShape]

  /// True if its values are strings, in the row or outside of it.
  package var isString: Bool {
    if case .external(.string, _) = type { true } else { type == .string }
  }

  /// Returns true of the name of its property, and of its stored name.
  func hasName(_ name: String) -> Bool { self.name == name || property == name }

  /// - Parameter property: Returns the name of the property that has a field; nil if the record has no Swift type.
  static func fields(
    of composite: UInt32?, in record: RecordSchema, _ property: (String) -> String? = { _ in nil }
  ) -> [FieldShape] {
    fields(of: composite, among: record.declaredParts, property)
  }

  /// - Parameter parts: All fields of the record, by the composites that they are parts of.
  private static func fields(
    of composite: UInt32?, among parts: [UInt32?: [FieldSchema]], _ property: (String) -> String?
  ) -> [FieldShape] {
    (parts[composite] ?? []).map { field in
      FieldShape(
        number: field.number, name: field.lastName, property: property(field.name),
        type: field.type,
        isOptional: field.isOptional,
        destination: field.reference?.typeName,
        parts: field.type == .composite ? fields(of: field.number, among: parts, property) : [])
    }
  }
}

extension FieldShape {
  /// Fails if the record has no field of that full name.
  init?(named name: String, in record: RecordSchema) {
    guard let field = record.field(named: name),
      let shape = Self.fields(of: field.composite, in: record)
        .first(where: { $0.number == field.number })
    else { return nil }
    self = shape
  }
}

extension FieldShape {
  /// Creates a column whose values are computed: numbers, or values of fields without parts.
  package init(computed name: String) {
    self.init(
      number: 0, name: name, property: nil, type: .scalar(.int64), isOptional: true,
      destination: nil, parts: [])
  }
}
