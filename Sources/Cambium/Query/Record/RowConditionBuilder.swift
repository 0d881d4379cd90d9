#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Puts the terms of a condition together, the last first, so that each knows what comes next.
struct RowConditionBuilder {
  let layout: RowLayout
  private let scope: RelatedScope?
  private(set) var terms: [RowTerm] = []
  var operands = RowOperands()

  /// The depth to which conditions, and computations in them, may be nested.
  static var depthMax: Int { 100 }

  init(_ layout: RowLayout, _ scope: RelatedScope? = nil) {
    self.layout = layout
    self.scope = scope
    operands.keyParts = layout.key.columns.map { KeySkip($0) }
  }

  static func tooDeep(_ layout: RowLayout) -> StoreError {
    .invalidQuery(
      record: layout.record.name, field: nil,
      reason: "a condition is nested over \(depthMax) deep, or has over four million parts")
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
    case .kind(let name, let isExact):
      guard let terms = layout.record.condition(ofKind: name, isExact: isExact) else {
        throw layout.refusal(ofKind: name)
      }
      return try add(terms, onTrue: onTrue, onFalse: onFalse, depth: depth - 1)
    case .not(let condition):
      return try add(condition, onTrue: onFalse, onFalse: onTrue, depth: depth - 1)
    default:
      guard let term = try term(condition) else { return onFalse }
      terms.append(term.followed(onTrue: onTrue, onFalse: onFalse))
      return UInt32(terms.count - 1)
    }
  }

  /// - Returns: nil for a condition that never holds.
  private mutating func term(_ condition: FieldCondition) throws(StoreError) -> RowTerm? {
    switch condition {
    case .comparison(let name, let comparison, let value):
      let column = try layout.queriedColumn(name)
      return value == .null
        ? withNull(column, comparison) : try compare(column, comparison, value)
    case .isIn(let name, let values): return try list(try layout.queriedColumn(name), values)
    case .match(let name, let match): return try self.match(try layout.queriedColumn(name), match)
    case .contains(let name, let value): return try element(try layout.queriedColumn(name), value)
    case .isInQuery(let name, let queried):
      throw layout.refusal(ofQueryOf: queried.query.record, field: name)
    case .any(let relation, let inner):
      guard let scope else { throw layout.refusal(ofRelation: relation) }
      if let term = keysTerm(condition) { return term }
      let rows = try RelatedRows(
        relation, of: try scope.entity(of: layout), where: inner, in: scope)
      return relatedTerm(rows)
    case .computed(let computed):
      if let term = keysTerm(condition) { return term }
      let index = try operands.computed.add(
        computed.one, computed.comparison, computed.other, in: layout, scope)
      return RowTerm(
        .computed, .same, at: ColumnPlace(.composite, index: 0, nullBit: nil),
        operand: UInt64(index))
    case .and, .or, .not, .kind: return nil
    }
  }

  /// Returns the term that a record is among those that were found from the other end of a relation.
  private mutating func keysTerm(_ condition: FieldCondition) -> RowTerm? {
    scope?.keys[condition].map { relatedTerm($0) }
  }

  private mutating func relatedTerm(_ term: any RelatedTerm) -> RowTerm {
    operands.related.append(term)
    return RowTerm(
      .related, .same, at: ColumnPlace(.composite, index: 0, nullBit: nil),
      operand: UInt64(operands.related.count - 1))
  }

  private func withNull(
    _ column: Column, _ comparison: FieldComparison
  ) -> RowTerm? {
    switch comparison {
    case .equal: RowTerm(.isThere, .null, at: column.place)
    case .notEqual: RowTerm(.isThere, .same, at: column.place)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: nil
    }
  }
}

extension RowLayout {
  /// The error of a query in a condition where none can be run.
  func refusal(ofQueryOf other: String, field: String?) -> StoreError {
    .invalidQuery(
      record: record.name, field: field,
      reason:
        "the condition has a query of \(other), whose changes nothing tells of here; results(of:) observes them"
    )
  }

  func refusal(ofKind name: String) -> StoreError {
    let kinds = record.kinds.map { record.name(of: $0) }.joined(separator: ", ")
    return .invalidQuery(
      record: record.name, field: nil,
      reason: "\(name) is no kind of it"
        + (kinds.isEmpty ? ", since it has none" : "; its kinds are \(kinds)"))
  }

  /// Returns the place among the columns of a field that a query names.
  ///
  /// - Throws: `.invalidQuery` if there is none.
  func place(ofQueried name: String) throws(StoreError) -> Int {
    guard let place = index(named: name) else {
      throw refusal(ofUnknownField: name)
    }
    return place
  }

  /// Returns the error for a field that the record does not have, with those that it has.
  ///
  /// - Parameter hint: What else the name may be.
  func refusal(ofUnknownField name: String, _ hint: String = "") -> StoreError {
    let names = (record.fields.map(\.name) + record.inverses.map(\.name)).joined(separator: ", ")
    return .invalidQuery(
      record: record.name, field: name, reason: "there is no such field; it has \(names)\(hint)")
  }

  /// Returns the column of a field that a query names.
  ///
  /// - Throws: `.invalidQuery` if there is none.
  func queriedColumn(_ name: String) throws(StoreError) -> Column {
    columns[try place(ofQueried: name)]
  }
}

// MARK: Comparisons

extension RowConditionBuilder {
  private mutating func compare(
    _ column: Column, _ comparison: FieldComparison, _ value: FieldValue
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
      throw layout.queryRefusal(column, "a value outside of rows is only compared with nil")
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

// How terms find the parts of primary keys, and their operands.

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

// MARK: - Lists, texts and elements of arrays

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
    if case .array = column.field.type, match.isOfElement {
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
    let matcher = TextMatcher(match)
    guard matcher.isShort else {
      throw layout.queryRefusal(
        column,
        "a pattern has \(LikePattern.countMax) bytes and wildcards at most; contains has no bound")
    }
    operands.matchers.append(matcher)
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

extension TextMatch {
  /// True if it is the condition that an array has an element.
  var isOfElement: Bool { kind == .contains && options.isEmpty }
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
}
