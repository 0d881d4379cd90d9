#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldValue {
  /// A value as people write it where its type is known: a string without quotes, a date as
  /// `2026-01-02T03:04:05Z`, data in hexadecimal digits. Nil if it is none.
  package init?(text: String, _ type: ColumnType) {
    let value: FieldValue? =
      switch type.scalar {
      case .string: .string(text)
      case .url: URL(absolute: text).map { .url($0) }
      case .boolean: Bool(text).map { .boolean($0) }
      case .int8, .int16, .int32, .int64: Int64(text).map { .integer($0) }
      case .uint8, .uint16, .uint32, .uint64: UInt64(text).map { .unsigned($0) }
      case .float: Float(numberText: text).map { .float($0) }
      case .double: Double(numberText: text).map { .double($0) }
      case .decimal: Decimal(numberText: text).map { .decimal($0) }
      case .date: Date(iso: text).map { .date($0) }
      case .uuid: Self.literal("uuid", text)
      case .binaryData: Self.literal("data", text)
      case nil:
        switch type {
        case .external(let type, _): FieldValue(text: text, .scalar(type))
        case .transformable: Self.literal("data", text)
        case .scalar, .array, .composite: nil
        }
      }
    guard let value else { return nil }
    self = value
  }

  private static func literal(_ type: String, _ text: String) -> FieldValue? {
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
    return isPlain ? try? FieldValue(parsing: "\(type)\"\(text)\"") : nil
  }
}
