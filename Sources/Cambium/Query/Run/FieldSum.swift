#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The sum of the numbers of a field; null is left out.
struct FieldSum: Sendable {
  /// The number of numbers.
  private(set) var count = 0
  private var integers: Int128 = 0
  private var doubles = 0.0
  /// Nil if they are too high or too low for a decimal.
  private var decimals: DecimalParts? = DecimalParts(isNegative: false, exponent: 0, magnitude: 0)
  private let place: ColumnPlace
  private let type: ScalarType
  /// The least length of a row that has the column; none is as long where it is no double of fixed place.
  private let fixedEnd: Int

  /// - Throws: `.invalidQuery` where the field's values are no numbers.
  init(of column: Column, in layout: RowLayout) throws(StoreError) {
    place = column.place
    guard let type = column.field.type.scalar, type.isNumber else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no sum")
    }
    self.type = type
    fixedEnd = type == .double && place.kind == .fixed ? layout.fixedEnd : .max
  }

  /// Adds a row's value of a column of doubles, of which only the sum is needed. False for other columns, and
  /// where the row may be damaged.
  @inline(__always)
  mutating func addFixed(_ row: RawSpan) -> Bool {
    guard row.byteCount >= fixedEnd, row.load(0, as: UInt8.self) <= RowFlags.endWidthMax else {
      return false
    }
    if let bit = place.nullBit, row.isNull(bit: bit) { return true }
    count &+= 1
    doubles += Double(bitPattern: row.load(place.index, as: UInt64.self))
    return true
  }

  /// Adds a record's value.
  ///
  /// - Throws: `.corrupt`.
  @inline(__always)
  mutating func add(_ record: RowReader) throws(StoreError) {
    if record.isNull(place) { return }
    count &+= 1
    if place.kind == .key { return try addKey(record) }
    let index = place.index
    if let value = record.row.integer(type, at: index) {
      integers &+= value
      return
    }
    switch type {
    case .double: doubles += record.double(index)
    case .float: doubles += Double(record.float(index))
    case .decimal: add(try record.decimal(index))
    default: break
    }
  }

  @inline(never)
  private mutating func addKey(_ record: RowReader) throws(StoreError) {
    switch try record.keyValue(place.index) {
    case .integer(let value): integers &+= Int128(value)
    case .unsigned(let value): integers &+= Int128(value)
    case .float(let value): doubles += Double(value)
    case .double(let value): doubles += value
    case .decimal(let value): add(value)
    default: break
    }
  }

  @inline(never)
  private mutating func add(_ value: Decimal) {
    guard let sum = decimals, !sum.isNaN else { return }
    let parts = DecimalParts(value)
    decimals = parts.isNaN ? parts : DecimalParts.sum(sum, parts)
  }

  private var decimalTotal: Decimal? { decimals?.decimal }

  private var decimalAverage: Decimal? {
    guard let decimals, count > 0 else { return nil }
    if decimals.isNaN { return .nan }
    let count = DecimalParts(isNegative: false, exponent: 0, magnitude: UInt128(count))
    return DecimalParts.quotient(decimals, count)?.decimal
  }
}

// MARK: Results

extension FieldSum {
  /// The sum as the widest of its kind; nil for integers that are beyond 64 bits together, and decimals beyond
  /// the range of a decimal.
  var total: FieldValue? {
    switch type {
    case .float, .double: .double(doubles)
    case .decimal: decimalTotal.map { .decimal($0) }
    default: Int64(exactly: integers).map { .integer($0) }
    }
  }

  /// The type of the sum.
  var totalType: ScalarType {
    switch type {
    case .float, .double: .double
    case .decimal: .decimal
    default: .int64
    }
  }

  /// The average; nil if there are no numbers.
  var average: FieldValue? {
    if count == 0 { return Optional.none }
    switch type {
    case .float, .double: return .double(doubles / Double(count))
    case .decimal: return decimalAverage.map { .decimal($0) }
    default: return .double(Double(integers) / Double(count))
    }
  }
}
