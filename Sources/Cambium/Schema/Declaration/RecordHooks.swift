/// The hooks of a record type, which run when its records are written or read. They are made in
/// `Record.hooks`.
public struct RecordHooks<Subject>: Sendable {
  /// Called after a record was read; may change it.
  let afterLoad: (@Sendable (inout Subject) throws -> Void)?
  /// What runs before records are written and deleted, as the layer that has transactions makes it; nil for nothing.
  let writing: (any Sendable)?
}
