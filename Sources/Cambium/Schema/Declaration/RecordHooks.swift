/// What a record type does when its records are written or read. One that is nil costs nothing.
///
/// A hook that throws ends the operation it is called for, with its error. Hooks do not run in a
/// migration.
public struct RecordHooks<Subject>: Sendable {
  /// Before a record that was not there is written; may change it.
  public var beforeInsert: (@Sendable (inout Subject) throws -> Void)?
  /// Before a record takes the place of an old one, which comes second; may change the new one.
  public var beforeUpdate: (@Sendable (inout Subject, Subject) throws -> Void)?
  /// Before a record is deleted, whether by value, key or condition.
  public var beforeDelete: (@Sendable (Subject) throws -> Void)?
  /// After a record was read; may change it.
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
