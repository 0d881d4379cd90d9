internal import FoundationEssentials

/// The first question of a condition, where a row that fails it is rejected, and it is asked of a number of fixed
/// width: then it can be asked of bytes that nothing else is known of.
///
/// Where most rows are passed by, most are passed by with no more than this.
struct QuickTerm: BitwiseCopyable, Sendable {
  private let term: RowTerm
  /// The least length of a row that has the number.
  private let lengthMin: Int
  /// The offset of the byte with the number's null bit.
  private let nullOffset: Int
  private let nullMask: UInt8

  /// Fails if the question has to be asked of a whole record.
  init?(_ term: RowTerm, _ layout: RowLayout) {
    guard term.onFalse == RowTerm.reject, term.action.isOfFixedNumber else { return nil }
    self.term = term
    lengthMin = layout.fixedEnd
    let bit = term.nullBitIndex
    nullOffset = RowLayout.nullsOffset + (bit ?? 0) / 8
    nullMask = bit.map { 1 << UInt8($0 % 8) } ?? 0
  }

  /// Creates the question whether a row can come at a place in an order, or before it.
  ///
  /// - Parameter value: What the record at that place has in the column.
  /// - Returns: nil where that has to be asked of a whole record.
  init?(notBehind value: FieldValue, _ column: KeyColumn, _ layout: RowLayout) {
    guard column.place.kind == .fixed, let (action, operand) = value.fixedNumber(of: column.type)
    else { return nil }
    // Null comes first and not a number last, or the other way round.
    let orders: RowTerm.Orders =
      column.form.contains(.isDescending) ? [.greater, .same, .none] : [.less, .same, .null]
    let term = RowTerm(action, orders, at: column.place, operand: operand)
    self.init(term.followed(onTrue: RowTerm.accept, onFalse: RowTerm.reject), layout)
  }

  /// Returns true if no record of the row meets the condition. False also where the row may be damaged.
  @inline(__always)
  func rejects(_ row: RawSpan) -> Bool {
    guard row.byteCount >= lengthMin, row.load(0, as: UInt8.self) <= RowFlags.endWidthMax else {
      return false
    }
    if row.load(nullOffset, as: UInt8.self) & nullMask != 0 { return !term.orders.has(.null) }
    return !term.orders.has(term.orderOfFixedNumber(in: row))
  }
}

extension FieldValue {
  /// How the value is asked for in columns of a type; nil if it is no number of fixed width.
  fileprivate func fixedNumber(of type: ScalarType) -> (RowTerm.Action, UInt64)? {
    let action: RowTerm.Action
    switch type {
    case .int8: action = .int8
    case .int16: action = .int16
    case .int32: action = .int32
    case .int64: action = .int64
    case .uint8: action = .uint8
    case .uint16: action = .uint16
    case .uint32: action = .uint32
    case .uint64: action = .uint64
    case .float: action = .float
    case .double, .date: action = .double
    case .boolean, .uuid, .decimal, .string, .url, .binaryData: return nil
    }
    switch self {
    case .integer(let value): return (action, UInt64(bitPattern: value))
    case .unsigned(let value): return (action, value)
    case .float(let value) where !value.isNaN: return (action, Double(value).bitPattern)
    case .double(let value) where !value.isNaN: return (action, value.bitPattern)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      return seconds.isNaN ? nil : (action, seconds.bitPattern)
    default: return nil
    }
  }
}

extension RowTerm.Action {
  fileprivate var isOfFixedNumber: Bool {
    switch self {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double: true
    default: false
    }
  }
}
