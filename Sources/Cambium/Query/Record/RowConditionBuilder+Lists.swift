internal import FoundationEssentials

// Lists, texts and elements of arrays.

extension RowConditionBuilder {
  mutating func list(
    _ column: Column, _ values: [FieldValue]
  ) throws(StoreError) -> RowTerm? {
    guard column.field.type != .composite || values.allSatisfy({ $0 == .null }) else {
      throw layout.queryRefusal(column, "composites have no values to be in a list")
    }
    var orders: RowTerm.Orders = []
    var found: [FieldValue] = []
    for value in values {
      if value == .null {
        orders.insert(.null)
      } else {
        let value = try converted(value, column)
        if !value.isNaN { found.append(value) }
      }
    }
    if found.isEmpty { return orders.isEmpty ? nil : RowTerm(.isThere, orders, at: column.place) }
    orders.insert(.same)
    return try list(column, found, orders)
  }

  mutating func list(
    _ column: Column, _ values: [FieldValue], _ orders: RowTerm.Orders
  ) throws(StoreError) -> RowTerm {
    let operand = UInt64(operands.lists.count)
    guard let type = column.field.type.scalar else {
      operands.lists.append(
        RowList(bytes: values.map { $0.rowBytes(of: column.field.type) ?? [] }))
      return RowTerm(.bytesInList, orders, at: column.place, operand: operand)
    }
    if column.place.kind == .key {
      let part = layout.key.columns[column.place.index]
      var keys: [[UInt8]] = []
      for value in values { keys.append(try keyBytes(value, part)) }
      let isWord = keyAction(part) != .keyBytes
      operands.lists.append(
        isWord ? RowList(words: keys.map { Self.word($0) }) : RowList(bytes: keys))
      return RowTerm(
        isWord ? .keyWordInList : .keyBytesInList, orders, type: type, at: column.place,
        keyOffset: keyOffset(part), isRaw: isRaw(part), operand: operand)
    }
    let (list, action) = Self.list(values, of: type)
    operands.lists.append(list)
    return RowTerm(action, orders, type: type, at: column.place, operand: operand)
  }

  private static func list(
    _ values: [FieldValue], of type: ScalarType
  ) -> (RowList, RowTerm.Action) {
    if type == .decimal {
      let decimals = values.compactMap { value in
        if case .decimal(let value) = value { DecimalParts(value) } else { nil }
      }
      return (RowList(decimals: decimals), .decimalInList)
    }
    if type.keyWidth == 0 || type == .uuid {
      return (RowList(bytes: values.map { type.swiftType.rowBytes(of: $0) ?? [] }), .bytesInList)
    }
    return (RowList(words: values.compactMap { $0.word }), .wordInList)
  }

  mutating func match(
    _ column: Column, _ match: TextMatch
  ) throws(StoreError) -> RowTerm? {
    if case .array = column.field.type, match.kind == .contains, match.options.isEmpty {
      return try element(column, .string(match.text))
    }
    guard let type = column.field.type.scalar, type == .string || type == .url else {
      throw layout.queryRefusal(column, "\(column.field.type) has no text to be matched")
    }
    if match.options.isEmpty, column.place.kind == .variable {
      let bytes = Array(match.text.utf8)
      if match.kind == .prefix {
        return RowTerm(.prefix, .same, type: type, at: column.place, operand: keep(bytes))
      }
      if match.kind == .equals {
        return RowTerm(.bytes, .same, type: type, at: column.place, operand: keep(bytes))
      }
    }
    operands.matchers.append(TextMatcher(match))
    let operand = UInt64(operands.matchers.count - 1)
    guard column.place.kind == .key else {
      return RowTerm(.match, .same, type: type, at: column.place, operand: operand)
    }
    let part = layout.key.columns[column.place.index]
    return RowTerm(
      .keyMatch, .same, type: type, at: column.place, keyOffset: keyOffset(part),
      isRaw: isRaw(part), operand: operand)
  }

  mutating func element(
    _ column: Column, _ value: FieldValue
  ) throws(StoreError) -> RowTerm? {
    guard case .array(let type) = column.field.type else {
      throw layout.queryRefusal(column, "\(column.field.type) has no elements")
    }
    if value == .null { return nil }
    guard let value = value.compared(as: .scalar(type)), let term = ElementTerm(value, of: type)
    else { throw layout.queryRefusal(column, "its elements cannot be compared with \(value)") }
    operands.elements.append(term)
    return RowTerm(
      .element, .same, at: column.place, operand: UInt64(operands.elements.count - 1))
  }
}

extension FieldValue {
  /// The word of the value, as of `RowReader.word`.
  fileprivate var word: UInt64? {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): UInt64(bitPattern: value)
    case .unsigned(let value): value
    case .float(let value): UInt64(value.keyBits)
    case .double(let value): value.keyBits
    case .date(let value): value.timeIntervalSinceReferenceDate.keyBits
    default: nil
    }
  }

  /// Converts the value as `converted` does; a string in the form of ISO 8601 is also a date, and a double without a
  /// fraction an integer.
  func compared(as type: ColumnType) -> FieldValue? {
    if let converted = converted(to: type) { return converted }
    switch self {
    case .string(let text) where type == .date: return Date(iso: text).map { .date($0) }
    case .double(let value):
      return Int64(exactly: value).flatMap { FieldValue.integer($0).converted(to: type) }
    default: return nil
    }
  }
}
