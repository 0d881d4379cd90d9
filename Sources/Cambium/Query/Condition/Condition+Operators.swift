// Conditions as operators on key paths: `\.age >= 18`.

extension Condition {
  @inlinable @inline(__always)
  init<Value>(
    _ path: KeyPath<Subject, Value>, _ comparison: FieldComparison, _ value: FieldValue
  ) {
    self.init(.comparison(PropertyReference(path), comparison, value))
  }
}

/// Returns the condition that a property has a value; nil is null.
@inlinable
public func == <Subject: Record, Value: FieldValueConvertible>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .equal, value.fieldValue)
}

@inlinable
public func != <Subject: Record, Value: FieldValueConvertible>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .notEqual, value.fieldValue)
}

/// Returns the condition that a property, of any type, is nil.
@inlinable @_disfavoredOverload
public func == <Subject: Record, Value>(
  path: KeyPath<Subject, Value?>, value: _OptionalNilComparisonType
) -> Condition<Subject> {
  Condition(path, .equal, .null)
}

@inlinable @_disfavoredOverload
public func != <Subject: Record, Value>(
  path: KeyPath<Subject, Value?>, value: _OptionalNilComparisonType
) -> Condition<Subject> {
  Condition(path, .notEqual, .null)
}

@inlinable
public func < <Subject: Record, Value: OrderedFieldValue>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .less, value.fieldValue)
}

@inlinable
public func <= <Subject: Record, Value: OrderedFieldValue>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .lessOrEqual, value.fieldValue)
}

@inlinable
public func > <Subject: Record, Value: OrderedFieldValue>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .greater, value.fieldValue)
}

@inlinable
public func >= <Subject: Record, Value: OrderedFieldValue>(
  path: KeyPath<Subject, Value>, value: Value
) -> Condition<Subject> {
  Condition(path, .greaterOrEqual, value.fieldValue)
}

// MARK: Ranges and lists

@inlinable
public func ~= <Subject: Record, Value: OrderedFieldValue & Comparable>(
  range: ClosedRange<Value>, path: KeyPath<Subject, Value>
) -> Condition<Subject> {
  .in(path, range)
}

@inlinable
public func ~= <Subject: Record, Value: OrderedFieldValue & Comparable>(
  range: Range<Value>, path: KeyPath<Subject, Value>
) -> Condition<Subject> {
  .in(path, range)
}

@inlinable
public func ~= <Subject: Record, Value: FieldValueConvertible>(
  values: [Value], path: KeyPath<Subject, Value>
) -> Condition<Subject> {
  .in(path, values)
}

extension Condition {
  /// Returns the condition that a property has one of the values.
  @inlinable @_disfavoredOverload
  public static func `in`<Value: FieldValueConvertible>(
    _ path: KeyPath<Subject, Value>, _ values: some Sequence<Value>
  ) -> Condition {
    Condition(.isIn(PropertyReference(path), values.map(\.fieldValue)))
  }

  @inlinable
  public static func `in`<Value: OrderedFieldValue & Comparable>(
    _ path: KeyPath<Subject, Value>, _ range: ClosedRange<Value>
  ) -> Condition {
    .between(path, range.lowerBound, range.upperBound)
  }

  @inlinable
  public static func `in`<Value: OrderedFieldValue & Comparable>(
    _ path: KeyPath<Subject, Value>, _ range: Range<Value>
  ) -> Condition {
    path >= range.lowerBound && path < range.upperBound
  }

  /// Returns the condition that a property lies between two values, both included.
  @inlinable
  public static func between<Value: OrderedFieldValue>(
    _ path: KeyPath<Subject, Value>, _ lower: Value, _ upper: Value
  ) -> Condition {
    path >= lower && path <= upper
  }

  /// Returns the condition that a property, of any type, is nil.
  @inlinable
  public static func isNull<Value>(_ path: KeyPath<Subject, Value?>) -> Condition {
    Condition(path, .equal, .null)
  }

  @inlinable
  public static func isNotNull<Value>(_ path: KeyPath<Subject, Value?>) -> Condition {
    Condition(path, .notEqual, .null)
  }
}

// MARK: Texts and arrays

extension Condition {
  @inlinable
  public static func hasPrefix<Value: FieldText>(
    _ path: KeyPath<Subject, Value>, _ text: String, _ options: TextMatch.Options = []
  ) -> Condition {
    Condition(.match(PropertyReference(path), TextMatch(.prefix, text, options)))
  }

  @inlinable
  public static func hasSuffix<Value: FieldText>(
    _ path: KeyPath<Subject, Value>, _ text: String, _ options: TextMatch.Options = []
  ) -> Condition {
    Condition(.match(PropertyReference(path), TextMatch(.suffix, text, options)))
  }

  /// Returns the condition that a property's string contains a text.
  @inlinable
  public static func contains<Value: FieldText>(
    _ path: KeyPath<Subject, Value>, _ text: String, _ options: TextMatch.Options = []
  ) -> Condition {
    Condition(.match(PropertyReference(path), TextMatch(.contains, text, options)))
  }

  /// Returns the condition that a property equals a string, except for the differences that the options ignore.
  @inlinable
  public static func equals<Value: FieldText>(
    _ path: KeyPath<Subject, Value>, _ text: String, _ options: TextMatch.Options
  ) -> Condition {
    Condition(.match(PropertyReference(path), TextMatch(.equals, text, options)))
  }

  /// Returns the condition that a property's string matches a pattern as a whole. `?` stands for one Unicode scalar and
  /// `*` for any number of them; after a backslash they stand for themselves.
  @inlinable
  public static func like<Value: FieldText>(
    _ path: KeyPath<Subject, Value>, _ pattern: String, _ options: TextMatch.Options = []
  ) -> Condition {
    Condition(.match(PropertyReference(path), TextMatch(.like, pattern, options)))
  }

  /// Returns the condition that an array has an element.
  @inlinable
  public static func contains<Element: FieldValueConvertible>(
    _ path: KeyPath<Subject, [Element]>, _ element: Element
  ) -> Condition {
    Condition(.contains(PropertyReference(path), element.fieldValue))
  }

  @inlinable
  public static func contains<Element: FieldValueConvertible>(
    _ path: KeyPath<Subject, [Element]?>, _ element: Element
  ) -> Condition {
    Condition(.contains(PropertyReference(path), element.fieldValue))
  }
}
