public import Cambium

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A model whose description follows from its properties, as `@Model` makes it.
///
/// ```swift
/// struct Trip: DeclaredModel {                                  // @Model final class Trip
///   var id = UUID()
///   @Attribute(.unique) var name: String
///   @Attribute(originalName: "start_date") var startDate: Date
///   @Relationship(.cascade) var bucketList: [Reference<BucketListItem>]? = []
///
///   init() {}
/// }
/// ```
///
/// Each stored property is a field of its name; `id` is the primary key. A description with more to say begins with `properties`:
///
/// ```swift
/// static func recordDescription(for version: Int) -> RecordDescription {
///   properties
///   Index("startDate")
/// }
/// ```
///
/// Such models are read and written by their `Codable`; a `PersistentModel` that describes itself is read and written in place, which
/// is faster.
public protocol DeclaredModel: PersistentModel, Identifiable, WrappedProperties {
  /// Creates a model, of which the library only looks at the properties.
  init()
}

extension DeclaredModel {
  public static var coding: RecordCoding { .codable }

  /// The description of a model that has nothing but its properties.
  public static func recordDescription(for version: Int) -> RecordDescription { properties }

  /// The stored properties, in their order.
  @RecordDescription.ResultBuilder
  public static var properties: RecordDescription {
    for property in declaredProperties(of: Self()) { property.description }
  }

  /// Finds the property by the one that is set by the key path, in a model that is made for it.
  public static func wrappedProperty(at keyPath: AnyKeyPath) -> String? {
    guard let keyPath = keyPath as? PartialKeyPath<Self>, keyPath.hasOneStep else { return nil }
    let found = declaredProperties(of: Self()).filter {
      $0.wrapper?.isSet(by: keyPath, as: $0.name) ?? false
    }
    return found.count == 1 ? found[0].name : nil
  }

  private static func declaredProperties(of model: Self) -> [DeclaredProperty] {
    Mirror(reflecting: model).children.compactMap { label, value in
      guard let label else { return nil }
      let wrapper = value as? any ModelPropertyWrapper
      // The attribute `name` is in the property `_name`.
      let name = wrapper == nil ? label : String(label.dropFirst())
      return DeclaredProperty(name: name, value: value, wrapper: wrapper)
    }
  }
}

extension PartialKeyPath {
  /// False if it leads through a property to one of its value.
  fileprivate var hasOneStep: Bool {
    debugDescription.split(separator: "<computed ", omittingEmptySubsequences: false).count == 2
      && debugDescription.hasSuffix(")>")
  }
}

/// A stored property of a model.
private struct DeclaredProperty {
  let name: String
  let value: Any
  let wrapper: (any ModelPropertyWrapper)?

  @RecordDescription.ResultBuilder
  var description: RecordDescription {
    if let wrapper {
      wrapper.description(of: name)
    } else {
      let type = Swift.type(of: value) as? any ModelValue.Type
      Field(
        primaryKey: name == "id", name: name, type: type?.fieldType ?? .transformable,
        optional: Swift.type(of: value) is any ExpressibleByNilLiteral.Type)
    }
  }
}

// MARK: - Wrappers

/// An attribute, a relationship or a transient property, as the mirror of a model shows it.
private protocol ModelPropertyWrapper {
  func description(of property: String) -> RecordDescription
  /// Returns true if a key path sets the property and reads the values that are set: a property computed of it does
  /// not.
  func isSet<Model: DeclaredModel>(by keyPath: PartialKeyPath<Model>, as property: String) -> Bool
}

/// A wrapper with a value that is stored.
private protocol StoredPropertyWrapper: ModelPropertyWrapper {
  associatedtype Value: ModelValue
  var wrappedValue: Value { get }
}

extension StoredPropertyWrapper {
  func isSet<Model: DeclaredModel>(
    by keyPath: PartialKeyPath<Model>, as property: String
  ) -> Bool {
    guard let keyPath = keyPath as? WritableKeyPath<Model, Value> else { return false }
    let samples = Self.samples
    return !samples.isEmpty
      && samples.allSatisfy { sample in
        var model = Model()
        model[keyPath: keyPath] = sample
        let wrapper = Mirror(reflecting: model).descendant("_" + property) as? Self
        return wrapper?.wrappedValue.fieldValue == sample.fieldValue
          && model[keyPath: keyPath].fieldValue == sample.fieldValue
      }
  }

  /// Values that no new model has.
  private static var samples: [Value] {
    let scalars: [FieldValue] = [
      .string(" aZ! "), .integer(-7), .integer(7), .unsigned(7), .float(-7.5), .double(-7.5),
      .decimal(-7.5), .boolean(true), .boolean(false),
      .date(Date(timeIntervalSinceReferenceDate: -7.5)), .uuid(UUID()),
      .data(Data([7])),
    ]
    return (scalars + scalars.map { .array([$0]) }).compactMap { Value(fieldValue: $0) }
  }
}

/// An option of an attribute.
public enum AttributeOption: Hashable, Sendable {
  /// No two models have the same value: `ModelContext.insert` updates the one that has it.
  case unique
  /// Long values are stored outside of the row.
  case externalStorage
}

/// A stored property of a ``DeclaredModel`` with options: `@Attribute(.unique) var name: String`.
@propertyWrapper
public struct Attribute<Value: AttributeValue>: Sendable {
  public var wrappedValue: Value
  private var options: [AttributeOption] = []
  private var originalName: String?

  /// Creates an attribute without options.
  public init() { wrappedValue = .blank }

  /// - Parameters:
  ///   - wrappedValue: The value of new models; without one, the model's initializer sets it.
  ///   - options: Its special properties.
  ///   - originalName: The stored name in the version before, if it was another.
  public init(
    wrappedValue: Value = .blank, _ options: AttributeOption..., originalName: String? = nil
  ) {
    self.wrappedValue = wrappedValue
    self.options = options
    self.originalName = originalName
  }

  fileprivate init(read value: Value) { wrappedValue = value }
}

extension Attribute: StoredPropertyWrapper {
  @RecordDescription.ResultBuilder
  fileprivate func description(of property: String) -> RecordDescription {
    Field(
      primaryKey: property == "id", name: property, type: Value.fieldType,
      storage: options.contains(.externalStorage) ? .external() : .inline,
      optional: Value.self is any ExpressibleByNilLiteral.Type,
      unique: options.contains(.unique) && property != "id",
      migrationInfo: originalName.map { MigrationInfo(renamingID: $0) })
  }
}

/// A relationship of a ``DeclaredModel``: `@Relationship(.cascade) var bucketList: [Reference<BucketListItem>]? = []`.
@propertyWrapper
public struct Relationship<Value: AttributeValue & ReferenceProperty>: Sendable {
  public var wrappedValue: Value
  private var deleteRule = DeleteRule.nullify
  private var counts = (minimum: 0, maximum: 0)
  private var originalName: String?

  /// Creates a relationship without options: when the model is deleted, the related models stay.
  public init() { wrappedValue = .blank }

  /// - Parameters:
  ///   - wrappedValue: The value of new models; without one, the model's initializer sets it.
  ///   - deleteRule: What happens to the related models when the model is deleted.
  ///   - minimumModelCount: The lowest number of related models, of a list.
  ///   - maximumModelCount: The highest number of related models, of a list; 0 for no bound.
  ///   - originalName: The stored name in the version before, if it was another.
  public init(
    wrappedValue: Value = .blank, _ deleteRule: DeleteRule = .nullify, minimumModelCount: Int = 0,
    maximumModelCount: Int = 0, originalName: String? = nil
  ) {
    self.wrappedValue = wrappedValue
    self.deleteRule = deleteRule
    counts = (minimumModelCount, maximumModelCount)
    self.originalName = originalName
  }

  fileprivate init(read value: Value) { wrappedValue = value }
}

extension Relationship: StoredPropertyWrapper {
  private var fieldType: FieldType {
    if !Value.isList { return .reference(to: Value.Target.self, deleteRule: deleteRule) }
    return counts.maximum > 0
      ? .references(
        to: Value.Target.self, deleteRule: deleteRule,
        count: min(counts.minimum, counts.maximum)...counts.maximum)
      : .references(
        to: Value.Target.self, deleteRule: deleteRule, count: counts.minimum...)
  }

  @RecordDescription.ResultBuilder
  fileprivate func description(of property: String) -> RecordDescription {
    Field(
      name: property, type: fieldType,
      optional: Value.self is any ExpressibleByNilLiteral.Type,
      migrationInfo: originalName.map { MigrationInfo(renamingID: $0) })
  }
}

/// A property of a ``DeclaredModel`` that is not stored: `@TransientProperty var views = 0`.
///
/// Where a model names it `Transient`, as SwiftData does, it says so: `typealias Transient = TransientProperty`.
@propertyWrapper
public struct TransientProperty<Value: Codable & Sendable>: Sendable {
  /// The value; in models that are read, the one of new models.
  public var wrappedValue: Value

  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension TransientProperty: ModelPropertyWrapper {
  fileprivate func isSet<Model: DeclaredModel>(
    by keyPath: PartialKeyPath<Model>, as property: String
  ) -> Bool { false }

  @RecordDescription.ResultBuilder
  fileprivate func description(of property: String) -> RecordDescription {
    RecordDescription.Transient(property, default: wrappedValue)
  }
}

// MARK: - Values

/// A type of properties that a ``DeclaredModel`` stores as they are; values of others are stored as JSON. Enums that are stored as
/// strings or integers conform without code.
public protocol ModelValue: FieldValueConvertible, Codable, Sendable {
  /// The type of fields with such values.
  static var fieldType: FieldType { get }
  /// The type of fields with lists of such values.
  static var listType: FieldType { get }
  static var isList: Bool { get }
}

/// A type of properties with a value before the model's initializer sets one.
public protocol AttributeValue: ModelValue {
  static var blank: Self { get }
}

extension ModelValue {
  public static var listType: FieldType { .array(of: fieldType) }
  public static var isList: Bool { false }
}

extension ModelValue where Self: RecordStringEnum {
  public static var fieldType: FieldType { .string }
}

extension ModelValue where Self: RecordIntegerEnum {
  public static var fieldType: FieldType { .integer }
}

extension Reference: ModelValue {
  public static var fieldType: FieldType { .reference(to: Target.self) }
  public static var listType: FieldType { .references(to: Target.self) }
}

extension Optional: ModelValue, AttributeValue where Wrapped: ModelValue {
  public static var fieldType: FieldType { Wrapped.fieldType }
  public static var isList: Bool { Wrapped.isList }
  public static var blank: Wrapped? { nil }
}

extension Array: ModelValue, AttributeValue where Element: ModelValue {
  public static var fieldType: FieldType { Element.listType }
  public static var isList: Bool { true }
  public static var blank: [Element] { [] }
}

extension Set: ModelValue, AttributeValue where Element: ModelValue {
  public static var fieldType: FieldType { Element.listType }
  public static var isList: Bool { true }
  public static var blank: Set { [] }
}

extension AttributeValue where Self: ExpressibleByIntegerLiteral {
  public static var blank: Self { 0 }
}

extension Int: AttributeValue { public static var fieldType: FieldType { .integer } }
extension Int8: AttributeValue { public static var fieldType: FieldType { .int8 } }
extension Int16: AttributeValue { public static var fieldType: FieldType { .int16 } }
extension Int32: AttributeValue { public static var fieldType: FieldType { .int32 } }
extension Int64: AttributeValue { public static var fieldType: FieldType { .int64 } }
extension UInt8: AttributeValue { public static var fieldType: FieldType { .uint8 } }
extension UInt16: AttributeValue { public static var fieldType: FieldType { .uint16 } }
extension UInt32: AttributeValue { public static var fieldType: FieldType { .uint32 } }
extension UInt64: AttributeValue { public static var fieldType: FieldType { .uint64 } }
extension Float: AttributeValue { public static var fieldType: FieldType { .float } }
extension Double: AttributeValue { public static var fieldType: FieldType { .double } }
extension Decimal: AttributeValue { public static var fieldType: FieldType { .decimal } }

extension Bool: AttributeValue {
  public static var fieldType: FieldType { .boolean }
  public static var blank: Bool { false }
}

extension String: AttributeValue {
  public static var fieldType: FieldType { .string }
  public static var blank: String { "" }
}

extension Date: AttributeValue {
  public static var fieldType: FieldType { .date }
  public static var blank: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: AttributeValue {
  public static var fieldType: FieldType { .uuid }
  public static var blank: UUID { UUID() }
}

extension Data: AttributeValue {
  public static var fieldType: FieldType { .binaryData }
  public static var blank: Data { Data() }
}

extension URL: ModelValue {
  public static var fieldType: FieldType { .url }
}

// MARK: - Coding

extension Attribute: Codable {
  public init(from decoder: any Decoder) throws { self.init(read: try Value(from: decoder)) }
  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension Relationship: Codable {
  public init(from decoder: any Decoder) throws { self.init(read: try Value(from: decoder)) }
  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension TransientProperty: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try Value(from: decoder))
  }
  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

// The code that the compiler makes for `Codable` calls these: a property is encoded as its value is, and may be nil.

extension KeyedDecodingContainer {
  public func decode<Value>(
    _ type: Attribute<Value>.Type, forKey key: Key
  ) throws -> Attribute<Value> { Attribute(read: try decode(Value.self, forKey: key)) }

  public func decode<Value>(
    _ type: Relationship<Value>.Type, forKey key: Key
  ) throws -> Relationship<Value> { Relationship(read: try decode(Value.self, forKey: key)) }

  public func decode<Value>(
    _ type: TransientProperty<Value>.Type, forKey key: Key
  ) throws -> TransientProperty<Value> {
    TransientProperty(wrappedValue: try decode(Value.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  public mutating func encode<Value>(_ attribute: Attribute<Value>, forKey key: Key) throws {
    try encode(attribute.wrappedValue, forKey: key)
  }

  public mutating func encode<Value>(
    _ relationship: Relationship<Value>, forKey key: Key
  ) throws { try encode(relationship.wrappedValue, forKey: key) }

  public mutating func encode<Value>(
    _ property: TransientProperty<Value>, forKey key: Key
  ) throws { try encode(property.wrappedValue, forKey: key) }
}
