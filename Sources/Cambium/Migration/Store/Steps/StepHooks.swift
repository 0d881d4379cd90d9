/// Changes records of the old version before a step reads them, in one atomic slice: for example, removes duplicates
/// before a field becomes unique.
///
/// The transaction is one on the trees that the migration makes, in the version before the step: no program sees its
/// changes unless the migration ends. Hooks of Swift types do not run; their validations do. The closure may run again
/// after a crash, on the same records as the first time.
public struct Before: Sendable {
  let types: [any Record.Type]
  let body: @Sendable (inout WriteTransaction) throws -> Void

  /// - Parameter types: Swift types for records of that version, whose descriptions must be the step's; records without a
  ///   type are `DynamicRecord`s.
  public init(
    _ types: any Record.Type..., body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    self.types = types
    self.body = body
  }
}

/// Changes records of the new version after a step has made them, in one atomic slice. Otherwise it is like `Before`.
public struct After: Sendable {
  let types: [any Record.Type]
  let body: @Sendable (inout WriteTransaction) throws -> Void

  /// - Parameter types: Swift types for records of the new version.
  public init(
    _ types: any Record.Type..., body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    self.types = types
    self.body = body
  }
}

/// Checks the records that a step has made. If it throws, the store is unchanged.
public struct Check: Sendable {
  let text: String
  let types: [any Record.Type]
  let body: @Sendable (StoreSnapshot) throws -> Void

  /// - Parameters:
  ///   - text: The rule that it checks, for plans and errors.
  ///   - types: Swift types for records of the new version.
  public init(
    _ text: String, _ types: any Record.Type...,
    body: @escaping @Sendable (StoreSnapshot) throws -> Void
  ) {
    self.text = text
    self.types = types
    self.body = body
  }
}
