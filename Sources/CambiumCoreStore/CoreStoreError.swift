/// The errors of stacks that are not the core's.
@nonexhaustive public enum CoreStoreError: Error, Hashable, Sendable {
  /// The versions, their entities or the chain cannot be meant so.
  case invalidHistory(String)
  /// A mapping names a declaration that its versions do not have, or is wrong about an entity.
  case invalidMapping(String)
  /// An entity of a version differs from its lock; `versionLock` is the right one.
  case versionLockMismatch(modelVersion: String, versionLock: VersionLock)
  /// The store has to be migrated, and `addStorageAndWait` does not do that, or not so.
  case asynchronousMigrationRequired(localStoreURL: String)
  /// The store is more than one step behind, and its options prevent that.
  case progressiveMigrationRequired(localStoreURL: String)
  /// The chain does not lead from the store's version to the current one, or a step of it cannot be taken for these reasons.
  case mappingModelNotFound(
    localStoreURL: String, sourceModelVersion: String, targetModelVersion: String,
    reasons: [String])
  /// No storage was added that has the entity, or the configuration.
  case persistentStoreNotFound(String)
  /// A transaction was cancelled, and nothing of it is committed.
  case userCancelled
}

extension CoreStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidHistory(let reason): "The schema history is not valid: \(reason)."
    case .invalidMapping(let reason): "A mapping is not valid: \(reason)."
    case .versionLockMismatch(let version, let lock):
      "The version \(version) is not the one that is locked. If it was not released, its lock is:\nversionLock: \(lock)"
    case .asynchronousMigrationRequired(let path):
      "The store at \(path) has to be migrated: use addStorage, or .allowSynchronousLightweightMigration if that is enough."
    case .progressiveMigrationRequired(let path):
      "The store at \(path) is more than one step behind, and .preventProgressiveMigration was set."
    case .mappingModelNotFound(let path, let source, let target, let reasons):
      "The store at \(path) cannot be migrated from \(source) to \(target): "
        + (reasons.isEmpty ? "the chain does not lead there" : reasons.joined(separator: "; "))
        + "."
    case .persistentStoreNotFound(let name): "No storage was added that has \(name)."
    case .userCancelled: "The transaction was cancelled."
    }
  }
}
