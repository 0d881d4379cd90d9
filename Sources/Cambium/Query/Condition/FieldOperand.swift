#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An operand of conditions: a field, or a value computed of fields.
public protocol FieldOperand<Subject, Value>: Sendable {
  associatedtype Subject: Record
  associatedtype Value

  var computed: ComputedField<Subject, Value> { get }
}

/// A value computed of a record's fields: `$0.price * $0.count`.
///
/// It is a condition's operand, and a value that queries sort, select, group and sum up by. A computation with null is null. In
/// a condition, so is one without a result: a division by zero, an integer beyond 128 bits, a double or decimal that is not
/// finite. Where values are returned, summed up, grouped or sorted by, it is an error, and so is a sum or product of decimals
/// that 38 digits do not hold. Quotients of decimals are rounded to 38 digits. Nothing traps.
public struct ComputedField<Subject: Record, Value>: FieldOperand {
  @usableFromInline let tree: PropertyExpression

  @usableFromInline
  init(_ tree: PropertyExpression) {
    self.tree = tree
  }

  @inlinable
  public var computed: ComputedField { self }
}

// MARK: Comparing

extension FieldOperand where Value: FieldValueConvertible {
  @inlinable
  public static func == (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject>
  {
    one.compared(.equal, other)
  }

  @inlinable
  public static func != (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject>
  {
    one.compared(.notEqual, other)
  }

  @inlinable
  public static func == (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.equal, value)
  }

  @inlinable
  public static func != (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.notEqual, value)
  }

  @inlinable
  func compared(
    _ comparison: FieldComparison, _ other: some FieldOperand<Subject, Value>
  ) -> Condition<Subject> {
    Condition(.computed(computed.tree, comparison, other.computed.tree))
  }

  @inlinable
  func compared(_ comparison: FieldComparison, _ value: Value) -> Condition<Subject> {
    Condition(.comparison(computed.tree, comparison, .value(value.fieldValue)))
  }
}

extension FieldOperand where Value: OrderedFieldValue {
  @inlinable
  public static func < (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject> {
    one.compared(.less, other)
  }

  @inlinable
  public static func <= (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject>
  {
    one.compared(.lessOrEqual, other)
  }

  @inlinable
  public static func > (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject> {
    one.compared(.greater, other)
  }

  @inlinable
  public static func >= (one: Self, other: some FieldOperand<Subject, Value>) -> Condition<Subject>
  {
    one.compared(.greaterOrEqual, other)
  }

  @inlinable
  public static func < (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.less, value)
  }

  @inlinable
  public static func <= (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.lessOrEqual, value)
  }

  @inlinable
  public static func > (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.greater, value)
  }

  @inlinable
  public static func >= (one: Self, value: Value) -> Condition<Subject> {
    one.compared(.greaterOrEqual, value)
  }
}

extension ComputedField where Value: FieldValueConvertible {
  /// A constant.
  @inlinable
  init(constant value: Value) {
    self.init(.value(value.fieldValue))
  }
}

// MARK: Computing

extension FieldOperand where Value: FieldNumber {
  @inlinable
  public static func + (
    one: Self, other: some FieldOperand<Subject, Value>
  ) -> ComputedField<Subject, Value> {
    one.combined(.plus, other)
  }

  @inlinable
  public static func + (one: Self, value: Value) -> ComputedField<Subject, Value> {
    one.combined(.plus, ComputedField(constant: value))
  }

  @inlinable
  public static func - (
    one: Self, other: some FieldOperand<Subject, Value>
  ) -> ComputedField<Subject, Value> {
    one.combined(.minus, other)
  }

  @inlinable
  public static func - (one: Self, value: Value) -> ComputedField<Subject, Value> {
    one.combined(.minus, ComputedField(constant: value))
  }

  @inlinable
  public static func * (
    one: Self, other: some FieldOperand<Subject, Value>
  ) -> ComputedField<Subject, Value> {
    one.combined(.times, other)
  }

  @inlinable
  public static func * (one: Self, value: Value) -> ComputedField<Subject, Value> {
    one.combined(.times, ComputedField(constant: value))
  }

  /// Divides; integers towards zero.
  @inlinable
  public static func / (
    one: Self, other: some FieldOperand<Subject, Value>
  ) -> ComputedField<Subject, Value> {
    one.combined(.divided, other)
  }

  @inlinable
  public static func / (one: Self, value: Value) -> ComputedField<Subject, Value> {
    one.combined(.divided, ComputedField(constant: value))
  }

  /// Returns the remainder, which has the sign of the dividend.
  @inlinable
  public static func % (
    one: Self, other: some FieldOperand<Subject, Value>
  ) -> ComputedField<Subject, Value> {
    one.combined(.remainder, other)
  }

  @inlinable
  public static func % (one: Self, value: Value) -> ComputedField<Subject, Value> {
    one.combined(.remainder, ComputedField(constant: value))
  }

  @inlinable
  public static prefix func - (one: Self) -> ComputedField<Subject, Value> {
    one.mapped { .negated($0) }
  }

  /// The value as a double, to be compared or computed with others; null if it is null.
  @inlinable
  public var double: ComputedField<Subject, Double?> {
    mapped { .arithmetic($0, .times, .value(.double(1))) }
  }
}

extension FieldOperand {
  @inlinable
  func mapped<Result>(
    _ operation: (PropertyExpression.Tree) -> PropertyExpression.Tree
  ) -> ComputedField<Subject, Result> {
    let operand = computed.tree
    return ComputedField<Subject, Result>(
      PropertyExpression(operation(operand.tree), of: operand, operand))
  }

  @inlinable
  func combined<Other, Result>(
    _ operation: FieldArithmetic, _ other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Result> {
    ComputedField<Subject, Result>(.arithmetic(computed.tree, operation, other.computed.tree))
  }
}

extension FieldOperand where Value == Date {
  /// Returns the difference of two dates in seconds.
  @inlinable
  public static func - (
    one: Self, other: some FieldOperand<Subject, Date>
  ) -> ComputedField<Subject, Double> {
    one.combined(.minus, other)
  }

  @inlinable
  public static func - (one: Self, other: Date) -> ComputedField<Subject, Double> {
    one.combined(.minus, ComputedField<Subject, Date>(constant: other))
  }

  /// Returns the date that is so many seconds later.
  @inlinable
  public static func + (one: Self, seconds: Double) -> ComputedField<Subject, Date> {
    one.combined(.plus, ComputedField<Subject, Double>(constant: seconds))
  }
}

extension FieldOperand where Value: MeasuredFieldValue {
  /// The length of a string in characters, of data in bytes, of an array in elements; null if the value is null.
  @inlinable
  public var count: ComputedField<Subject, Int?> { mapped { .length($0) } }
}

extension FieldOperand where Value == String {
  /// Returns the string in lowercase, by Unicode's simple mapping of each scalar.
  @inlinable
  public func lowercased() -> ComputedField<Subject, String> { mapped { .lowercased($0) } }
}

extension FieldOperand where Value == String? {
  @inlinable
  public func lowercased() -> ComputedField<Subject, String?> { mapped { .lowercased($0) } }
}

extension FieldOperand {
  /// Returns the value, or another one if it is null.
  @inlinable
  public static func ?? <Wrapped: FieldValueConvertible>(
    one: Self, value: Wrapped
  ) -> ComputedField<Subject, Wrapped> where Value == Wrapped? {
    one.mapped { .coalesced($0, .value(value.fieldValue)) }
  }
}
