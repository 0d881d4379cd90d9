/// Computations on a row: steps that name the steps whose values they use.
struct ComputedTerms: Sendable {
  /// True if a computation of numbers without a result, or a sum or product of decimals without an exact one, is an error;
  /// else it is null, or rounded.
  let isStrict: Bool
  fileprivate(set) var steps: [ComputedStep] = []
  fileprivate(set) var constants: [ComputedValue] = []
  fileprivate var related: [RelatedValue] = []
  fileprivate var functions: [ComputedFunction] = []
  fileprivate var comparisons: [Comparison] = []

  init(isStrict: Bool = false) {
    self.isStrict = isStrict
  }

  fileprivate struct Comparison: Sendable {
    let one: UInt32
    let other: UInt32
    let comparison: FieldComparison
  }
}

extension ComputedTerms {
  mutating func append(_ step: ComputedStep) -> Int {
    steps.append(step)
    return steps.count - 1
  }

  mutating func append(_ value: ComputedValue) -> Int {
    constants.append(value)
    let kind: ComputedKind =
      switch value {
      case .null: .null
      case .integer: .integer
      case .double: .double
      case .decimal: .decimal
      case .bytes: .data
      }
    return append(ComputedStep(.constant, kind, constants.count - 1))
  }

  mutating func append(
    _ function: ComputedFunction, _ kind: ComputedKind, of step: Int
  ) -> Int {
    functions.append(function)
    return append(ComputedStep(.function, kind, step, functions.count - 1))
  }

  mutating func append(_ value: RelatedValue, _ kind: ComputedKind) -> Int {
    related.append(value)
    return append(ComputedStep(.related, kind, related.count - 1))
  }

  mutating func append(
    _ one: Int, _ comparison: FieldComparison, _ other: Int
  ) -> Int {
    comparisons.append(
      Comparison(one: UInt32(one), other: UInt32(other), comparison: comparison))
    return comparisons.count - 1
  }
}

// MARK: Computing

extension ComputedTerms {
  /// `.same` where a comparison holds.
  func order(_ index: Int, _ record: RowReader) throws(StoreError) -> RowTerm.Orders {
    let term = comparisons[index]
    let orders = RowTerm.Orders(term.comparison)
    guard let order = try order(steps[Int(term.one)], steps[Int(term.other)], record) else {
      return term.comparison == .equal ? .same : .none
    }
    return orders.has(order) ? .same : .none
  }

  /// Nil if both are null.
  private func order(
    _ one: ComputedStep, _ other: ComputedStep, _ record: RowReader
  ) throws(StoreError) -> RowTerm.Orders? {
    switch (one.form, other.form) {
    case (.double, .double):
      let values = (try double(one, record), try double(other, record))
      if let one = values.0, let other = values.1 { return RowTerm.Orders(of: one, other) }
      return values.0 == nil && values.1 == nil ? nil : .null
    case (.integer, .integer):
      switch (try integer(one, record), try integer(other, record)) {
      case (.value(let one), .value(let other)): return RowTerm.Orders(of: one, other)
      case (.null, .null): return nil
      case (.null, .value), (.value, .null): return .null
      case (.wide, _), (_, .wide): break
      }
    default: break
    }
    if isText(one), isText(other) { return textOrder(one, other, record) }
    return try value(one, record).order(to: try value(other, record))
  }

  /// Both are bytes where they are in the row.
  private func isText(_ step: ComputedStep) -> Bool {
    step.action == .field && step.place.kind == .variable && step.type != .decimal
  }

  /// Returns the value of a step that is a string of the row, without a copy of its bytes; nil of any other step, and if they
  /// are no string.
  func string(_ index: UInt32, _ record: RowReader) -> FieldValue? {
    let step = steps[Int(index)]
    guard step.type == .string, isText(step) else { return nil }
    if record.isNull(step.place) { return .null }
    return String(utf8: record.bytes(step.place.index)).map { .string($0) }
  }

  /// Without copying. Nil if both are null.
  private func textOrder(
    _ one: ComputedStep, _ other: ComputedStep, _ record: RowReader
  ) -> RowTerm.Orders? {
    switch (record.isNull(one.place), record.isNull(other.place)) {
    case (true, true): nil
    case (false, false):
      RowTerm.Orders(
        sign: record.bytes(one.place.index).compare(record.bytes(other.place.index)))
    default: .null
    }
  }

  /// Returns the value of a step.
  func value(_ index: UInt32, _ record: RowReader) throws(StoreError) -> ComputedValue {
    try value(steps[Int(index)], record)
  }

  private func value(_ step: ComputedStep, _ record: RowReader) throws(StoreError) -> ComputedValue
  {
    switch step.form {
    case .double:
      guard let value = try double(step, record) else { return .null }
      return .double(value)
    case .integer:
      switch try integer(step, record) {
      case .null: return .null
      case .value(let value): return .integer(Int128(small: value))
      case .wide: return try boxed(step, record)
      }
    case .other: return try boxed(step, record)
    }
  }

  private func boxed(_ step: ComputedStep, _ record: RowReader) throws(StoreError) -> ComputedValue
  {
    switch step.action {
    case .constant: return constants[Int(step.one)]
    case .field: return try field(step, record)
    case .arithmetic(let operation):
      return try combined(
        try value(step.one, record), operation, try value(step.other, record), record)
    case .negated:
      let operand = try value(step.one, record)
      let result = operand.negated
      if isStrict, case .null = result, operand.isNumber { throw record.noResult("-(\(operand))") }
      return result
    case .toDouble:
      guard case .integer(let value) = try value(step.one, record) else { return .null }
      return .double(value.small.map { Double($0) } ?? Double(value))
    case .toDecimal:
      guard case .integer(let value) = try value(step.one, record) else { return .null }
      return .decimal(DecimalParts(value))
    case .characters, .bytes: return try length(step, record)
    case .elements: return try elements(step, record)
    case .lowercased:
      guard case .bytes(let bytes) = try value(step.one, record) else { return .null }
      return .bytes(Lowercase.bytes(of: bytes.rawSpan))
    case .function: return try function(step, record)
    case .related: return try related[Int(step.one)].value(for: record)
    case .coalesced:
      let value = try value(step.one, record)
      if case .null = value { return try self.value(step.other, record) }
      return value
    }
  }

  /// Combines two values of one kind.
  ///
  /// - Throws: `.invalidQuery` if they are numbers without a result and that is an error.
  func combined(
    _ one: ComputedValue, _ operation: FieldArithmetic, _ other: ComputedValue, _ record: RowReader
  ) throws(StoreError) -> ComputedValue {
    guard isStrict else { return one.combined(other, operation) }
    let result = one.combined(other, operation, isExact: true)
    if case .null = result, one.isNumber, other.isNumber {
      throw record.noResult("\(one) \(operation.sign) \(other)")
    }
    return result
  }

  private func function(
    _ step: ComputedStep, _ record: RowReader
  ) throws(StoreError) -> ComputedValue {
    let operand = try value(step.one, record)
    if case .null = operand { return .null }
    if let result = try functions[Int(step.other)].value(of: operand, record) { return result }
    if isStrict, operand.isNumber { throw record.noResult("a function of \(operand)") }
    return .null
  }

  private func field(_ step: ComputedStep, _ record: RowReader) throws(StoreError) -> ComputedValue
  {
    if record.isNull(step.place) { return .null }
    let index = step.place.index
    switch step.place.kind {
    case .key: return ComputedValue(try record.keyValue(index))
    case .variable where step.type == .decimal:
      guard let value = DecimalParts(decoding: record.bytes(index)) else {
        throw record.notADecimal
      }
      return .decimal(value)
    case .variable: return .bytes(record.bytes(index).array())
    case .composite: return .null
    case .fixed: break
    }
    if let value = record.row.smallInteger(step.type, at: index) {
      return .integer(Int128(small: value))
    }
    switch step.type {
    case .uint64: return .integer(Int128(record.load(index, as: UInt64.self)))
    case .boolean: return .integer(try record.boolean(index) ? 1 : 0)
    case .float: return .double(Double(record.float(index)))
    case .double, .date: return .double(record.double(index))
    default: return .bytes(record.row.part(index, 16).array())
    }
  }

  private func length(_ step: ComputedStep, _ record: RowReader) throws(StoreError) -> ComputedValue
  {
    let operand = steps[Int(step.one)]
    if isText(operand) {
      if record.isNull(operand.place) { return .null }
      return try length(step, record.bytes(operand.place.index), record)
    }
    guard case .bytes(let bytes) = try value(operand, record) else { return .null }
    return try length(step, bytes.rawSpan, record)
  }

  private func length(
    _ step: ComputedStep, _ bytes: RawSpan, _ record: RowReader
  ) throws(StoreError) -> ComputedValue {
    if step.action == .bytes || bytes.hasCharacterPerByte {
      return .integer(Int128(small: Int64(bytes.byteCount)))
    }
    guard let text = String(utf8: bytes) else {
      throw record.fault(.rowValues, "a string is not UTF-8")
    }
    return .integer(Int128(small: Int64(text.count)))
  }

  private func elements(
    _ step: ComputedStep, _ record: RowReader
  ) throws(StoreError) -> ComputedValue {
    if record.isNull(step.place) { return .null }
    guard let array = ArrayReader(record.bytes(step.place.index), of: step.type) else {
      throw record.fault(.rowValues, "an array is not whole elements")
    }
    return .integer(Int128(small: Int64(array.count)))
  }
}

extension RawSpan {
  /// ASCII without a carriage return, which with a line feed would be one character.
  var hasCharacterPerByte: Bool {
    guard isASCII else { return false }
    for offset in 0..<byteCount where load(offset, as: UInt8.self) == 0x0d { return false }
    return true
  }
}

extension RowReader {
  /// The error of a computation without a result where that has to be one.
  fileprivate func noResult(_ computation: String) -> StoreError {
    .invalidQuery(
      record: layout.record.name, field: nil,
      reason: "\(computation) has no result, or none that is exact, for \(layout.text(ofKey: key))")
  }
}

// MARK: Numbers

// The same as above, of numbers that are in registers until the result is known.

extension ComputedTerms {
  /// Returns the value of a step of doubles or dates; nil for null.
  func double(_ index: UInt32, _ record: RowReader) throws(StoreError) -> Double? {
    try double(steps[Int(index)], record)
  }

  /// Returns the value of a step of integers.
  func integer(_ index: UInt32, _ record: RowReader) throws(StoreError) -> ComputedInteger {
    try integer(steps[Int(index)], record)
  }

  private func double(_ step: ComputedStep, _ record: RowReader) throws(StoreError) -> Double? {
    switch step.action {
    case .field where step.place.kind == .fixed:
      if record.isNull(step.place) { return nil }
      let index = step.place.index
      return step.type == .float ? Double(record.float(index)) : record.double(index)
    case .arithmetic(let operation):
      let (one, other) = (
        try double(steps[Int(step.one)], record), try double(steps[Int(step.other)], record)
      )
      guard let one, let other else { return nil }
      let result = one.combined(other, operation)
      if result.isFinite { return result }
      if isStrict, one.isFinite, other.isFinite {
        throw record.noResult("\(one) \(operation.sign) \(other)")
      }
      return nil
    case .negated:
      guard let value = try double(steps[Int(step.one)], record), value.isFinite else { return nil }
      return -value
    case .toDouble:
      switch try integer(steps[Int(step.one)], record) {
      case .value(let value): return Double(value)
      case .null: return nil
      case .wide: break
      }
    case .coalesced:
      if let value = try double(steps[Int(step.one)], record) { return value }
      return try double(steps[Int(step.other)], record)
    default: break
    }
    guard case .double(let value) = try boxed(step, record) else { return nil }
    return value
  }

  private func integer(
    _ step: ComputedStep, _ record: RowReader
  ) throws(StoreError) -> ComputedInteger {
    switch step.action {
    case .field:
      if record.isNull(step.place) { return .null }
      if let value = step.integer(in: record.key) { return value }
      guard step.place.kind == .fixed else { break }
      if let value = record.row.smallInteger(step.type, at: step.place.index) {
        return .value(value)
      }
    case .arithmetic(let operation):
      let operands = (
        try integer(steps[Int(step.one)], record), try integer(steps[Int(step.other)], record)
      )
      switch operands {
      case (.value(let one), .value(let other)): return one.combined(other, operation)
      case (.wide, _), (_, .wide): return .wide
      case (.null, _), (_, .null): return .null
      }
    case .negated:
      let operand = try integer(steps[Int(step.one)], record)
      guard case .value(let value) = operand else { return operand }
      return Int64(0).combined(value, .minus)
    case .coalesced:
      let value = try integer(steps[Int(step.one)], record)
      if case .null = value { return try integer(steps[Int(step.other)], record) }
      return value
    default: break
    }
    switch try boxed(step, record) {
    case .integer(let value): return value.small.map { .value($0) } ?? .wide
    default: return .null
    }
  }
}
