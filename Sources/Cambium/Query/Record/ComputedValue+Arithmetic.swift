internal import FoundationEssentials

extension ComputedValue {
  /// A constant, or what a key holds. Arrays, composites and blobs are null.
  init(_ value: FieldValue) {
    switch value {
    case .null, .array, .composite, .blob: self = .null
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(Int128(value))
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
  func combined(_ other: ComputedValue, _ action: ComputedStep.Action) -> ComputedValue {
    switch (self, other) {
    case (.integer(let one), .integer(let other)): Self.combined(one, other, action)
    case (.double(let one), .double(let other)): Self.combined(one, other, action)
    case (.decimal(let one), .decimal(let other)): Self.combined(one, other, action)
    default: .null
    }
  }

  private static func combined(
    _ one: Int128, _ other: Int128, _ action: ComputedStep.Action
  ) -> ComputedValue {
    let result: (partialValue: Int128, overflow: Bool) =
      switch action {
      case .plus: one.addingReportingOverflow(other)
      case .minus: one.subtractingReportingOverflow(other)
      case .times: one.multipliedReportingOverflow(by: other)
      case .divided: one.dividedReportingOverflow(by: other)
      default: one.remainderReportingOverflow(dividingBy: other)
      }
    return result.overflow ? .null : .integer(result.partialValue)
  }

  private static func combined(
    _ one: Double, _ other: Double, _ action: ComputedStep.Action
  ) -> ComputedValue {
    let result =
      switch action {
      case .plus: one + other
      case .minus: one - other
      case .times: one * other
      case .divided: one / other
      default: one.truncatingRemainder(dividingBy: other)
      }
    return result.isFinite ? .double(result) : .null
  }

  private static func combined(
    _ one: DecimalParts, _ other: DecimalParts, _ action: ComputedStep.Action
  ) -> ComputedValue {
    guard !one.isNaN, !other.isNaN else { return .null }
    let result: DecimalParts? =
      switch action {
      case .plus: .sum(one, other)
      case .minus: .sum(one, other.negated)
      case .times: .product(one, other)
      case .divided: .quotient(one, other)
      default: nil
      }
    return result.map { .decimal($0) } ?? .null
  }
}
