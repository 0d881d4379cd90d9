/// Decides of rows whether they are of some kinds.
struct RowShare: Sendable {
  private let kinds: RowKinds?
  /// In step with all kinds.
  private let isTaken: [Bool]
  private let hasPlain: Bool
  /// The bytes of a row up to the end of its fixed part, in which it says of which kind it is.
  private let fixedEnd: Int

  /// - Parameters:
  ///   - composites: The composites of the innermost kinds that its rows are of.
  ///   - hasPlain: True if rows of no kind are among them.
  init(ofKinds composites: Set<UInt32>, hasPlain: Bool, in layout: RowLayout) {
    kinds = layout.kinds
    isTaken = (layout.kinds?.all ?? []).map { kind in
      composites.contains(layout.columns[kind.column].field.number)
    }
    self.hasPlain = hasPlain
    fixedEnd = layout.fixedEnd
  }

  /// - Parameter row: One whose frame was checked.
  func contains(_ row: RawSpan) -> Bool {
    guard let kind = kinds?.kind(of: row) else { return hasPlain }
    return isTaken[kind]
  }

  /// Returns true if a row is of other kinds. A row without its frame is left to its reader.
  func leavesOut(_ row: RawSpan) -> Bool { row.byteCount >= fixedEnd && !contains(row) }
}
