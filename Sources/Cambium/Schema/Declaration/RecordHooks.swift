/// The hooks of a record type, which run when its records are written or read. A hook that is nil costs nothing.
///
/// A hook that throws ends the operation with its error. Hooks do not run in a migration.
public struct RecordHooks<Subject>: Sendable {
  /// Called before a new record is written; may change it.
  public var beforeInsert: (@Sendable (inout Subject) throws -> Void)?
  /// Called before a record replaces an old one, which is the second argument; may change the new one.
  public var beforeUpdate: (@Sendable (inout Subject, Subject) throws -> Void)?
  /// Called before a record is deleted, by value, key or condition.
  public var beforeDelete: (@Sendable (Subject) throws -> Void)?
  /// Called after a record was read; may change it.
  public var afterLoad: (@Sendable (inout Subject) throws -> Void)?

  public init(
    beforeInsert: (@Sendable (inout Subject) throws -> Void)? = nil,
    beforeUpdate: (@Sendable (inout Subject, Subject) throws -> Void)? = nil,
    beforeDelete: (@Sendable (Subject) throws -> Void)? = nil,
    afterLoad: (@Sendable (inout Subject) throws -> Void)? = nil
  ) {
    self.beforeInsert = beforeInsert
    self.beforeUpdate = beforeUpdate
    self.beforeDelete = beforeDelete
    self.afterLoad = afterLoad
  }
}
