import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A key of parts that a test chooses, all of them fields of one record.
struct SampleKey {
  let layout: RowLayout
  let key: KeyLayout
  private let encoder = KeyEncoder()

  static let forms: [KeyForm] = (0..<4).map { KeyForm(rawValue: UInt8($0)) }

  /// - Parameter endsKey: Whether nothing follows the last part.
  init(_ parts: [(type: ScalarType, form: KeyForm)], endsKey: Bool = true) throws {
    let schema = SampleRecord.schema(
      [("id", .uuid, false)]
        + parts.enumerated().map {
          ("part\($0)", .scalar($1.type), $1.form.contains(.isOptional))
        })
    layout = try RowLayout(schema, version: 1)
    key = layout.keyLayout(
      parts.enumerated().map {
        KeyPart(
          field: UInt32($0 + 2), isDescending: $1.form.contains(.isDescending),
          isCaseInsensitive: $1.form.contains(.isCaseInsensitive))
      }, endsKey: endsKey)
  }

  static func random(using random: inout SplitMix64) throws -> SampleKey {
    let parts = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      (
        ScalarType.allCases.randomElement(using: &random) ?? .string,
        forms.randomElement(using: &random) ?? []
      )
    }
    return try SampleKey(parts, endsKey: Bool.random(using: &random))
  }

  func encode(_ values: [FieldValue]) throws -> Bytes {
    encoder.begin()
    for (value, column) in zip(values, key.columns) {
      try encoder.append(value, column, of: layout)
    }
    try encoder.finishPrimaryKey(of: layout)
    return encoder.key.array()
  }

  func decode(_ bytes: Bytes) throws(StoreError) -> [FieldValue] {
    var reader = KeyReader(bytes.rawSpan, layout: layout)
    var values: [FieldValue] = []
    for column in key.columns { values.append(try reader.value(column)) }
    try reader.finish()
    return values
  }

  /// Values near to one another, and their key.
  func sample(using random: inout SplitMix64) throws -> (values: [FieldValue], key: Bytes) {
    var values: [FieldValue] = []
    for column in key.columns {
      let edges = SampleValues.edges(column.type)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where column.form.contains(.isOptional): values.append(.null)
      case 1: values.append(SampleValues.random(column.type, using: &random))
      default: values.append(edges.randomElement(using: &random) ?? .null)
      }
    }
    return (values, try encode(values))
  }

  func order(_ ones: [FieldValue], _ others: [FieldValue]) throws -> Int {
    for (column, (one, other)) in zip(key.columns, zip(ones, others)) {
      let order = try SampleValues.order(one, other)
      if order != 0 { return column.form.contains(.isDescending) ? -order : order }
    }
    return 0
  }
}
