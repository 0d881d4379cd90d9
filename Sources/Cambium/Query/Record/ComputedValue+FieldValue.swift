#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldValue {
  /// Creates the value that an expression of some kind has; nil for an integer beyond 64 bits, and for bytes that are no
  /// value of the kind.
  init?(_ value: ComputedValue, of kind: ComputedKind) {
    let result: FieldValue? =
      switch value {
      case .null: FieldValue.null
      case .integer(let number): Self.value(of: number, kind)
      case .double(let number): Self.value(of: number, kind)
      case .decimal(let number): FieldValue.decimal(number.decimal)
      case .bytes(let bytes): Self.value(of: bytes, kind)
      }
    guard let result else { return nil }
    self = result
  }

  private static func value(of number: Int128, _ kind: ComputedKind) -> FieldValue? {
    if kind == .boolean { return .boolean(number != 0) }
    if let number = Int64(exactly: number) { return .integer(number) }
    return UInt64(exactly: number).map { .unsigned($0) }
  }

  private static func value(of number: Double, _ kind: ComputedKind) -> FieldValue? {
    kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
  }

  private static func value(of bytes: [UInt8], _ kind: ComputedKind) -> FieldValue? {
    let span = bytes.rawSpan
    switch kind {
    case .string:
      guard let string = String(utf8: span) else { return nil }
      return .string(string)
    case .url:
      guard let url = URL(rowBytes: span) else { return nil }
      return .url(url)
    case .uuid:
      guard span.byteCount == 16, let uuid = UUID(rowBytes: span) else { return nil }
      return .uuid(uuid)
    default: return .data(Data(bytes))
    }
  }
}
