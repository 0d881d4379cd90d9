#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value on its way. Booleans are integers, dates are seconds, and strings and bytes are themselves.
enum ComputedValue: Sendable {
  case null
  case integer(Int128)
  case double(Double)
  case decimal(DecimalParts)
  case bytes([UInt8])
}

/// An integer on its way.
enum ComputedInteger: BitwiseCopyable, Sendable {
  case null
  case value(Int64)
  /// It takes more than 64 bits, or has no result: it has to be computed with 128.
  case wide
}

extension Double {
  @inline(__always)
  func combined(_ other: Double, _ operation: FieldArithmetic) -> Double {
    switch operation {
    case .plus: self + other
    case .minus: self - other
    case .times: self * other
    case .divided: self / other
    case .remainder: truncatingRemainder(dividingBy: other)
    }
  }
}

extension Int64 {
  @inline(__always)
  func combined(_ other: Int64, _ operation: FieldArithmetic) -> ComputedInteger {
    let result: (partialValue: Int64, overflow: Bool) =
      switch operation {
      case .plus: addingReportingOverflow(other)
      case .minus: subtractingReportingOverflow(other)
      case .times: multipliedReportingOverflow(by: other)
      case .divided: dividedReportingOverflow(by: other)
      case .remainder: remainderReportingOverflow(dividingBy: other)
      }
    return result.overflow ? .wide : .value(result.partialValue)
  }
}

// MARK: - Arithmetic

extension ComputedValue: CustomStringConvertible {
  /// For errors.
  var description: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value.decimal)"
    case .bytes: "a value"
    }
  }

  /// True of numbers, and of dates, that are finite.
  var isNumber: Bool {
    switch self {
    case .integer: true
    case .double(let value): value.isFinite
    case .decimal(let value): !value.isNaN
    case .null, .bytes: false
    }
  }

  /// A constant, or a value of a key. Arrays, composites and blobs are null.
  init(_ value: FieldValue) {
    switch value {
    case .null, .array, .composite, .blob: self = .null
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(Int128(small: value))
    case .unsigned(let value): self = .integer(Int128(value))
    case .float(let value): self = .double(Double(value))
    case .double(let value): self = .double(value)
    case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
    case .decimal(let value): self = .decimal(DecimalParts(value))
    case .string(let value): self = .bytes(Array(value.utf8))
    case .url(let value): self = .bytes(Array(value.absoluteString.utf8))
    case .data(let value): self = .bytes(Array(value))
    case .uuid: self = .bytes(value.rowBytes(of: .uuid) ?? [])
    }
  }

  /// Returns its order to another value: if one is null, that of null; nil if both are.
  func order(to other: ComputedValue) -> RowTerm.Orders? {
    switch (self, other) {
    case (.null, .null): nil
    case (.null, _), (_, .null): .null
    case (.integer(let one), .integer(let other)): RowTerm.Orders(of: one, other)
    case (.double(let one), .double(let other)): RowTerm.Orders(of: one, other)
    case (.decimal(let one), .decimal(let other)): other.order(of: one)
    case (.bytes(let one), .bytes(let other)):
      RowTerm.Orders(sign: one.rawSpan.compare(other.rawSpan))
    default: RowTerm.Orders.none
    }
  }

  var negated: ComputedValue {
    switch self {
    case .integer(let value):
      let (result, overflows) = Int128(0).subtractingReportingOverflow(value)
      return overflows ? .null : .integer(result)
    case .double(let value): return value.isFinite ? .double(-value) : .null
    case .decimal(let value): return value.isNaN ? .null : .decimal(value.negated)
    case .null, .bytes: return .null
    }
  }

  /// Combines two values of one kind; earlier steps have made them so.
  ///
  /// - Parameter isExact: True if a sum or product of decimals that would have to be rounded is none.
  func combined(
    _ other: ComputedValue, _ operation: FieldArithmetic, isExact: Bool = false
  ) -> ComputedValue {
    switch (self, other) {
    case (.integer(let one), .integer(let other)): Self.combined(one, other, operation)
    case (.double(let one), .double(let other)): Self.combined(one, other, operation)
    case (.decimal(let one), .decimal(let other)):
      Self.combined(one, other, operation, isExact: isExact)
    default: .null
    }
  }

  private static func combined(
    _ one: Int128, _ other: Int128, _ operation: FieldArithmetic
  ) -> ComputedValue {
    let result: (partialValue: Int128, overflow: Bool) =
      switch operation {
      case .plus: one.addingReportingOverflow(other)
      case .minus: one.subtractingReportingOverflow(other)
      case .times: one.multipliedReportingOverflow(by: other)
      case .divided: one.dividedReportingOverflow(by: other)
      case .remainder: one.remainderReportingOverflow(dividingBy: other)
      }
    return result.overflow ? .null : .integer(result.partialValue)
  }

  private static func combined(
    _ one: Double, _ other: Double, _ operation: FieldArithmetic
  ) -> ComputedValue {
    let result = one.combined(other, operation)
    return result.isFinite ? .double(result) : .null
  }

  private static func combined(
    _ one: DecimalParts, _ other: DecimalParts, _ operation: FieldArithmetic, isExact: Bool
  ) -> ComputedValue {
    guard !one.isNaN, !other.isNaN else { return .null }
    let result: DecimalParts? =
      switch operation {
      case .plus: .sum(one, other, isExact: isExact)
      case .minus: .sum(one, other.negated, isExact: isExact)
      case .times: .product(one, other, isExact: isExact)
      case .divided: .quotient(one, other)
      case .remainder: nil
      }
    return result.map { .decimal($0) } ?? .null
  }
}
