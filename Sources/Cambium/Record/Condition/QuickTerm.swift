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
