#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One question that a condition asks of a row, and which is asked next.
struct RowTerm: BitwiseCopyable, Sendable {
  let action: Action
  /// Which orders of the row's value and the operand are meant.
  let orders: Orders
  let type: ScalarType
  /// The operand of a key is all of the rest, not only its beginning.
  let isRaw: Bool
  private let nullBit: Int32
  /// The offset or number of a column, the part of a key.
  let place: UInt32
  /// The offset of a key's part, unless it varies.
  let keyOffset: UInt32
  private(set) var onTrue: UInt32 = 0
  private(set) var onFalse: UInt32 = 0
  /// The operand's bits, or where it is among those that are more than a word.
  let operand: UInt64

  /// The next term if the condition is decided.
  static var accept: UInt32 { .max }
  static var reject: UInt32 { .max - 1 }
  static var varyingOffset: UInt32 { .max }

  enum Action: UInt8, BitwiseCopyable {
    case isThere
    /// A number of fixed width, or a date.
    case number
    case boolean, uuid
    case bytes, prefix, decimal
    /// A part of the key, by its width.
    case key1, key2, key4, key8
    case keyBytes
    case wordInList, bytesInList, decimalInList, keyWordInList, keyBytesInList
    case match, keyMatch
    case element
    case computed, related
  }

  /// The possible orders, a bit for each.
  struct Orders: OptionSet, BitwiseCopyable, Sendable {
    let rawValue: UInt8

    static let less = Orders(rawValue: 1)
    static let same = Orders(rawValue: 2)
    static let greater = Orders(rawValue: 4)
    /// One is not a number.
    static let none = Orders(rawValue: 8)
    /// The row's value is null.
    static let null = Orders(rawValue: 16)
  }

  init(
    _ action: Action, _ orders: Orders, type: ScalarType = .binaryData, at place: ColumnPlace,
    keyOffset: UInt32 = RowTerm.varyingOffset, isRaw: Bool = false, operand: UInt64 = 0
  ) {
    self.action = action
    self.orders = orders
    self.type = type
    self.isRaw = isRaw
    nullBit = place.nullBit.map { Int32($0) } ?? -1
    self.place = UInt32(place.index)
    self.keyOffset = keyOffset
    self.operand = operand
  }

  /// No difference is made between keys before and keys after.
  @inline(__always)
  private var isOfEquality: Bool { orders.has(.less) == orders.has(.greater) }

  /// The bit in the row that says that there is no value; nil if there always is one.
  var nullBitIndex: Int? { nullBit < 0 ? nil : Int(nullBit) }

  func followed(onTrue: UInt32, onFalse: UInt32) -> RowTerm {
    var term = self
    term.onTrue = onTrue
    term.onFalse = onFalse
    return term
  }
}

extension RowTerm.Orders {
  init(_ comparison: FieldComparison) {
    self =
      switch comparison {
      case .equal: .same
      case .notEqual: [.less, .greater, .none, .null]
      case .less: .less
      case .lessOrEqual: [.less, .same]
      case .greater: .greater
      case .greaterOrEqual: [.greater, .same]
      }
  }

  @inline(__always)
  init<Value: Comparable>(of one: Value, _ other: Value) {
    self = one < other ? .less : one == other ? .same : one > other ? .greater : .none
  }

  @inline(__always)
  init(sign: Int) { self = sign < 0 ? .less : sign == 0 ? .same : .greater }

  /// The orders if all values are in the opposite order.
  var reversed: RowTerm.Orders {
    var orders = subtracting([.less, .greater])
    if contains(.less) { orders.insert(.greater) }
    if contains(.greater) { orders.insert(.less) }
    return orders
  }

  @inline(__always)
  func has(_ order: RowTerm.Orders) -> Bool { rawValue & order.rawValue != 0 }
}

// MARK: Asking

extension RowTerm {
  @inline(__always)
  func holds(for record: RowReader, _ operands: RowOperands) throws(StoreError) -> Bool {
    if nullBit >= 0, record.row.isNull(bit: Int(nullBit)) { return orders.has(.null) }
    return orders.has(try order(of: record, operands))
  }

  @inline(__always)
  private func order(
    of record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let place = Int(place)
    switch action {
    case .number: return orderOfFixedNumber(in: record.row)
    case .boolean: return unsigned(try record.boolean(place) ? UInt8(1) : 0)
    case .bytes: return order(of: record.bytes(place), operands)
    case .prefix: return prefixOrder(of: record.bytes(place), operands)
    case .isThere: return .same
    case .key1, .key2, .key4, .key8:
      return Orders(of: try keyWord(of: record), operand)
    default: return try rareOrder(of: record, operands)
    }
  }

  /// The order of a number that the row has at its place and the operand.
  @inline(__always)
  func orderOfFixedNumber(in row: RawSpan) -> Orders {
    let place = Int(place)
    switch type {
    case .int8: return signed(row.load(place, as: Int8.self))
    case .int16: return signed(row.load(place, as: Int16.self))
    case .int32: return signed(row.load(place, as: Int32.self))
    case .int64: return signed(row.load(place, as: Int64.self))
    case .uint8: return unsigned(row.load(place, as: UInt8.self))
    case .uint16: return unsigned(row.load(place, as: UInt16.self))
    case .uint32: return unsigned(row.load(place, as: UInt32.self))
    case .uint64: return unsigned(row.load(place, as: UInt64.self))
    case .float:
      let value = Float(bitPattern: row.load(place, as: UInt32.self))
      return Orders(of: Double(value), Double(bitPattern: operand))
    default:
      let value = Double(bitPattern: row.load(place, as: UInt64.self))
      return Orders(of: value, Double(bitPattern: operand))
    }
  }

  @inline(__always)
  private func signed<Value: FixedWidthInteger & SignedInteger>(_ value: Value) -> Orders {
    Orders(of: Int64(truncatingIfNeeded: value), Int64(bitPattern: operand))
  }

  @inline(__always)
  private func unsigned<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) -> Orders {
    Orders(of: UInt64(truncatingIfNeeded: value), operand)
  }

  @inline(__always)
  private func order(of bytes: RawSpan, _ operands: RowOperands) -> Orders {
    let start = Int(operand >> 32)
    let count = Int(operand & 0xffff_ffff)
    if bytes.byteCount != count, isOfEquality { return .less }
    return Orders(sign: bytes.compare(operands.bytes.rawSpan.part(start, count)))
  }

  @inline(__always)
  private func prefixOrder(of bytes: RawSpan, _ operands: RowOperands) -> Orders {
    let start = Int(operand >> 32)
    let count = Int(operand & 0xffff_ffff)
    guard bytes.byteCount >= count else { return .none }
    return bytes.begins(with: operands.bytes.rawSpan.part(start, count)) ? .same : .none
  }

  @inline(never)
  private func rareOrder(
    of record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let index = Int(truncatingIfNeeded: operand)
    let place = Int(place)
    switch action {
    case .uuid: return order(of: record.row.part(place, 16), operands)
    case .decimal:
      guard let value = DecimalParts(decoding: record.bytes(place)) else {
        throw record.notADecimal
      }
      return operands.decimals[index].order(of: value)
    case .keyBytes:
      return try orderOfKey(record, operands)
    case .wordInList:
      guard let word = try record.word(type, at: place) else { return .none }
      return operands.lists[index].contains(word) ? .same : .none
    case .keyWordInList:
      return operands.lists[index].contains(try keyWord(of: record)) ? .same : .none
    case .bytesInList:
      let bytes = type == .uuid ? record.row.part(place, 16) : record.bytes(place)
      return operands.lists[index].contains(bytes) ? .same : .none
    case .keyBytesInList:
      let rest = try keyRest(of: record, operands)
      let list = operands.lists[index]
      return (isRaw ? list.contains(rest) : list.containsStart(of: rest)) ? .same : .none
    case .decimalInList:
      guard let value = DecimalParts(decoding: record.bytes(place)) else {
        throw record.notADecimal
      }
      return operands.lists[index].contains(value) ? .same : .none
    case .match:
      return try matches(record.bytes(place), operands.matchers[index], record) ? .same : .none
    case .keyMatch: return try matchKey(record, operands)
    case .element:
      return try operands.elements[index].isFound(in: record.bytes(place), record) ? .same : .none
    case .computed: return try operands.computed.order(index, record)
    case .related: return try operands.related[index].holds(for: record) ? .same : .none
    default: return .none
    }
  }

  func matches(
    _ text: RawSpan, _ matcher: TextMatcher, _ record: RowReader
  ) throws(StoreError) -> Bool {
    guard let matches = matcher.matches(text) else {
      throw record.fault(.rowValues, "a string is not UTF-8")
    }
    return matches
  }
}

// Primary keys are compared as they are encoded.

extension RowTerm {
  /// A part of a fixed width, as a number that sorts as the key does.
  @inline(__always)
  func keyWord(of record: RowReader) throws(StoreError) -> UInt64 {
    let offset = Int(keyOffset)
    let width = type.keyWidth
    guard offset &+ width <= record.key.byteCount else { throw record.keyEnds }
    switch width {
    case 1: return UInt64(record.key.load(offset, as: UInt8.self))
    case 2: return UInt64(record.key.load(offset, as: UInt16.self).byteSwapped)
    case 4: return UInt64(record.key.load(offset, as: UInt32.self).byteSwapped)
    default: return record.key.load(offset, as: UInt64.self).byteSwapped
    }
  }

  /// The key from the part on.
  @_lifetime(copy record)
  func keyRest(of record: RowReader, _ operands: RowOperands) throws(StoreError) -> RawSpan {
    let offset =
      keyOffset == Self.varyingOffset
      ? try record.keyOffset(of: Int(place), operands.keyParts) : Int(keyOffset)
    guard offset <= record.key.byteCount else { throw record.keyEnds }
    return record.key.part(offset, record.key.byteCount - offset)
  }

  /// Encoded values are compared: no value's bytes begin with another's, so what follows the part does
  /// not matter.
  func orderOfKey(
    _ record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let rest = try keyRest(of: record, operands)
    let other = operands.bytes.rawSpan.part(Int(operand >> 32), Int(operand & 0xffff_ffff))
    if isRaw { return Orders(sign: rest.compare(other)) }
    let common = min(rest.byteCount, other.byteCount)
    let sign = rest.part(0, common).compare(other.part(0, common))
    guard sign != 0 || common == other.byteCount else { throw record.keyEnds }
    return Orders(sign: sign)
  }

  func matchKey(
    _ record: RowReader, _ operands: RowOperands
  ) throws(StoreError) -> Orders {
    let matcher = operands.matchers[Int(operand)]
    if isRaw {
      return try matches(try keyRest(of: record, operands), matcher, record) ? .same : .none
    }
    let text: String
    switch try record.keyValue(Int(place)) {
    case .string(let value): text = value
    case .url(let value): text = value.absoluteString
    default: return .none
    }
    return try matches(Array(text.utf8).rawSpan, matcher, record) ? .same : .none
  }
}

// MARK: - Reading

extension RowReader {
  /// A number that sorts as the value of a fixed column does; nil for NaN.
  func word(_ type: ScalarType, at offset: Int) throws(StoreError) -> UInt64? {
    switch type {
    case .boolean: return try boolean(offset) ? 1 : 0
    case .float:
      let value = float(offset)
      return value.isNaN ? nil : UInt64(value.keyBits)
    case .double, .date:
      let value = double(offset)
      return value.isNaN ? nil : value.keyBits
    default: return row.integer(type, at: offset).map { UInt64(truncatingIfNeeded: $0) }
    }
  }

  /// Returns the offset of a part of the key.
  func keyOffset(of part: Int, _ parts: [KeySkip]) throws(StoreError) -> Int {
    var offset = 0
    for index in 0..<part {
      guard let count = parts[index].length(in: key, from: offset) else { throw keyEnds }
      offset += count
    }
    return offset
  }

  var keyEnds: StoreError { fault(.keyParts, "it ends within a part") }
  var notADecimal: StoreError { fault(.rowValues, "a decimal is none, or not reduced") }
}

/// The way in which a part of a key that is not the last is skipped.
enum KeySkip: BitwiseCopyable, Sendable {
  case fixed(Int)
  /// Bytes after which an end is marked, each turned by a mask.
  case run(UInt8)
  case decimal(UInt8)

  init(_ column: KeyColumn) {
    let mask: UInt8 = column.form.contains(.isDescending) ? 0xff : 0
    if let width = column.type.fixedWidth {
      self = .fixed(width)
    } else {
      self = column.type == .decimal ? .decimal(mask) : .run(mask)
    }
  }

  /// Returns the number of bytes that the part takes from `start` on; nil if it does not end.
  func length(in key: RawSpan, from start: Int) -> Int? {
    switch self {
    case .fixed(let width): return start + width <= key.byteCount ? width : nil
    case .decimal(let mask): return DecimalParts.keyLength(in: key, from: start, mask: mask)
    case .run(let mask):
      var offset = start
      while offset + 1 < key.byteCount {
        if key.load(offset, as: UInt8.self) == mask {
          if key.load(offset + 1, as: UInt8.self) == mask { return offset + 2 - start }
          offset += 1
        }
        offset += 1
      }
      return nil
    }
  }
}

// MARK: - The first term

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
  /// - Parameter value: The column's value in the record at that place.
  /// - Returns: nil if that has to be asked of a whole record.
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
