/// A condition on a record's fields, bound to where its rows have them: it is decided on their bytes.
///
/// It is a list of terms, each with the term to ask next when it holds and when it does not. What it means
/// is `FieldCondition`'s. Nothing is decoded or allocated to ask, but where texts are computed, or are not
/// ASCII and matched without regard to case or marks.
final class RowCondition: Sendable {
  private let terms: [RowTerm]
  private let first: UInt32
  let operands: RowOperands
  /// A term by which most rows can be rejected; nil if each has to be read.
  let quick: QuickTerm?

  /// - Throws: `.invalidQuery` where the record has no such field, or the field's values cannot be asked
  ///   so, or not with the value.
  init(_ condition: FieldCondition, in layout: RowLayout) throws(StoreError) {
    var builder = RowConditionBuilder(layout)
    let first = try builder.add(condition, onTrue: RowTerm.accept, onFalse: RowTerm.reject)
    self.first = first
    terms = builder.terms
    operands = builder.operands
    quick = first < terms.count ? QuickTerm(terms[Int(first)], layout) : nil
  }

  /// Returns true if a record meets it.
  ///
  /// - Throws: `.corrupt` where a value that it looks at is damaged.
  @inline(__always)
  func holds(for record: RowReader) throws(StoreError) -> Bool {
    var next = Int(first)
    while next < terms.count {
      let term = terms[next]
      next = Int(try term.holds(for: record, operands) ? term.onTrue : term.onFalse)
    }
    return next == Int(RowTerm.accept)
  }
}

/// The operands of a condition's terms that are longer than a word.
struct RowOperands: Sendable {
  var bytes: [UInt8] = []
  var decimals: [DecimalParts] = []
  var lists: [RowList] = []
  var matchers: [TextMatcher] = []
  var elements: [ElementTerm] = []
  var computed = ComputedTerms()
  /// The ways in which the parts of the primary key are skipped.
  var keyParts: [KeySkip] = []
}
