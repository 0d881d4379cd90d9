/// The name or the default of a field when a store is migrated from the version before.
///
/// A default acts in the step in which the field is new or no longer optional. A `renamingID` acts in each version
/// that states it if the version before does not state the same one for a field of that name: so it may be left in
/// place in later versions, and the same renaming may come again (a to b, to a, to b).
public struct MigrationInfo: Sendable {
  let defaultValue: FieldDefault?
  let renamingID: String?

  init(defaultValue: FieldDefault?, renamingID: String?) {
    self.defaultValue = defaultValue
    self.renamingID = renamingID
  }

  /// States that the field is the one that the version before calls `renamingID`.
  public init(renamingID: String) {
    defaultValue = nil
    self.renamingID = renamingID
  }

  /// Gives records without a value a default, which must convert exactly to the field's type: an integer for a double, a
  /// string for a URL.
  public init(default value: FieldValue, renamingID: String? = nil) {
    defaultValue = FieldDefault(value)
    self.renamingID = renamingID
  }

  /// Gives records without a value a default that is a Swift value: of an enum, or of a type that a codec encodes.
  public init(default value: some Encodable & Sendable, renamingID: String? = nil) {
    defaultValue = FieldDefault(encodable: value)
    self.renamingID = renamingID
  }
}

/// A default as it was declared, before it is known what it has to convert to.
struct FieldDefault: Sendable {
  /// Nil if only a codec can make something of it.
  let value: FieldValue?
  let encodable: (any Encodable & Sendable)?

  init(_ value: FieldValue) {
    self.value = value
    encodable = nil
  }

  init(encodable: some Encodable & Sendable) {
    value = FieldValue(converting: encodable)
    self.encodable = encodable
  }
}
