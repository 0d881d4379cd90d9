@testable import Cambium

/// Records that tests make rows and keys of.
enum SampleRecord {
  /// A record whose fields are numbered from 1 on; the first is the key unless another is named.
  static func schema(
    _ fields: [(name: String, type: ColumnType, isOptional: Bool)], key: [String]? = nil,
    descending: Set<String> = [], indexes: [IndexSchema] = []
  ) -> RecordSchema {
    let numbers = Dictionary(
      uniqueKeysWithValues: fields.enumerated().map { ($1.name, UInt32($0 + 1)) })
    return RecordSchema(
      number: 1, name: "Item",
      fields: fields.map { field in
        let outer = field.name.split(separator: ".").dropLast().joined(separator: ".")
        return FieldSchema(
          number: numbers[field.name] ?? 0, name: field.name, type: field.type,
          isOptional: field.isOptional, composite: numbers[outer], modifier: nil)
      },
      primaryKey: (key ?? [fields[0].name]).map {
        KeyPart(
          field: numbers[$0] ?? 0, isDescending: descending.contains($0), isCaseInsensitive: false)
      },
      indexes: indexes, modifier: nil)
  }

  /// The record that speed is measured with.
  static let eightFields = schema([
    ("id", .uuid, false), ("creationDate", .date, false), ("name", .string, false),
    ("city", .string, false), ("age", .int64, false), ("score", .double, false),
    ("isActive", .boolean, false), ("note", .string, true),
  ])
}
