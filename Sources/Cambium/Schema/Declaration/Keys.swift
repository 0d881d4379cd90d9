/// A field in a declared key or index, by its stored name; a part of a composite with the composite's
/// name and a dot before it.
public struct KeyField: Hashable, Sendable, ExpressibleByStringLiteral {
  let name: String
  let isDescending: Bool
  let isCaseInsensitive: Bool

  public init(stringLiteral name: String) {
    self.init(name: name, isDescending: false, isCaseInsensitive: false)
  }

  init(name: String, isDescending: Bool, isCaseInsensitive: Bool) {
    self.name = name
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
  }

  /// Sorts from the lowest value to the highest, as a name alone does.
  public static func ascending(_ name: String) -> KeyField {
    KeyField(name: name, isDescending: false, isCaseInsensitive: false)
  }

  /// Sorts from the highest value to the lowest.
  public static func descending(_ name: String) -> KeyField {
    KeyField(name: name, isDescending: true, isCaseInsensitive: false)
  }

  /// Compares strings without regard to case, by Unicode's simple lowercase mapping of each scalar.
  public static func caseInsensitive(_ name: String, descending: Bool = false) -> KeyField {
    KeyField(name: name, isDescending: descending, isCaseInsensitive: true)
  }
}

/// The primary key of a record, of one field or several, in the order in which records are kept.
public struct PrimaryKey: Sendable {
  let fields: [KeyField]

  public init(_ fields: KeyField...) {
    self.init(fields: fields)
  }

  init(fields: [KeyField]) {
    self.fields = fields
  }
}

/// An index: helps to find and sort records by its fields, and costs space and time at each write.
public struct Index: Sendable {
  let fields: [KeyField]
  let name: String?
  let isUnique: Bool
  let condition: FieldCondition?

  /// - Parameters:
  ///   - name: The name in errors and plans; by default, made of its fields' names.
  ///   - condition: Only records that meet it are in the index.
  public init(
    _ fields: KeyField..., named name: String? = nil, where condition: FieldCondition? = nil
  ) {
    self.init(fields: fields, name: name, isUnique: false, condition: condition)
  }

  init(fields: [KeyField], name: String?, isUnique: Bool, condition: FieldCondition?) {
    self.fields = fields
    self.name = name
    self.isUnique = isUnique
    self.condition = condition
  }
}

/// A constraint that no two records have the same values in these fields, unless one of the values is nil. It is an
/// index as well.
public struct Unique: Sendable {
  let index: Index

  /// - Parameters:
  ///   - name: The name in errors and plans; by default, made of its fields' names.
  ///   - condition: Only records that meet it are compared.
  public init(
    _ fields: KeyField..., named name: String? = nil, where condition: FieldCondition? = nil
  ) {
    index = Index(fields: fields, name: name, isUnique: true, condition: condition)
  }
}
