internal import FoundationEssentials

/// Puts the terms of a condition together, the last first, so that each knows what comes next.
struct RowConditionBuilder {
  let layout: RowLayout
  private(set) var terms: [RowTerm] = []
  var operands = RowOperands()

  /// The depth to which conditions, and computations in them, may be nested.
  static var depthMax: Int { 200 }

  init(_ layout: RowLayout) {
    self.layout = layout
    operands.keyParts = layout.key.columns.map { KeySkip($0) }
  }

  static func tooDeep(_ layout: RowLayout) -> StoreError {
    .invalidQuery(
      record: layout.record.name, field: nil,
      reason: "a condition is nested over \(depthMax) deep")
  }

  /// - Returns: where the condition begins.
  mutating func add(
    _ condition: FieldCondition, onTrue: UInt32, onFalse: UInt32, depth: Int = depthMax
  ) throws(StoreError) -> UInt32 {
    guard depth > 0 else { throw Self.tooDeep(layout) }
    switch condition {
    case .and(let conditions):
      var next = onTrue
      for condition in conditions.reversed() {
        next = try add(condition, onTrue: next, onFalse: onFalse, depth: depth - 1)
      }
      return next
    case .or(let conditions):
      var next = onFalse
      for condition in conditions.reversed() {
        next = try add(condition, onTrue: onTrue, onFalse: next, depth: depth - 1)
      }
      return next
    case .not(let condition):
      return try add(condition, onTrue: onFalse, onFalse: onTrue, depth: depth - 1)
    default:
      guard let term = try term(condition) else { return onFalse }
      terms.append(term.followed(onTrue: onTrue, onFalse: onFalse))
      return UInt32(terms.count - 1)
    }
  }

  /// - Returns: nil for what never holds.
  private mutating func term(_ condition: FieldCondition) throws(StoreError) -> RowTerm? {
    switch condition {
    case .comparison(let name, let comparison, let value):
      let column = try column(name)
      return value == .null
        ? withNull(column, comparison) : try compare(column, comparison, value)
    case .isIn(let name, let values): return try list(try column(name), values)
    case .match(let name, let match): return try self.match(try column(name), match)
    case .contains(let name, let value): return try element(try column(name), value)
    case .computed(let one, let comparison, let other):
      let index = try operands.computed.add(one, comparison, other, in: layout)
      return RowTerm(
        .computed, .same, at: ColumnPlace(.composite, index: 0, nullBit: nil),
        operand: UInt64(index))
    case .and, .or, .not: return nil
    }
  }

  private func column(_ name: String) throws(StoreError) -> Column {
    guard let column = layout.column(named: name) else { throw layout.noSuchField(name) }
    return column
  }

  private func withNull(
    _ column: Column, _ comparison: FieldCondition.Comparison
  ) -> RowTerm? {
    switch comparison {
    case .equal: RowTerm(.isThere, .null, at: column.place)
    case .notEqual: RowTerm(.isThere, .same, at: column.place)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: nil
    }
  }
}

extension RowLayout {
  func noSuchField(_ name: String) -> StoreError {
    .invalidQuery(record: record.name, field: name, reason: "there is no such field")
  }
}

// MARK: Comparisons

extension RowConditionBuilder {
  private mutating func compare(
    _ column: Column, _ comparison: FieldCondition.Comparison, _ value: FieldValue
  ) throws(StoreError) -> RowTerm {
    let value = try converted(value, column)
    let orders = RowTerm.Orders(comparison)
    guard let type = column.field.type.scalar else {
      guard comparison.isOfEquality else {
        throw layout.queryRefusal(column, "values of \(column.field.type) have no order")
      }
      return RowTerm(
        .bytes, orders, at: column.place,
        operand: keep(value.rowBytes(of: column.field.type) ?? []))
    }
    if value.isNaN {
      return RowTerm(.isThere, orders.has(.none) ? [.same, .null] : [], at: column.place)
    }
    if column.place.kind == .key { return try compareKey(column, orders, value) }
    return RowTerm(
      RowTerm.Action(type), orders, type: type, at: column.place,
      operand: try operand(value, type, column))
  }

  private mutating func operand(
    _ value: FieldValue, _ type: ScalarType, _ column: Column
  ) throws(StoreError) -> UInt64 {
    switch value {
    case .boolean(let value): return value ? 1 : 0
    case .integer(let value): return UInt64(bitPattern: value)
    case .unsigned(let value): return value
    case .float(let value): return Double(value).bitPattern
    case .double(let value): return value.bitPattern
    case .date(let value): return value.timeIntervalSinceReferenceDate.bitPattern
    case .decimal(let value):
      operands.decimals.append(DecimalParts(value))
      return UInt64(operands.decimals.count - 1)
    default:
      guard let bytes = type.swiftType.rowBytes(of: value) else {
        throw layout.queryRefusal(column, value)
      }
      return keep(bytes)
    }
  }

  private mutating func compareKey(
    _ column: Column, _ orders: RowTerm.Orders, _ value: FieldValue
  ) throws(StoreError) -> RowTerm {
    let part = layout.key.columns[column.place.index]
    let bytes = try keyBytes(value, part)
    let orders = part.form.contains(.isDescending) ? orders.reversed : orders
    let action = keyAction(part)
    return RowTerm(
      action, orders, type: part.type, at: column.place, keyOffset: keyOffset(part),
      isRaw: isRaw(part), operand: action == .keyBytes ? keep(bytes) : Self.word(bytes))
  }

  /// The value as the column holds it.
  func converted(
    _ value: FieldValue, _ column: Column
  ) throws(StoreError) -> FieldValue {
    if column.field.type.isExternal {
      throw layout.queryRefusal(column, "what lies outside of rows is only compared with nil")
    }
    guard let converted = value.compared(as: column.field.type) else {
      throw layout.queryRefusal(column, "it cannot be compared with \(value)")
    }
    if case .decimal(let decimal) = converted, decimal.isNaN {
      throw layout.queryRefusal(column, "it cannot be compared with \(value)")
    }
    return converted
  }

  /// Puts bytes among the operands.
  mutating func keep(_ bytes: [UInt8]) -> UInt64 {
    let start = operands.bytes.count
    operands.bytes += bytes
    return UInt64(start) << 32 | UInt64(bytes.count)
  }
}

extension RowTerm.Action {
  /// Creates the comparison of values of a type in rows.
  fileprivate init(_ type: ScalarType) {
    self =
      switch type {
      case .boolean: .boolean
      case .uuid: .uuid
      case .decimal: .decimal
      case .string, .url, .binaryData: .bytes
      default: .number
      }
  }
}

// How terms find the parts of primary keys, and what they compare them with.

extension RowConditionBuilder {
  func keyBytes(
    _ value: FieldValue, _ part: KeyColumn
  ) throws(StoreError) -> [UInt8] {
    let encoder = KeyEncoder()
    encoder.begin()
    try encoder.append(value, part, of: layout)
    return encoder.key.array()
  }

  /// The part's bytes go to the end of the key and have no end of their own.
  func isRaw(_ part: KeyColumn) -> Bool {
    part.form.isRaw && part.type.fixedWidth == nil && part.type != .decimal
  }

  func keyAction(_ part: KeyColumn) -> RowTerm.Action {
    guard keyOffset(part) != RowTerm.varyingOffset else { return .keyBytes }
    return switch part.type.fixedWidth {
    case 1: .key1
    case 2: .key2
    case 4: .key4
    case 8: .key8
    default: .keyBytes
    }
  }

  func keyOffset(_ part: KeyColumn) -> UInt32 {
    var offset = 0
    for before in layout.key.columns.prefix(part.place.index) {
      guard let width = before.type.fixedWidth else { return RowTerm.varyingOffset }
      offset += width
    }
    return UInt32(offset)
  }

  static func word(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
