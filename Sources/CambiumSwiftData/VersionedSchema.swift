public import Cambium

/// A type whose values a container keeps.
public typealias PersistentModel = Record

/// One version of a schema, with types of its own.
///
/// ```swift
/// enum SchemaV1: VersionedSchema {
///   static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
///   static var models: [any PersistentModel.Type] { [Trip.self] }
///   struct Trip: PersistentModel { … }
/// }
/// ```
///
/// Types of the same stored name stand for the same record in different versions.
public protocol VersionedSchema: SendableMetatype {
  /// The types of the version.
  static var models: [any PersistentModel.Type] { get }

  /// The name of the version. The store counts versions by their place in the migration plan, and keeps this as a label.
  static var versionIdentifier: Schema.Version { get }
}

extension VersionedSchema {
  /// The identifier of a version that states none: 0.0.0. Its label is the name of the type.
  public static var versionIdentifier: Schema.Version { Schema.Version(0, 0, 0) }

  static var label: String {
    let unstated = Schema.Version(0, 0, 0)
    return versionIdentifier == unstated ? String(describing: self) : "\(versionIdentifier)"
  }
}

extension Schema {
  /// A version in three numbers.
  public struct Version: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    public let major: Int
    public let minor: Int
    public let patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    public static func < (one: Version, other: Version) -> Bool {
      (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }

    /// The numbers with dots between them: “1.0.2”.
    public var description: String { "\(major).\(minor).\(patch)" }
  }
}
