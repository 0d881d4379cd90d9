#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A derived field that is computed from the records that lead to its own.
final class Aggregate: DerivedColumn {
  /// The place among the owner's columns.
  let column: Int
  let field: FieldSchema
  let kind: DerivationSchema.Kind
  /// The reference by which the others lead to the owner.
  let link: Link
  /// The place of the others' column whose values are used; nil for counts and expressions.
  let source: Int?
  /// The expression whose values are used; nil for counts and columns.
  let expression: DerivedValue?
  let absentBit: Int?

  init?(_ column: Int, of owner: Entity, _ relations: RelationMap?) {
    let field = owner.layout.columns[column].field
    guard let derivation = field.derivation, derivation.isAggregate,
      let link = relations?.links(to: owner).first(where: {
        $0.source.record.number == derivation.relatedNumber
          && $0.field.number == derivation.referenceNumber
      })
    else { return nil }
    self.column = column
    self.field = field
    self.link = link
    kind = derivation.kind
    absentBit = owner.layout.absentBit(of: column)
    source = link.source.layout.index(number: derivation.sourceNumber)
    expression = DerivedValue(field, in: link.source.layout, owner: owner.record.name)
  }

  /// The value of an owner that no record leads to.
  var empty: FieldValue { field.isOptional ? .null : field.type.underived }

  /// The contribution of a record that leads to owners.
  ///
  /// - Throws: `.invalidValue` for an expression without a result, or with one that the field cannot hold; `.corrupt`.
  func contribution(of row: RowReader) throws(StoreError) -> FieldValue {
    if let source { return try row.value(source) }
    if kind == .count { return .null }
    guard let expression else { throw row.fault(ofDerived: field) }
    return try expression.value(of: row)
  }
}

// MARK: - From all records

extension Aggregate {
  /// Computes the value of an owner from all records that lead to it.
  ///
  /// - Complexity: Of counts, two ranks; of others, reads all those records.
  /// - Throws: `.invalidValue` for a sum that the field cannot hold, or an expression without a result; `.corrupt`, `.io`.
  func value(of key: RawSpan, in trees: TreeAccess) throws(StoreError) -> FieldValue {
    let encoder = KeyEncoder()
    if kind == .count { return .integer(Int64(try link.count(to: key, in: trees, encoder))) }
    let related = link.source
    var total = Total()
    var row: [UInt8] = []
    try link.forEachSource(to: key, in: trees, encoder) { source throws(StoreError) in
      guard try trees.copyValue(of: source, in: related.rows, to: &row) else {
        throw related.missingRow(source)
      }
      add(try contribution(of: try related.row(key: source, row: row.rawSpan)), to: &total)
      return true
    }
    return try result(of: total, key)
  }

  /// The facts about the values that were added.
  fileprivate struct Total {
    /// An extreme; nil before the first value.
    var extreme: FieldValue?
    /// The values of a sum of doubles.
    var doubles: [Double] = []
    /// A sum of integers, which may be beyond 64 bits until all have come; nil before the first value.
    var integer: Int128?
    /// A sum of decimals; nil before the first value.
    var decimal: DecimalParts?
    /// Decimals that such a sum does not hold exactly until others have come.
    var waiting: [DecimalParts] = []
  }

  private func add(_ value: FieldValue, to total: inout Total) {
    if value == .null { return }
    guard kind == .sum else {
      if isBeyond(value, total.extreme) { total.extreme = value }
      return
    }
    if let value = value.asDouble {
      total.doubles.append(value)
    } else if case .decimal(let value) = value {
      total.add(DecimalParts(value))
    } else if let value = value.asInteger {
      total.integer = (total.integer ?? 0) + value
    }
  }

  private func result(of total: Total, _ key: RawSpan) throws(StoreError) -> FieldValue {
    guard kind == .sum else { return total.extreme ?? empty }
    if field.type == .scalar(.double) {
      // In an order of their own, so that the sum does not depend on the index by which they were found.
      return .double(total.doubles.sorted { $0 < $1 || $1.isNaN && !$0.isNaN }.reduce(0, +))
    }
    if total.decimal != nil || !total.waiting.isEmpty {
      guard let sum = total.exactDecimal else {
        throw refusal(key, "has more digits than a decimal holds")
      }
      return .decimal(sum.decimal)
    }
    guard let integer = total.integer else { return empty }
    guard let value = Int64(exactly: integer) else { throw refusal(key, "is beyond 64 bits") }
    return .integer(value)
  }

  /// True if a value takes the place of the extreme.
  private func isBeyond(_ value: FieldValue, _ extreme: FieldValue?) -> Bool {
    if value.isNaN { return false }
    guard let extreme, extreme != .null else { return true }
    let order = value.compare(to: extreme) ?? 0
    return kind == .minimum ? order < 0 : order > 0
  }
}

// MARK: - From one change

extension Aggregate {
  /// The value of an owner after one record has changed, from the value before.
  ///
  /// - Parameters:
  ///   - had: The contribution of the record before, if it led to the owner.
  ///   - has: Its contribution now, if it leads to the owner.
  /// - Returns: nil if it has to be computed from all records.
  /// - Throws: `.invalidValue` for a sum that the field cannot hold.
  func value(
    after old: FieldValue, _ had: FieldValue?, _ has: FieldValue?, of key: RawSpan
  ) throws(StoreError) -> FieldValue? {
    if had == nil, has == nil { return old }
    switch kind {
    case .count:
      guard case .integer(let count) = old else { return nil }
      return .integer(count &- (had == nil ? 0 : 1) &+ (has == nil ? 0 : 1))
    case .sum:
      if (had ?? .null).isSame(as: has ?? .null) { return old }
      let isExact = field.type != .scalar(.double)
      guard isExact, ![old, had ?? .null, has ?? .null].contains(where: \.isNaN) else { return nil }
      return try sum(old, adding: has ?? .null, removing: had ?? .null, key)
    default:
      if let had, had != .null, !had.isNaN, had.compare(to: old) == 0 {
        guard let has, has != .null, !isBeyond(old, has), !has.isNaN else { return nil }
      }
      guard let has, has != .null else { return old }
      return isBeyond(has, old) ? has : old
    }
  }

  /// Adds and subtracts integers or decimals exactly; null is nothing.
  private func sum(
    _ sum: FieldValue, adding new: FieldValue, removing old: FieldValue = .null, _ key: RawSpan
  ) throws(StoreError) -> FieldValue {
    if case .decimal(let value) = sum {
      var parts = DecimalParts(value)
      if case .decimal(let old) = old { parts = try add(DecimalParts(old).negated, to: parts, key) }
      if case .decimal(let new) = new { parts = try add(DecimalParts(new), to: parts, key) }
      return .decimal(parts.decimal)
    }
    let total = (sum.asInteger ?? 0) + (new.asInteger ?? 0) - (old.asInteger ?? 0)
    guard let value = Int64(exactly: total) else { throw refusal(key, "is beyond 64 bits") }
    return .integer(value)
  }

  private func add(
    _ value: DecimalParts, to sum: DecimalParts, _ key: RawSpan
  ) throws(StoreError) -> DecimalParts {
    guard let total = DecimalParts.exactSum(sum, value) else {
      throw refusal(key, "has more digits than a decimal holds")
    }
    return total
  }

  private func refusal(_ key: RawSpan, _ reason: String) -> StoreError {
    let owner = link.destination
    return .invalidValue(
      record: owner.record.name, field: field.name,
      reason: "the \(field.derivation?.description ?? "") of \(owner.text(ofKey: key)) \(reason)")
  }
}

extension Aggregate.Total {
  fileprivate mutating func add(_ value: DecimalParts) {
    if let sum = DecimalParts.exactSum(decimal ?? .zero, value) {
      decimal = sum
    } else {
      waiting.append(value)
    }
  }

  /// The sum of all decimals; nil if no decimal holds it.
  fileprivate var exactDecimal: DecimalParts? {
    var total = self
    while !total.waiting.isEmpty {
      let waiting = total.waiting
      total.waiting = []
      for value in waiting { total.add(value) }
      if total.waiting.count == waiting.count { return nil }
    }
    return total.decimal
  }
}

extension DecimalParts {
  fileprivate static var zero: DecimalParts {
    DecimalParts(isNegative: false, exponent: 0, magnitude: 0)
  }

  /// Returns the sum of two decimals; nil if it would be rounded.
  fileprivate static func exactSum(_ one: DecimalParts, _ other: DecimalParts) -> DecimalParts? {
    if one.isNaN || other.isNaN { return .nan }
    // A rounded sum does not lead back to both.
    guard let total = sum(one, other), sum(total, other.negated) == one,
      sum(total, one.negated) == other
    else { return nil }
    return total
  }
}

extension FieldValue {
  /// The value of a float or double.
  fileprivate var asDouble: Double? {
    switch self {
    case .double(let value): value
    case .float(let value): Double(value)
    default: nil
    }
  }

  fileprivate var asInteger: Int128? {
    switch self {
    case .integer(let value): Int128(value)
    case .unsigned(let value): Int128(value)
    default: nil
    }
  }
}
