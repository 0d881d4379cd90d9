public import Cambium

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An object whose primary key is none of its attributes, as Core Data's object IDs are not: so one of them may be called `id`,
/// and be optional, or the same in several objects.
///
/// ```swift
/// struct Laundry: KeyedObject {
///   var objectID = UUID()
///
///   @Field.Stored("id")
///   var id: Int?
///   @Field.Stored("favorite")
///   var favorite: Bool = false
/// }
/// ```
///
/// Its description follows from its attributes and relationships. One with more to say begins with them:
///
/// ```swift
/// static func recordDescription(for version: Int) -> RecordDescription {
///   storedFields
///   Index("favorite")
/// }
/// ```
///
/// Objects with such fields are read and written by their `Codable`. An object without any describes all of its properties, and
/// is read and written in place, which is faster.
public protocol KeyedObject: CoreStoreObject, Identifiable where ID == UUID {
  /// The primary key, which references have.
  var objectID: UUID { get }
}

extension KeyedObject {
  /// The primary key, for types that have no `id` of their own.
  public var id: UUID { objectID }

  /// The description of an object that has nothing but attributes and relationships.
  public static func recordDescription(for version: Int) -> RecordDescription { storedFields }

  /// The primary key, the attributes and the relationships, in their order.
  @RecordDescription.ResultBuilder
  public static var storedFields: RecordDescription {
    Field(primaryKey: true, name: "objectID", type: .uuid)
    for (property, field) in declaredFields { field.description(of: property) }
  }

  public static var coding: RecordCoding { declaredFields.isEmpty ? .plan : .codable }

  /// The attributes and relationships of a new object, by their properties.
  static var declaredFields: [(property: String, field: any DeclaredField)] {
    Mirror(reflecting: Self()).children.compactMap { label, value in
      // The attribute `name` is in the property `_name`.
      guard let label, let field = value as? any DeclaredField else { return nil }
      return (String(label.dropFirst()), field)
    }
  }
}

/// An attribute or a relationship of an object, as its mirror shows it.
protocol DeclaredField {
  /// The stored name.
  var name: String { get }
  func description(of property: String) -> RecordDescription
}

extension Field {
  /// An attribute of a ``KeyedObject``, from which its field follows.
  ///
  /// Conditions and orders name it with a dollar sign, as in CoreStore: `Where(\.$favorite == true)`.
  @propertyWrapper
  public struct Stored<Value: FieldStorableType>: Sendable {
    public var wrappedValue: Value
    /// The stored name; empty in an object that was read.
    private(set) var name = ""
    private var modifier: String?
    private var previousName: String?

    /// - Parameters:
    ///   - wrappedValue: The value of new objects.
    ///   - keyPath: The stored name.
    ///   - versionHashModifier: Any text; if it changes, so does the version lock.
    ///   - previousVersionKeyPath: The stored name in the version before, if it was another.
    public init(
      wrappedValue: Value, _ keyPath: String, versionHashModifier: String? = nil,
      previousVersionKeyPath: String? = nil
    ) {
      self.wrappedValue = wrappedValue
      name = keyPath
      modifier = versionHashModifier
      previousName = previousVersionKeyPath
    }

    /// Creates an attribute that is nil in new objects.
    public init(
      _ keyPath: String, versionHashModifier: String? = nil, previousVersionKeyPath: String? = nil
    ) where Value: ExpressibleByNilLiteral {
      self.init(
        wrappedValue: nil, keyPath, versionHashModifier: versionHashModifier,
        previousVersionKeyPath: previousVersionKeyPath)
    }

    fileprivate init(read value: Value) { wrappedValue = value }

    /// The attribute itself, for conditions and orders.
    public var projectedValue: Stored { self }
  }
}

extension Field.Stored: DeclaredField {
  @RecordDescription.ResultBuilder
  func description(of property: String) -> RecordDescription {
    Field(
      name: name, type: Value.fieldType, optional: Value.self is any ExpressibleByNilLiteral.Type,
      property: property, modifier: modifier,
      migrationInfo: previousName.map { MigrationInfo(renamingID: $0) })
  }
}

// MARK: - Values

/// A type of attributes. Enums that are stored as strings or integers conform without code.
public protocol FieldStorableType: FieldValueConvertible, Codable, Sendable {
  /// The type of the fields that have such values.
  static var fieldType: FieldType { get }
}

extension FieldStorableType where Self: RecordStringEnum {
  public static var fieldType: FieldType { .string }
}

extension FieldStorableType where Self: RecordIntegerEnum {
  public static var fieldType: FieldType { .integer }
}

extension Optional: FieldStorableType where Wrapped: FieldStorableType {
  public static var fieldType: FieldType { Wrapped.fieldType }
}

extension Bool: FieldStorableType { public static var fieldType: FieldType { .boolean } }
extension Int: FieldStorableType { public static var fieldType: FieldType { .integer } }
extension Int8: FieldStorableType { public static var fieldType: FieldType { .int8 } }
extension Int16: FieldStorableType { public static var fieldType: FieldType { .int16 } }
extension Int32: FieldStorableType { public static var fieldType: FieldType { .int32 } }
extension Int64: FieldStorableType { public static var fieldType: FieldType { .int64 } }
extension Double: FieldStorableType { public static var fieldType: FieldType { .double } }
extension Float: FieldStorableType { public static var fieldType: FieldType { .float } }
extension Decimal: FieldStorableType { public static var fieldType: FieldType { .decimal } }
extension String: FieldStorableType { public static var fieldType: FieldType { .string } }
extension Date: FieldStorableType { public static var fieldType: FieldType { .date } }
extension UUID: FieldStorableType { public static var fieldType: FieldType { .uuid } }
extension URL: FieldStorableType { public static var fieldType: FieldType { .url } }
extension Data: FieldStorableType { public static var fieldType: FieldType { .binaryData } }

// MARK: - Coding

extension Field.Stored: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(read: try Value(from: decoder))
  }

  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

// The code that the compiler makes for `Codable` calls these: an attribute is encoded as its value is, and may be nil.

extension KeyedDecodingContainer {
  public func decode<Value>(
    _ type: Field.Stored<Value>.Type, forKey key: Key
  ) throws -> Field.Stored<Value> {
    Field.Stored(read: try decode(Value.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  public mutating func encode<Value>(_ attribute: Field.Stored<Value>, forKey key: Key) throws {
    try encode(attribute.wrappedValue, forKey: key)
  }
}

// MARK: - Conditions and orders

extension KeyedObject {
  /// Returns the name of the property with the attribute that a key path like `\.$name` names.
  fileprivate static func property<Value>(_ path: KeyPath<Self, Field.Stored<Value>>) -> String {
    let name = Self()[keyPath: path].name
    // One that is not found is refused by its name when the query is run.
    return declaredFields.first { $0.field.name == name }?.property ?? name
  }

  fileprivate static func condition<Value>(
    _ path: KeyPath<Self, Field.Stored<Value>>, _ comparison: FieldComparison, _ value: Value
  ) -> Condition<Self> {
    Condition(.comparison(field: property(path), comparison, value.fieldValue))
  }
}

/// Returns the condition that an attribute has a value, `\.$favorite == true`; nil is null.
public func == <Object: KeyedObject, Value>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .equal, value) }

public func != <Object: KeyedObject, Value>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .notEqual, value) }

public func < <Object: KeyedObject, Value: OrderedFieldValue>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .less, value) }

public func <= <Object: KeyedObject, Value: OrderedFieldValue>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .lessOrEqual, value) }

public func > <Object: KeyedObject, Value: OrderedFieldValue>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .greater, value) }

public func >= <Object: KeyedObject, Value: OrderedFieldValue>(
  path: KeyPath<Object, Field.Stored<Value>>, value: Value
) -> Condition<Object> { Object.condition(path, .greaterOrEqual, value) }

// The same of a property that a description names, `\.favorite == true`: operators on key paths are the documents' way to write a
// condition, and a closure is the library's.

/// Returns the condition that a property has a value; nil is null.
public func == <Object: Record, Value: FieldValueConvertible>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] == value } }

public func != <Object: Record, Value: FieldValueConvertible>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] != value } }

public func < <Object: Record, Value: OrderedFieldValue>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] < value } }

public func <= <Object: Record, Value: OrderedFieldValue>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] <= value } }

public func > <Object: Record, Value: OrderedFieldValue>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] > value } }

public func >= <Object: Record, Value: OrderedFieldValue>(
  path: KeyPath<Object, Value>, value: Value
) -> Condition<Object> { Condition { $0[dynamicMember: path] >= value } }

extension Query.Order where Subject: KeyedObject {
  /// Sorts by an attribute, `.ascending(\.$name)`, from the lowest value to the highest.
  public static func ascending<Value>(_ path: KeyPath<Subject, Field.Stored<Value>>) -> Self {
    Self(FieldOrder(field: Subject.property(path)))
  }

  /// Sorts by an attribute, from the highest value to the lowest.
  public static func descending<Value>(_ path: KeyPath<Subject, Field.Stored<Value>>) -> Self {
    Self(FieldOrder(field: Subject.property(path), isDescending: true))
  }
}
