internal import FoundationEssentials

/// A column compared with a value that is not null.
struct RowComparison: Sendable {
  private let place: ColumnPlace
  private let type: ScalarType?
  private let comparison: FieldCondition.Comparison
  private let operand: Operand

  /// A value so that it compares with what a row holds.
  fileprivate enum Operand: Sendable {
    case signed(Int64)
    /// Booleans too.
    case unsigned(UInt64)
    /// Floats and dates too.
    case double(Double)
    /// Strings, URLs, data, UUIDs, and arrays as rows have them.
    case bytes([UInt8])
    /// As in keys.
    case decimal([UInt8])
  }

  init(
    _ column: Column, _ comparison: FieldCondition.Comparison, _ value: FieldValue,
    in layout: RowLayout
  ) throws(StoreError) {
    let type = column.field.type
    guard let converted = value.converted(to: type), let operand = Operand(converted, of: type)
    else { throw layout.refusal(column, "it cannot be compared with \(value)") }
    if type.scalar == nil, comparison != .equal, comparison != .notEqual {
      throw layout.refusal(column, "values of \(type) have no order")
    }
    place = column.place
    self.type = type.scalar
    self.comparison = comparison
    self.operand = operand
  }

  func holds(for record: RowReader) throws(StoreError) -> Bool {
    if record.isNull(place) { return comparison == .notEqual }
    guard let order = try order(of: record) else { return comparison == .notEqual }
    return switch comparison {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Whether the column's value comes before, with, or after the operand: negative, 0, positive. Nil
  /// where it has no order.
  private func order(of record: RowReader) throws(StoreError) -> Int? {
    if place.kind == .key { return try orderOfKey(record) }
    switch operand {
    case .signed(let other): return Self.order(signed(record), other)
    case .unsigned(let other): return Self.order(try unsigned(record), other)
    case .double(let other):
      let value = type == .float ? Double(record.float(place.index)) : record.double(place.index)
      return Self.order(value, other)
    case .bytes(let other):
      if type == .uuid { return record.row.part(place.index, 16).compare(other.rawSpan) }
      return record.bytes(place.index).compare(other.rawSpan)
    case .decimal(let other):
      let parts = DecimalParts(try record.decimal(place.index))
      return parts.isNaN ? nil : parts.keyBytes.rawSpan.compare(other.rawSpan)
    }
  }

  private func signed(_ record: RowReader) -> Int64 {
    switch type {
    case .int8: Int64(record.load(place.index, as: Int8.self))
    case .int16: Int64(record.load(place.index, as: Int16.self))
    case .int32: Int64(record.load(place.index, as: Int32.self))
    default: record.load(place.index, as: Int64.self)
    }
  }

  private func unsigned(_ record: RowReader) throws(StoreError) -> UInt64 {
    switch type {
    case .boolean: try record.boolean(place.index) ? 1 : 0
    case .uint8: UInt64(record.load(place.index, as: UInt8.self))
    case .uint16: UInt64(record.load(place.index, as: UInt16.self))
    case .uint32: UInt64(record.load(place.index, as: UInt32.self))
    default: record.load(place.index, as: UInt64.self)
    }
  }

  private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int? {
    one < other ? -1 : one > other ? 1 : one == other ? 0 : nil
  }
}

// MARK: Values

extension RowComparison {
  private func orderOfKey(_ record: RowReader) throws(StoreError) -> Int? {
    guard let type, let value = Operand(try record.keyValue(place.index), of: type.columnType)
    else {
      return nil
    }
    switch (value, operand) {
    case (.signed(let one), .signed(let other)): return Self.order(one, other)
    case (.unsigned(let one), .unsigned(let other)): return Self.order(one, other)
    case (.double(let one), .double(let other)): return Self.order(one, other)
    case (.bytes(let one), .bytes(let other)), (.decimal(let one), .decimal(let other)):
      return one.rawSpan.compare(other.rawSpan)
    default: return nil
    }
  }
}

extension RowComparison.Operand {
  /// - Returns: nil for a value that is not of the type, or has no order though the type has.
  fileprivate init?(_ value: FieldValue, of type: ColumnType) {
    switch value {
    case .integer(let value): self = .signed(value)
    case .unsigned(let value): self = .unsigned(value)
    case .boolean(let value): self = .unsigned(value ? 1 : 0)
    case .float(let value): self = .double(Double(value))
    case .double(let value): self = .double(value)
    case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
    case .decimal(let value):
      let parts = DecimalParts(value)
      guard !parts.isNaN else { return nil }
      self = .decimal(parts.keyBytes)
    case .uuid(let value):
      var bytes: [UInt8] = []
      bytes.append(integer: UInt128(bytesOf: value))
      self = .bytes(bytes)
    default:
      guard let bytes = value.variableBytes(of: type) else { return nil }
      self = .bytes(bytes)
    }
  }
}
