#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A property that holds the primary key of a record of another type, or of its own: one end of a relation, and the only
/// one that is stored.
///
/// ```swift
/// struct Book: Record, Identifiable {
///   var id = UUID()
///   var author: Reference<Author>?
///   var tags: [Reference<Tag>] = []
/// }
/// let author = try store.fetch(book.author)
/// ```
///
/// It is a value: it loads nothing, and keeps nothing alive. When a transaction commits, the record that it leads to
/// exists, or the commit throws `StoreError.danglingReference`. A reference to a record of another store, or one that may
/// lead nowhere, is declared with `checked: false`.
@frozen public struct Reference<Target: Record & Identifiable>: Hashable, Sendable, Codable
where Target.ID: RecordKey {
  /// The primary key of the record that it leads to.
  public let id: Target.ID

  /// Creates a reference to the record with a primary key.
  @inlinable
  public init(_ id: Target.ID) {
    self.id = id
  }

  /// Creates a reference to a record.
  @inlinable
  public init(to record: Target) {
    self.init(record.id)
  }

  /// Decodes the primary key alone.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Target.ID.self))
  }

  /// Encodes the primary key alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }

  /// Returns true if both lead to the same record. Strings are compared by their bytes, as the store compares them: two keys
  /// that are canonically equivalent may be those of two records, and a set has both.
  public static func == (one: Reference, other: Reference) -> Bool {
    guard one.id == other.id else { return false }
    guard let one = one.id as? String, let other = other.id as? String else { return true }
    return one.utf8.elementsEqual(other.utf8)
  }
}

extension Record where Self: Identifiable, ID: RecordKey {
  /// The reference to this record.
  @inlinable public var reference: Reference<Self> { Reference(id) }
}

/// A type of primary keys of one field, which a reference can hold. Enums that are keys conform without code.
public protocol RecordKey: FieldValueConvertible, Hashable, Codable {}

extension Int: RecordKey {}
extension Int8: RecordKey {}
extension Int16: RecordKey {}
extension Int32: RecordKey {}
extension Int64: RecordKey {}
extension UInt: RecordKey {}
extension UInt8: RecordKey {}
extension UInt16: RecordKey {}
extension UInt32: RecordKey {}
extension UInt64: RecordKey {}
extension String: RecordKey {}
extension UUID: RecordKey {}
extension Date: RecordKey {}
extension URL: RecordKey {}
extension Data: RecordKey {}
extension Decimal: RecordKey {}

extension Reference: RecordKey {
  public init?(fieldValue: FieldValue) {
    guard let id = Target.ID(fieldValue: fieldValue) else { return nil }
    self.init(id)
  }

  /// The primary key as a field has it.
  @inlinable public var fieldValue: FieldValue { id.fieldValue }
}

extension Reference: OrderedFieldValue where Target.ID: OrderedFieldValue {}

extension Set: FieldValueConvertible where Element: FieldValueConvertible {
  /// Nil also for different elements that are equal in Swift, of which the set would lose one.
  public init?(fieldValue: FieldValue) {
    guard let elements = [Element](fieldValue: fieldValue) else { return nil }
    self.init(elements)
    if count == elements.count { return }
    let kept = map { $0.fieldValue }
    let isWhole = elements.allSatisfy { element in
      kept.contains { $0.isSame(as: element.fieldValue) }
    }
    if !isWhole { return nil }
  }

  /// The elements, in the order of their values, so that equal sets are stored as equal bytes.
  public var fieldValue: FieldValue {
    .array(map { $0.fieldValue }.sorted { ($0.compare(to: $1) ?? 0) < 0 })
  }
}

extension Set: MeasuredFieldValue where Element: FieldValueConvertible {}

// MARK: - Properties

/// A type of properties that lead to records: `Reference`, an optional one, or an array or set of them.
public protocol ReferenceProperty<Target> {
  /// The type of the records that it leads to.
  associatedtype Target: Record & Identifiable where Target.ID: RecordKey
}

extension Reference: ReferenceProperty {}
extension Optional: ReferenceProperty where Wrapped: ReferenceProperty {
  public typealias Target = Wrapped.Target
}
extension Array: ReferenceProperty where Element: ReferenceProperty {
  public typealias Target = Element.Target
}
extension Set: ReferenceProperty where Element: ReferenceProperty {
  public typealias Target = Element.Target
}

extension ReferenceProperty {
  /// The record type, for callers that have the property's type only as a value.
  static var target: any Record.Type { Target.self }
}

/// The interface of a reference type to the property matcher: a reference has the same bytes as its key.
private protocol KeyedReference {
  static var key: any Any.Type { get }
}

extension Reference: KeyedReference {
  fileprivate static var key: any Any.Type { Target.ID.self }
}

/// The interface of arrays and sets of values to the property matcher and the encoder.
protocol FieldList: FieldValueConvertible {
  static var element: any Any.Type { get }
}

extension Array: FieldList where Element: FieldValueConvertible {
  static var element: any Any.Type { Element.self }
}

extension Set: FieldList where Element: FieldValueConvertible {
  static var element: any Any.Type { Element.self }
}

enum References {
  /// Returns the type of the key that a property of `type` holds if that is a reference; else the type itself.
  static func key(of type: any Any.Type) -> any Any.Type {
    var type = type
    while let reference = type as? any KeyedReference.Type { type = reference.key }
    return type
  }

  /// Returns the record type that a property of `type` leads to; nil if it is no reference, nor a list of such.
  static func target(of type: any Any.Type) -> (any Record.Type)? {
    (type as? any ReferenceProperty.Type)?.target
  }
}
