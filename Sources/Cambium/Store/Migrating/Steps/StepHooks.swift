/// Changes records of the old version before a step looks at them, in one atomic slice: removes doubles, say,
/// before a field becomes unique.
///
/// The transaction is one on the trees that the migration makes, in the version before the step: no program sees
/// what it does unless the migration ends. Hooks of Swift types do not run; what they validate is validated. It may be run again
/// after a crash, on the same records as the first time.
public struct Before: Sendable {
  let types: [any Record.Type]
  let body: @Sendable (inout WriteTransaction) throws -> Void

  /// - Parameter types: Swift types for records of that version, whose descriptions have to be the step's;
  ///   what has none is a `DynamicRecord`.
  public init(
    _ types: any Record.Type..., body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    self.types = types
    self.body = body
  }
}

/// Changes records of the new version when a step has made them, in one atomic slice. All else is as for `Before`.
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

/// Looks at what a step has made, and throws where it is not right: then nothing is changed.
public struct Check: Sendable {
  let text: String
  let types: [any Record.Type]
  let body: @Sendable (StoreSnapshot) throws -> Void

  /// - Parameters:
  ///   - text: What is to hold, for plans and errors.
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
