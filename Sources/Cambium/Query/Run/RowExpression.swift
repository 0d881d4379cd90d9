/// An expression, ready to be computed of the rows of one record type.
///
/// A computation of numbers without a result is an error: a wrong sum would not be noticed.
///
/// An object, since one is looked at for each value of each row, and copies of its parts would be counted.
final class RowExpression: Sendable {
  let kind: ComputedKind
  private let terms: ComputedTerms
  private let step: UInt32

  /// - Throws: `.invalidQuery` if the record has no such field, the expression cannot be computed, or is nested too deep.
  init(
    _ expression: FieldExpression, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    var expression = expression
    if expression.mayHaveQuery() {
      guard !expression.isDeeper(than: RowConditionBuilder.depthMax) else {
        throw RowConditionBuilder.tooDeep(record.layout)
      }
      var values = QueriedValues(reader)
      expression = try values.evaluated(expression)
    }
    expression = try expression.resolved(
      from: record, in: reader.entities, isChanging: reader.trees.isChanging)
    var terms = ComputedTerms(isStrict: true)
    (step, kind) = try terms.add(expression, in: record.layout, RelatedScope(reader: reader))
    self.terms = terms
  }

  /// Returns the value for a record.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  func value(of record: RowReader) throws(StoreError) -> ComputedValue {
    try terms.value(step, record)
  }

  /// Returns the value for a record, of an expression of doubles or dates; nil for null.
  ///
  /// - Throws: as `value(of:)`.
  func double(of record: RowReader) throws(StoreError) -> Double? {
    try terms.double(step, record)
  }

  /// Returns the value for a record, of an expression of integers.
  ///
  /// - Throws: as `value(of:)`.
  func integer(of record: RowReader) throws(StoreError) -> ComputedInteger {
    try terms.integer(step, record)
  }

  /// Returns the value for a record as a field has it.
  ///
  /// - Throws: as `value(of:)`; `.invalidQuery` for an integer beyond 64 bits.
  func fieldValue(of record: RowReader, _ entity: Entity) throws(StoreError) -> FieldValue {
    if let text = terms.string(step, record) { return text }
    let value = try value(of: record)
    guard let result = FieldValue(value, of: kind) else {
      throw .invalidQuery(
        record: entity.record.name, field: nil,
        reason: "\(value) is beyond 64 bits, for \(entity.text(ofKey: record.key))")
    }
    return result
  }

  /// Combines two values of the expression.
  ///
  /// - Throws: `.invalidQuery` without a result.
  func sum(
    _ one: ComputedValue, _ other: ComputedValue, for record: RowReader
  ) throws(StoreError) -> ComputedValue {
    try terms.combined(one, .plus, other, record)
  }
}

extension RecordType {
  /// Returns the value of an expression, or of an aggregate of it, as a value of a Swift type.
  ///
  /// - Throws: `.invalidQuery` if the type has no such value.
  @inlinable
  func value<Value: FieldValueConvertible>(
    _ value: FieldValue, of expression: PropertyExpression
  ) throws(StoreError) -> Value {
    if let result = Value(fieldValue: value) { return result }
    return try converted(value, of: expression)
  }

  /// The same of a value that is not as the type has it.
  @usableFromInline
  func converted<Value: FieldValueConvertible>(
    _ value: FieldValue, of expression: PropertyExpression
  ) throws(StoreError) -> Value {
    // A field of floats is computed with as doubles.
    if case .double(let number) = value, let result = Value(fieldValue: .float(Float(number))) {
      return result
    }
    throw .invalidQuery(
      record: record.name, field: nil,
      reason: "\(expression.text(of: Subject.self)) is \(value.kind), which is not \(Value.self)")
  }
}

extension KeyEncoder {
  /// Appends bytes that sort as values of an expression do: null first, NaN after all numbers.
  func append(_ value: ComputedValue, isDescending: Bool) {
    var form: KeyForm = .isOptional
    if isDescending { form.insert(.isDescending) }
    switch value {
    case .null: appendNull(form)
    case .integer(let number):
      append(UInt64(bitPattern: number._high) ^ 1 << 63, form)
      append(number._low, form.subtracting(.isOptional))
    case .double(let number): append(number.isNaN ? .max : number.keyBits, form)
    case .decimal(let number):
      append(raw: number.isNaN ? [0xff] : number.keyBytes, form)
    case .bytes(let bytes): append(bytes.rawSpan, form)
    }
  }

  private func append(raw bytes: [UInt8], _ form: KeyForm) {
    let mask: UInt8 = form.contains(.isDescending) ? 0xff : 0
    let masked = ([1] + bytes).map { $0 ^ mask }
    appendRaw(masked.rawSpan)
  }
}
