/// The sources of a record's fields in a step. Fields that it does not name are inferred.
public struct UpdateRecord: Sendable {
  let name: String
  let fields: [UpdateField]

  /// - Parameter name: The record's name after the step.
  public init(_ name: String, @Builder _ fields: () -> [UpdateField]) {
    self.name = name
    self.fields = fields()
  }

  /// Collects a record's fields.
  @resultBuilder public enum Builder {
    public static func buildExpression(_ field: UpdateField) -> [UpdateField] { [field] }
    public static func buildBlock(_ fields: [UpdateField]...) -> [UpdateField] {
      fields.flatMap { $0 }
    }
    public static func buildOptional(_ part: [UpdateField]?) -> [UpdateField] { part ?? [] }
    public static func buildEither(first part: [UpdateField]) -> [UpdateField] { part }
    public static func buildEither(second part: [UpdateField]) -> [UpdateField] { part }
    public static func buildArray(_ parts: [[UpdateField]]) -> [UpdateField] {
      parts.flatMap { $0 }
    }
  }
}

/// The source of the value of one field in a step.
///
/// A part of a composite is named with the composite's name and a dot before it. If the composite may be null, a new
/// record has it if the old one had it, or if one of its parts is given a value here; a default alone does not make it.
/// Null stands for no value: then the field has its default, if it has one. Closures may be called for a record more than
/// once, on any thread, and must give the same result each time.
public struct UpdateField: Sendable {
  let name: String
  let source: FieldSource

  /// Makes the value by a function of the field's old value, which is null if it had none.
  ///
  /// ```swift
  /// UpdateField("name", by: { old in try old.as(String.self)?.uppercased() })
  /// ```
  public init<Value: FieldValueConvertible>(
    _ name: String, by transform: @escaping @Sendable (FieldValue) throws -> Value
  ) {
    self.name = name
    source = .value { value in try transform(value).fieldValue }
  }

  /// Computes the value from the whole old record. Reading a field that the old version does not have, or as a type that
  /// it is not, fails the migration.
  ///
  /// ```swift
  /// UpdateField("title", from: { old in try old["nick", as: String?.self] ?? old["name", as: String.self] })
  /// ```
  public init<Value: FieldValueConvertible>(
    _ name: String, from compute: @escaping @Sendable (OldRecord) throws -> Value
  ) {
    self.name = name
    source = .record { record in try compute(record).fieldValue }
  }

  /// Takes the value of another field of the old record, such as `address.city`, whose type is the same or widens.
  public init(_ name: String, path: String) {
    self.name = name
    source = .field(path)
  }

  /// Converts the old value to the new type: numbers, booleans, dates, UUIDs and UTF-8 bytes from and to strings, integers
  /// from and to other numbers if they are whole. The article on field types has the table.
  public init(_ name: String, converting policy: ConversionPolicy) {
    self.name = name
    source = .conversion(policy)
  }
}
