/// How the store gives a value to a field that a program leaves open.
///
/// ```swift
/// struct Invoice: Record {
///   var number = 0  // given by the store
///   var total: Decimal
///
///   static func recordDescription(for version: Int) -> RecordDescription {
///     Field("number", primaryKey: true, generated: .sequence)
///     Field("total")
///   }
/// }
/// let invoice = try store.write { try $0.insertAndFetch(Invoice(total: 12)) }
/// print(invoice.number)
/// ```
///
/// A program leaves the field open by 0, or by nil if it is optional. The idea is that of identity columns in SQL.
public struct Generation: Hashable, Sendable {
  let sequence: SequenceSchema

  /// Gives a new record the next number: 1, 2, 3 and so on.
  ///
  /// - The number is that of the transaction: one that fails, is rolled back, or is lost in a crash with its records gives its
  ///   numbers back, and the next transaction begins with them. Since one transaction writes at a time, numbers are in the order of
  ///   commits, and failures leave no gaps. Savepoints give theirs back as well.
  /// - A deleted record leaves a gap: its number is not given again.
  /// - A record that is saved with a number of its own keeps it, as those of an import do. The sequence continues after the
  ///   greatest number that a record ever had.
  /// - A record that is saved again with 0 or nil keeps the number that it has in the store.
  /// - Numbers are given after hooks and validations have run. ``WriteTransaction/insertAndFetch(_:)`` and
  ///   ``WriteTransaction/saveAndFetch(_:)`` return a record with its number.
  /// - A record is refused with `StoreError.invalidValue` if its field's type does not hold the next number.
  ///
  /// The field is of an integer type of any width, and no two records may have the same number: it is `unique`, or the primary key
  /// alone. It may be a field of a kind, but no part of another composite. Whether a field has a sequence, and which, is part of the
  /// fingerprint. A migration gives numbers to the records that have none, in the order of their primary keys.
  public static let sequence = Generation(sequence: SequenceSchema())

  /// Gives a new record the next number of a sequence that begins with another one, or has another distance from number to number.
  ///
  /// ```swift
  /// Field("number", unique: true, generated: .sequence(from: 1_000))
  /// ```
  ///
  /// - Parameters:
  ///   - first: The first number, at least 1.
  ///   - step: The distance from one number to the next, at least 1.
  ///   - withoutGaps: True to refuse, with `StoreError.invalidValue`, whatever a program does that would leave a gap: a record with
  ///     a number of its own that is greater than the next one, and another number for a record that has one. Deletions are
  ///     not refused; a `beforeDelete` hook can do that.
  public static func sequence(
    from first: Int = 1, by step: Int = 1, withoutGaps: Bool = false
  ) -> Generation {
    Generation(
      sequence: SequenceSchema(
        first: Int64(first), step: Int64(step), hasNoGaps: withoutGaps))
  }
}

/// The part of a field's schema that says which numbers a sequence gives.
package struct SequenceSchema: Hashable, Sendable {
  /// The first number, from 1.
  package internal(set) var first: Int64 = 1
  /// The distance from one number to the next, from 1.
  package internal(set) var step: Int64 = 1
  /// True if records are refused that would leave a gap.
  package internal(set) var hasNoGaps = false
}

extension SequenceSchema {
  /// Returns the number after another one, which need not be of the sequence: a record may have had one of its own. Nil if
  /// there is none within 64 bits.
  ///
  /// - Parameter last: 0 if there is none yet.
  func next(after last: UInt64) -> UInt64? {
    let (first, step) = (UInt64(clamping: first), UInt64(clamping: step))
    guard last >= first, step > 0 else { return first }
    let (distance, isTooFar) = ((last - first) / step + 1).multipliedReportingOverflow(by: step)
    let (next, isTooHigh) = first.addingReportingOverflow(distance)
    return isTooFar || isTooHigh ? nil : next
  }

  /// Why there can be no such sequence; nil if there can.
  var fault: String? {
    if first < 1 { return "its sequence begins with \(first); the first number is at least 1" }
    if step < 1 { return "its sequence has a step of \(step); the step is at least 1" }
    return nil
  }
}

extension SequenceSchema: CustomStringConvertible {
  /// The sequence in words, as “sequence from 1000 by 10 without gaps”.
  package var description: String {
    "sequence" + (first == 1 ? "" : " from \(first)") + (step == 1 ? "" : " by \(step)")
      + (hasNoGaps ? " without gaps" : "")
  }
}

extension SequenceSchema {
  /// The declaration as code has it.
  var swift: String {
    var arguments: [String] = []
    if first != 1 { arguments.append("from: \(first)") }
    if step != 1 { arguments.append("by: \(step)") }
    if hasNoGaps { arguments.append("withoutGaps: true") }
    return ".sequence" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
  }
}
