/// A type whose values a store keeps: a struct, as a rule.
///
/// ```swift
/// struct TodoItem: Record {
///   var id = UUID()
///   var title: String
///
///   static func recordDescription(for version: Int) -> RecordDescription {
///     Field("id", primaryKey: true)
///     Field("title")
///   }
/// }
/// ```
public protocol Record: Codable, Sendable {
  /// The type of the primary key, which functions that take a key require: the `ID` of a type that is `Identifiable`, and
  /// `AnyKey` of others.
  ///
  /// A type whose key is not `id` names the type of its key:
  ///
  /// ```swift
  /// typealias KeyType = String
  /// ```
  ///
  /// If it is `Identifiable` and its key has several parts, it names `AnyKey`.
  associatedtype KeyType = AnyKey

  /// Returns the description of the type in a version of the model; an empty one if the record does not exist in it.
  ///
  /// When a store is opened, the current version is compared with the Swift type, earlier ones with themselves and with each
  /// other. Creating a description never fails; opening a store with a wrong one throws `StoreError.invalidDescription`.
  /// Versions start at 1. If a version describes a field of which there is no property, nor a stated type, or if the current
  /// one does so at all, versions up to 65,535 are described to find the name to which a later one renames it.
  @RecordDescription.ResultBuilder
  static func recordDescription(for version: Int) -> RecordDescription

  /// The way in which values become rows; the default is `.plan`.
  static var coding: RecordCoding { get }

  /// The functions that are called when records are written or read; none by default.
  static var hooks: RecordHooks<Self> { get }
}

extension Record {
  public static var coding: RecordCoding { .plan }
  public static var hooks: RecordHooks<Self> { RecordHooks(afterLoad: nil, writing: nil) }

  /// Returns the name under which the type's records are stored in a version: that of the description's `RecordName`, or else
  /// the type's.
  public static func recordName(in version: Int) -> String {
    RecordDescription.name(of: Self.self, in: version)
  }
}

extension Record where Self: Identifiable, ID: FieldValueConvertible {
  /// The type of the identifier, which is the primary key.
  public typealias KeyType = ID
}

/// The `Record.KeyType` of types whose primary key the compiler does not know. Such a key is given as its parts, of any
/// types; parts that are not of their fields' types throw `StoreError.invalidQuery`.
public enum AnyKey {}

/// The way in which values of a record type become rows and are read back.
public enum RecordCoding: Hashable, Sendable {
  /// Its properties are read and set in place, at offsets found when a store is opened. By far the faster.
  case plan
  /// Its own `encode(to:)` and `init(from:)`, by the fields' names.
  case codable
}

/// The hooks of a record type, which run when its records are written or read. They are made in
/// `Record.hooks`.
public struct RecordHooks<Subject>: Sendable {
  /// Called after a record was read; may change it.
  let afterLoad: (@Sendable (inout Subject) throws -> Void)?
  /// The hooks that run before records are written and deleted, as the layer of transactions makes them; nil if none.
  let writing: (any Sendable)?
}
