#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A condition on a record's fields, bound to where its rows have them: it is decided on their bytes.
///
/// It is a list of terms, each with the term to ask next when it holds and when it does not. Its meaning
/// is `FieldCondition`'s. Nothing is decoded or allocated to ask, but where texts are computed, or are not
/// ASCII and matched without regard to case or marks.
final class RowCondition: Sendable {
  private let terms: [RowTerm]
  private let first: UInt32
  let operands: RowOperands
  /// A term by which most rows can be rejected; nil if each has to be read.
  let quick: QuickTerm?

  /// - Parameter scope: The state and the keys for conditions across relations; nil if there can be none.
  /// - Throws: `.invalidQuery` where the record has no such field, or the field's values cannot be asked
  ///   so, or not with the value.
  init(
    _ condition: FieldCondition, in layout: RowLayout, _ scope: RelatedScope? = nil
  ) throws(StoreError) {
    var builder = RowConditionBuilder(layout, scope)
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
  var related: [any RelatedTerm] = []
  /// The ways in which the parts of the primary key are skipped.
  var keyParts: [KeySkip] = []
}

/// The values of a list, so that one is found among them without looking at all.
struct RowList: Sendable {
  private enum Values: Sendable {
    case words([UInt64])
    case bytes([UInt8], ends: [Int])
    case decimals(Set<DecimalParts>)
  }

  private let values: Values

  init(words: [UInt64]) {
    values = .words(Array(Set(words)).sorted())
  }

  init(bytes runs: [[UInt8]]) {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    for run in runs.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      bytes += run
      ends.append(bytes.count)
    }
    values = .bytes(bytes, ends: ends)
  }

  init(decimals: [DecimalParts]) {
    values = .decimals(Set(decimals))
  }
}

extension RowList {
  func contains(_ word: UInt64) -> Bool {
    guard case .words(let words) = values else { return false }
    var low = 0
    var high = words.count
    while low < high {
      let middle = (low &+ high) / 2
      if words[middle] < word { low = middle &+ 1 } else { high = middle }
    }
    return low < words.count && words[low] == word
  }

  func contains(_ value: DecimalParts) -> Bool {
    guard case .decimals(let decimals) = values, !value.isNaN else { return false }
    return decimals.contains(value)
  }

  func contains(_ bytes: RawSpan) -> Bool {
    find { run in bytes.compare(run) }
  }

  /// Returns true if one of the values is what `bytes` begins with; none begins with another.
  func containsStart(of bytes: RawSpan) -> Bool {
    find { run in
      let order = bytes.part(0, min(bytes.byteCount, run.byteCount)).compare(run)
      return order
    }
  }

  /// - Parameter order: Compares the sought key with a value: before, with, or after it.
  private func find(_ order: (RawSpan) -> Int) -> Bool {
    guard case .bytes(let bytes, let ends) = values else { return false }
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      let start = middle == 0 ? 0 : ends[middle - 1]
      let order = order(bytes.rawSpan.part(start, ends[middle] - start))
      if order == 0 { return true }
      if order > 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }
}

/// An element that an array column is to have.
struct ElementTerm: Sendable {
  private let type: ScalarType
  private let element: Element

  private enum Element: Sendable {
    case double(Double)
    /// The bytes of a value as a row has it.
    case bytes([UInt8])
  }

  /// - Returns: nil for a value that is not of the type.
  init?(_ value: FieldValue, of type: ScalarType) {
    self.type = type
    switch value {
    case .float(let value): element = .double(Double(value))
    case .double(let value): element = .double(value)
    case .date(let value): element = .double(value.timeIntervalSinceReferenceDate)
    default:
      guard let bytes = type.swiftType.rowBytes(of: value) else { return nil }
      element = .bytes(bytes)
    }
  }

  /// - Throws: `.corrupt` where the bytes are no array of the type's.
  func isFound(in bytes: RawSpan, _ record: RowReader) throws(StoreError) -> Bool {
    guard let array = ArrayReader(bytes, of: type) else {
      throw record.fault(.rowValues, "an array is not whole elements")
    }
    if case .bytes(let element) = element { return array.contains(element.rawSpan) }
    for index in 0..<array.count where isSame(array.element(index)) { return true }
    return false
  }

  private func isSame(_ bytes: RawSpan) -> Bool {
    switch element {
    case .bytes(let element): return bytes.equals(element.rawSpan)
    case .double(let element):
      let value =
        type == .float
        ? Double(Float(bitPattern: bytes.load(0, as: UInt32.self)))
        : Double(bitPattern: bytes.load(0, as: UInt64.self))
      return value == element
    }
  }
}
