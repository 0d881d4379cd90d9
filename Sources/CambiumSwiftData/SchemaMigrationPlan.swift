public import Cambium

/// The versions of a schema in order, and the stages between them.
///
/// ```swift
/// enum TripsMigrationPlan: SchemaMigrationPlan {
///   static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
///   static var stages: [MigrationStage] { [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)] }
/// }
/// ```
public protocol SchemaMigrationPlan: SendableMetatype {
  /// All versions that stores may have, oldest first. Never remove or reorder one: its place is its number.
  static var schemas: [any VersionedSchema.Type] { get }

  /// The stages. Versions between which there is none are migrated by inference.
  static var stages: [MigrationStage] { get }
}

/// A migration from one version to another.
public struct MigrationStage: Sendable {
  /// A closure that changes records of one version, in the transaction that it is lent.
  public typealias Handler = @Sendable (_ context: inout WriteTransaction) throws -> Void

  let from: any VersionedSchema.Type
  let to: any VersionedSchema.Type
  let isCustom: Bool
  private let willMigrate: Handler?
  private let didMigrate: Handler?

  /// A stage that follows from the two descriptions. If it does not, opening the container says which stage has to be custom.
  public static func lightweight(
    fromVersion from: any VersionedSchema.Type, toVersion to: any VersionedSchema.Type
  ) -> MigrationStage {
    MigrationStage(from: from, to: to, isCustom: false, willMigrate: nil, didMigrate: nil)
  }

  /// A stage that changes records before or after the versions are exchanged.
  ///
  /// No program sees what the closures do unless the whole migration ends. They may run again after a crash, on the same records
  /// as the first time. With several configurations they run in each store, with the models that it has.
  ///
  /// - Parameters:
  ///   - willMigrate: Changes records of the old version, such as duplicates of a name that becomes unique.
  ///   - didMigrate: Changes records of the new version.
  public static func custom(
    fromVersion from: any VersionedSchema.Type, toVersion to: any VersionedSchema.Type,
    willMigrate: Handler?, didMigrate: Handler?
  ) -> MigrationStage {
    MigrationStage(
      from: from, to: to, isCustom: true, willMigrate: willMigrate, didMigrate: didMigrate)
  }

  /// The name in plans and errors.
  var label: String { "\(from.label) → \(to.label)" }

  /// Returns the core's step; nil if it is inferred anyway.
  func step(from old: ModelVersion, to new: ModelVersion) -> MigrationStep? {
    guard isCustom || new.number != old.number + 1 else { return nil }
    return MigrationStep(from: old.number, to: new.number, label: label) {
      if let willMigrate { RunBefore(types: old.records, body: willMigrate) }
      if let didMigrate { RunAfter(types: new.records, body: didMigrate) }
    }
  }
}

extension WriteTransaction {
  /// Does nothing: changes of a stage are committed with the migration, and those of a context's block when the block
  /// returns. Throw to undo it.
  public mutating func save() throws {}
}

extension MigrationStage: CustomStringConvertible {
  /// The kind and the versions: `lightweight stage SchemaV1 → SchemaV2`.
  public var description: String { "\(isCustom ? "custom" : "lightweight") stage \(label)" }
}
