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
    guard term.onFalse == RowTerm.reject, term.action == .number else { return nil }
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
    guard column.place.kind == .fixed, let operand = value.fixedNumber(of: column.type)
    else { return nil }
    // Null comes first and not a number last, or the other way round.
    let orders: RowTerm.Orders =
      column.form.contains(.isDescending) ? [.greater, .same, .none] : [.less, .same, .null]
    let term = RowTerm(.number, orders, type: column.type, at: column.place, operand: operand)
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
  /// The operand that asks for the value in columns of a type; nil if that is no number of fixed width.
  fileprivate func fixedNumber(of type: ScalarType) -> UInt64? {
    switch (type, self) {
    case (.float, .float(let value)) where !value.isNaN: return Double(value).bitPattern
    case (.double, .double(let value)) where !value.isNaN: return value.bitPattern
    case (.date, .date(let value)):
      let seconds = value.timeIntervalSinceReferenceDate
      return seconds.isNaN ? nil : seconds.bitPattern
    case (_, .integer(let value)) where type.isInteger: return UInt64(bitPattern: value)
    case (_, .unsigned(let value)) where type.isInteger: return value
    default: return nil
    }
  }
}
