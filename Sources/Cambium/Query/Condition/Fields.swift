/// The fields of a record type, to make conditions of: `{ $0.age >= 18 && $0.name.hasPrefix("A") }`.
@dynamicMemberLookup
public struct Fields<Subject: Record>: Sendable {
  @inlinable
  public init() {}

  @inlinable
  public subscript<Value>(
    dynamicMember path: KeyPath<Subject, Value>
  ) -> FieldReference<Subject, Value> {
    FieldReference(PropertyReference(path))
  }
}

/// A field of a record type, or a part of a composite, of which a closure makes a condition.
@dynamicMemberLookup
public struct FieldReference<Subject: Record, Value>: FieldOperand {
  @usableFromInline let property: PropertyReference

  @usableFromInline
  init(_ property: PropertyReference) {
    self.property = property
  }

  @inlinable
  public var computed: ComputedField<Subject, Value> { ComputedField(.property(property)) }

  /// A part of a composite.
  @inlinable @_disfavoredOverload
  public subscript<Part>(
    dynamicMember path: KeyPath<Value, Part>
  ) -> FieldReference<Subject, Part> {
    FieldReference<Subject, Part>(
      property.part(PropertyReference(path), of: Subject.self, in: Value.self))
  }

  /// A part of an optional composite, null if the composite is.
  @inlinable @_disfavoredOverload
  public subscript<Composite, Part>(
    dynamicMember path: KeyPath<Composite, Part>
  ) -> FieldReference<Subject, Part?> where Value == Composite? {
    FieldReference<Subject, Part?>(
      property.part(PropertyReference(path), of: Subject.self, in: Composite.self))
  }

  /// An optional part of an optional composite.
  @inlinable @_disfavoredOverload
  public subscript<Composite, Part>(
    dynamicMember path: KeyPath<Composite, Part?>
  ) -> FieldReference<Subject, Part?> where Value == Composite? {
    FieldReference<Subject, Part?>(
      property.part(PropertyReference(path), of: Subject.self, in: Composite.self))
  }
}

extension PropertyReference {
  /// A property of the struct that this one is, or is an optional of: the wrapped value is where the
  /// optional is.
  @inlinable @inline(__always)
  func part(
    _ part: PropertyReference, of root: any Any.Type, in composite: any Any.Type
  ) -> PropertyReference {
    if offset >= 0, part.offset >= 0 {
      return PropertyReference(offset: offset + part.offset, type: part.type)
    }
    return unplacedPart(part, of: root, in: composite)
  }

  /// The part of a property that has only a path, as one of a related record, or a part that has.
  @usableFromInline
  func unplacedPart(
    _ part: PropertyReference, of root: any Any.Type, in composite: any Any.Type
  ) -> PropertyReference {
    let path =
      (PropertyPaths.of(root).path(of: self) ?? "") + "."
      + (PropertyPaths.of(composite).path(of: part) ?? "")
    return PropertyPaths.of(root).reference(to: path) ?? PropertyReference(path: path)
  }
}

// MARK: With constants

extension FieldReference where Value: FieldValueConvertible {
  /// Returns the condition that the field has one of the values.
  @inlinable @_disfavoredOverload
  public func isIn(_ values: some Sequence<Value>) -> Condition<Subject> {
    Condition(term: .isIn(field: property, values.map { $0.fieldValue }))
  }
}

extension FieldReference where Value: OrderedFieldValue & Comparable {
  /// Returns the condition that the field lies in a range: `{ $0.age.isIn(18...30) }`.
  @inlinable
  public func isIn(_ range: ClosedRange<Value>) -> Condition<Subject> {
    self >= range.lowerBound && self <= range.upperBound
  }

  @inlinable
  public func isIn(_ range: Range<Value>) -> Condition<Subject> {
    self >= range.lowerBound && self < range.upperBound
  }
}

extension FieldReference {
  /// Returns the condition that the field, of any type, is nil.
  @inlinable @_disfavoredOverload
  public static func == <Wrapped>(
    field: FieldReference, value: _OptionalNilComparisonType
  ) -> Condition<Subject> where Value == Wrapped? {
    Condition(term: .comparison(field: field.property, .equal, .null))
  }

  @inlinable @_disfavoredOverload
  public static func != <Wrapped>(
    field: FieldReference, value: _OptionalNilComparisonType
  ) -> Condition<Subject> where Value == Wrapped? {
    Condition(term: .comparison(field: field.property, .notEqual, .null))
  }
}

// MARK: Texts and arrays

extension FieldReference where Value: FieldText {
  /// Returns the condition that the field begins with a string: `{ $0.name.hasPrefix("A") }`. Bytes of UTF-8 are compared, not
  /// characters, so `"e"` is a prefix of an e that is followed by a combining accent.
  @inlinable
  public func hasPrefix(
    _ text: String, _ options: TextMatch.Options = []
  ) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.prefix, text, options)))
  }

  /// Returns the condition that the field ends with a string. Bytes of UTF-8 are compared, not characters.
  @inlinable
  public func hasSuffix(
    _ text: String, _ options: TextMatch.Options = []
  ) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.suffix, text, options)))
  }

  /// Returns the condition that the field contains a string.
  @inlinable
  public func contains(
    _ text: String, _ options: TextMatch.Options = []
  ) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.contains, text, options)))
  }

  /// Returns the condition that the field equals a string, except for the differences that the options ignore.
  @inlinable
  public func equals(_ text: String, _ options: TextMatch.Options) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.equals, text, options)))
  }

  /// Returns the condition that the whole field matches a pattern: `?` stands for one Unicode scalar, `*` for any number of them.
  /// After a backslash these, and the backslash, stand for themselves.
  ///
  /// - Parameter pattern: The pattern, with 4,000 bytes and wildcards at most.
  @inlinable
  public func like(
    _ pattern: String, _ options: TextMatch.Options = []
  ) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.like, pattern, options)))
  }

  /// Returns the condition that the field has every word of a text: `{ $0.body.matches("swift sto*") }`.
  ///
  /// An index of the field's words finds such records without reading others; without one, all are read.
  ///
  /// - Parameter words: The words, in any order and case. One that is directly followed by `*` is the beginning of a word.
  ///   A text without words matches every string, but not null. A word is a run of letters, marks and numbers; of Chinese
  ///   characters and Japanese syllables, which are written without spaces, each is a word. Case is ignored, as in
  ///   case-insensitive keys. Of words over 64 bytes long only the beginning counts.
  @inlinable
  public func matches(_ words: String) -> Condition<Subject> {
    Condition(term: .match(field: property, TextMatch(.words, words)))
  }
}

extension FieldReference {
  /// Returns the condition that the array has an element.
  @inlinable
  public func contains<Element: FieldValueConvertible>(
    _ element: Element
  ) -> Condition<Subject> where Value == [Element] {
    Condition(term: .contains(field: property, element.fieldValue))
  }

  @inlinable
  public func contains<Element: FieldValueConvertible>(
    _ element: Element
  ) -> Condition<Subject> where Value == [Element]? {
    Condition(term: .contains(field: property, element.fieldValue))
  }

  /// Returns the condition that the set has an element.
  @inlinable
  public func contains<Element: FieldValueConvertible>(
    _ element: Element
  ) -> Condition<Subject> where Value == Set<Element> {
    Condition(term: .contains(field: property, element.fieldValue))
  }

  @inlinable
  public func contains<Element: FieldValueConvertible>(
    _ element: Element
  ) -> Condition<Subject> where Value == Set<Element>? {
    Condition(term: .contains(field: property, element.fieldValue))
  }
}
