/// A condition on the records of a type.
///
/// ```swift
/// try store.fetch(Person.where { $0.age >= 18 && $0.name.hasPrefix("A") })
/// let adult = Condition<Person> { $0.age >= 18 }
/// ```
///
/// It is a value: creating one needs no store and never fails. It is checked against the description of the record
/// before a record is read. ``FieldCondition`` documents the meaning of null, order and strings. Two conditions are equal
/// if they are made of the same parts in the same way.
public struct Condition<Subject: Record>: Hashable, Sendable {
  @usableFromInline let tree: PropertyCondition

  @usableFromInline
  init(_ tree: PropertyCondition) {
    self.tree = tree
  }

  @inlinable @inline(__always)
  init(term: PropertyCondition.Tree) {
    self.init(PropertyCondition(term))
  }

  /// Creates the condition that a closure makes of the record's fields.
  @inlinable
  public init(_ condition: (Fields<Subject>) -> Condition<Subject>) {
    self = condition(Fields())
  }

  /// Creates a condition on properties of one on their names, such as `address.street`. A name without a property is an
  /// error when the condition is checked.
  public init(_ condition: FieldCondition) {
    self.init(PropertyCondition(condition, by: NamedProperties(of: Subject.self)))
  }
}

extension Condition {
  /// A condition that every record meets.
  public static var always: Condition { Condition(.all([])) }

  /// A condition that no record meets.
  public static var never: Condition { Condition(.any([])) }

  /// Returns a condition that a record meets if it meets all conditions; every record, if there are none.
  public static func all(_ conditions: [Condition]) -> Condition {
    Condition(.all(conditions.map(\.tree)))
  }

  /// Returns a condition that a record meets if it meets one of the conditions; no record, if there are none.
  public static func any(_ conditions: [Condition]) -> Condition {
    Condition(.any(conditions.map(\.tree)))
  }

  @inlinable
  public static func && (one: Condition, other: Condition) -> Condition {
    Condition(.both(one.tree, other.tree))
  }

  @inlinable
  public static func || (one: Condition, other: Condition) -> Condition {
    Condition(.either(one.tree, other.tree))
  }

  @inlinable
  public static prefix func ! (condition: Condition) -> Condition {
    Condition(.not(condition.tree))
  }
}

// MARK: Checking

extension Condition {
  /// Returns the condition on the fields that the properties are stored in.
  ///
  /// - Throws: `.invalidQuery` for a property that is not stored, or a condition that is nested too deep. That the
  ///   condition fits the fields is not checked.
  func fields(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldCondition {
    guard !tree.isTooDeep else {
      throw .invalidQuery(
        record: type.record.name, field: nil, reason: "the condition is nested too deep")
    }
    return try tree.tree.named(by: StoredNames(type, entities))
  }
}

// MARK: As text

extension Condition: CustomStringConvertible {
  /// The condition as text, with the properties' names: `age >= 18 && name beginswith "A"`.
  public var description: String {
    tree.isTooDeep ? "(nested too deep)" : "\(named)"
  }

  private var named: FieldCondition {
    tree.tree.named(by: PropertyNames(paths: PropertyPaths.of(Subject.self)))
  }
}

extension Condition: Codable {
  /// Decodes a condition from its description.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      self.init(try FieldCondition(parsing: try container.decode(String.self)))
    } catch let error as ConditionSyntaxError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard !tree.isTooDeep else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "It is nested too deep."))
    }
    try container.encode("\(named)")
  }
}
