#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Numbers of different Swift types, and constants before operands: `$0.unitPrice * $0.quantity * (1 - $0.discount)`.
//
// The result has the widest type of its kind, and is optional: it is null if one of the numbers is. The overloads are
// disfavored, so that numbers of one type stay of that type.

/// A number that may have a fraction: `Float`, `Double`, `Decimal`, and optionals of them.
public protocol FieldFraction: FieldNumber {}

extension Float: FieldFraction {}
extension Double: FieldFraction {}
extension Decimal: FieldFraction {}
extension Optional: FieldFraction where Wrapped: FieldFraction {}

// MARK: Constants first

extension FieldOperand where Value: FieldNumber {
  @inlinable
  public static func + (value: Value, other: Self) -> ComputedField<Subject, Value> {
    ComputedField<Subject, Value>(constant: value).combined(.plus, other)
  }

  @inlinable
  public static func - (value: Value, other: Self) -> ComputedField<Subject, Value> {
    ComputedField<Subject, Value>(constant: value).combined(.minus, other)
  }

  @inlinable
  public static func * (value: Value, other: Self) -> ComputedField<Subject, Value> {
    ComputedField<Subject, Value>(constant: value).combined(.times, other)
  }

  /// Divides; integers towards zero.
  @inlinable
  public static func / (value: Value, other: Self) -> ComputedField<Subject, Value> {
    ComputedField<Subject, Value>(constant: value).combined(.divided, other)
  }
}

// MARK: Numbers of one kind

extension FieldOperand where Value: FieldNumber {
  @inlinable @_disfavoredOverload
  public static func + <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value.Total == Other.Total {
    one.combined(.plus, other)
  }

  @inlinable @_disfavoredOverload
  public static func - <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value.Total == Other.Total {
    one.combined(.minus, other)
  }

  @inlinable @_disfavoredOverload
  public static func * <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value.Total == Other.Total {
    one.combined(.times, other)
  }

  @inlinable @_disfavoredOverload
  public static func / <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value.Total == Other.Total {
    one.combined(.divided, other)
  }
}

// MARK: Fractions with integers

extension FieldOperand where Value: FieldNumber {
  @inlinable @_disfavoredOverload
  public static func + <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value: FieldFraction, Other.Total == Int {
    one.combined(.plus, other)
  }

  @inlinable @_disfavoredOverload
  public static func - <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value: FieldFraction, Other.Total == Int {
    one.combined(.minus, other)
  }

  @inlinable @_disfavoredOverload
  public static func * <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value: FieldFraction, Other.Total == Int {
    one.combined(.times, other)
  }

  @inlinable @_disfavoredOverload
  public static func / <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Value.Total?> where Value: FieldFraction, Other.Total == Int {
    one.combined(.divided, other)
  }
}

// MARK: Integers with fractions

extension FieldOperand where Value: FieldNumber {
  @inlinable @_disfavoredOverload
  public static func + <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Other.Total?> where Value.Total == Int, Other: FieldFraction {
    one.combined(.plus, other)
  }

  @inlinable @_disfavoredOverload
  public static func - <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Other.Total?> where Value.Total == Int, Other: FieldFraction {
    one.combined(.minus, other)
  }

  @inlinable @_disfavoredOverload
  public static func * <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Other.Total?> where Value.Total == Int, Other: FieldFraction {
    one.combined(.times, other)
  }

  @inlinable @_disfavoredOverload
  public static func / <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> ComputedField<Subject, Other.Total?> where Value.Total == Int, Other: FieldFraction {
    one.combined(.divided, other)
  }
}

// MARK: Comparing

extension FieldOperand where Value: FieldNumber {
  @inlinable @_disfavoredOverload
  public static func == <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .equal, other.computed.tree))
  }

  @inlinable @_disfavoredOverload
  public static func != <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .notEqual, other.computed.tree))
  }

  @inlinable @_disfavoredOverload
  public static func < <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .less, other.computed.tree))
  }

  @inlinable @_disfavoredOverload
  public static func <= <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .lessOrEqual, other.computed.tree))
  }

  @inlinable @_disfavoredOverload
  public static func > <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .greater, other.computed.tree))
  }

  @inlinable @_disfavoredOverload
  public static func >= <Other: FieldNumber>(
    one: Self, other: some FieldOperand<Subject, Other>
  ) -> Condition<Subject> {
    Condition(.computed(one.computed.tree, .greaterOrEqual, other.computed.tree))
  }
}

// MARK: Converting

extension FieldOperand where Value: FieldNumber, Value.Total == Int {
  /// The integer as a decimal, to be computed or compared with others; null if it is null.
  @inlinable
  public var decimal: ComputedField<Subject, Decimal?> {
    mapped { .arithmetic($0, .times, .value(.decimal(1))) }
  }
}
