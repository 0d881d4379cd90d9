#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The kind of the values of an expression.
package enum ComputedKind: Hashable, Sendable, BitwiseCopyable {
  case null, boolean, integer, double, decimal, date, string, url, data, uuid

  package var isNumber: Bool { self == .integer || self == .double || self == .decimal }

  package init(_ type: ScalarType) {
    self =
      switch type {
      case .boolean: .boolean
      case .float, .double: .double
      case .date: .date
      case .uuid: .uuid
      case .decimal: .decimal
      case .string: .string
      case .url: .url
      case .binaryData: .data
      default: .integer
      }
  }

  /// Nil for values of which nothing is computed.
  package init?(_ value: FieldValue) {
    switch value {
    case .null: self = .null
    case .boolean: self = .boolean
    case .integer, .unsigned: self = .integer
    case .float, .double: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .data: self = .data
    case .uuid: self = .uuid
    case .url: self = .url
    case .array, .composite, .blob: return nil
    }
  }
}

extension FieldValue {
  /// Returns a constant as a value of another kind that it can stand for; nil if there is none.
  func adapted(to kind: ComputedKind) -> FieldValue? {
    switch (ComputedKind(self), kind) {
    case (.double?, .decimal): compared(as: .decimal)
    case (.string?, .date): compared(as: .date)
    case (.string?, .uuid): compared(as: .uuid)
    case (.string?, .url): compared(as: .url)
    default: nil
    }
  }

  /// Converts the value as `converted` does; a string in the form of ISO 8601 is also a date, and a double without a
  /// fraction an integer.
  func compared(as type: ColumnType) -> FieldValue? {
    if let converted = converted(to: type) { return converted }
    switch self {
    case .string(let text) where type == .date: return Date(iso: text).map { .date($0) }
    case .double(let value):
      return Int64(exactly: value).flatMap { FieldValue.integer($0).converted(to: type) }
    default: return nil
    }
  }
}
