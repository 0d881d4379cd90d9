/// The description of a record type in one version: plain data, checked when a store is opened.
public struct RecordDescription: Sendable {
  var elements: [Element]
  /// The parents of a record that has their fields itself, the nearest first.
  var ancestors: [Ancestor] = []

  /// The description of a record that does not exist.
  package init() {
    elements = []
  }

  init(_ elements: [Element]) {
    self.elements = elements
  }

  /// One statement of a description.
  struct Element: Sendable {
    var kind: Kind
    /// The number of ancestors of the type that states it.
    var generation = 0

    indirect enum Kind: Sendable {
      case field(Field)
      case primaryKey(PrimaryKey)
      case index(Index)
      case name(RecordName)
      case transient(Transient)
      case computed(Computed)
      case validation(Validation)
      case modifier(RecordModifier)
      case userInfo(UserInfo)
      case expiry(Expiry)
      case inverse(InverseDeclaration)
      case parent(Parent)
      case abstract
      case kind(KindDeclaration)
    }
  }
}

extension RecordDescription {
  /// Collects the statements of a description: with `if`, `switch`, loops, availability, and other
  /// descriptions in their place.
  @resultBuilder public enum ResultBuilder {
    public static func buildExpression(_ field: Field) -> RecordDescription { one(.field(field)) }
    public static func buildExpression(_ key: PrimaryKey) -> RecordDescription {
      one(.primaryKey(key))
    }
    public static func buildExpression(_ index: Index) -> RecordDescription { one(.index(index)) }
    public static func buildExpression(_ unique: Unique) -> RecordDescription {
      one(.index(unique.index))
    }
    public static func buildExpression(_ name: RecordName) -> RecordDescription { one(.name(name)) }
    public static func buildExpression(_ transient: Transient) -> RecordDescription {
      one(.transient(transient))
    }
    public static func buildExpression(_ computed: Computed) -> RecordDescription {
      one(.computed(computed))
    }
    public static func buildExpression(_ validation: Validation) -> RecordDescription {
      one(.validation(validation))
    }
    public static func buildExpression(_ modifier: RecordModifier) -> RecordDescription {
      one(.modifier(modifier))
    }
    public static func buildExpression(_ userInfo: UserInfo) -> RecordDescription {
      one(.userInfo(userInfo))
    }
    public static func buildExpression(_ expiry: Expiry) -> RecordDescription {
      one(.expiry(expiry))
    }
    public static func buildExpression(_ parent: Parent) -> RecordDescription {
      one(.parent(parent))
    }
    public static func buildExpression(_ abstract: Abstract) -> RecordDescription { one(.abstract) }
    public static func buildExpression(_ description: RecordDescription) -> RecordDescription {
      RecordDescription(description.elements)
    }

    public static func buildBlock(_ parts: RecordDescription...) -> RecordDescription {
      RecordDescription(parts.flatMap(\.elements))
    }
    public static func buildOptional(_ part: RecordDescription?) -> RecordDescription {
      part ?? RecordDescription()
    }
    public static func buildEither(first part: RecordDescription) -> RecordDescription { part }
    public static func buildEither(second part: RecordDescription) -> RecordDescription { part }
    public static func buildArray(_ parts: [RecordDescription]) -> RecordDescription {
      RecordDescription(parts.flatMap(\.elements))
    }
    public static func buildLimitedAvailability(_ part: RecordDescription) -> RecordDescription {
      part
    }

    static func one(_ kind: Element.Kind) -> RecordDescription {
      RecordDescription([Element(kind: kind)])
    }
  }
}

/// The stored name of a record. Without it, that is the type's own name.
public struct RecordName: Sendable {
  let name: String
  let renamingID: String?

  /// - Parameters:
  ///   - name: Without a dot.
  ///   - renamingID: The name that the version before has for the record. It acts in each version that states
  ///     it if the version before does not state the same one for a record of that name.
  public init(_ name: String, renamingID: String? = nil) {
    self.name = name
    self.renamingID = renamingID
  }
}

/// A text that is part of a record's fingerprint: change it if the meaning of stored values has changed, but nothing else.
public struct RecordModifier: Sendable {
  let text: String

  /// Creates a modifier of a text.
  public init(_ text: String) {
    self.text = text
  }
}

/// A test of records of one type.
protocol RecordTest: Sendable {
  var subject: any Record.Type { get }
}

private struct TypedRecordTest<Subject: Record>: RecordTest {
  let holds: @Sendable (Subject) -> Bool

  var subject: any Record.Type { Subject.self }
}

/// A field in a declared key or index, by its stored name; a part of a composite with the composite's
/// name and a dot before it.
public struct KeyField: Hashable, Sendable, ExpressibleByStringLiteral {
  package let name: String
  let isDescending: Bool
  let isCaseInsensitive: Bool
  let expansion: KeyPart.Expansion
  let collation: Collation?

  /// Creates an ascending field of a literal.
  public init(stringLiteral name: String) {
    self.init(name: name, isDescending: false, isCaseInsensitive: false)
  }

  init(
    name: String, isDescending: Bool, isCaseInsensitive: Bool,
    expansion: KeyPart.Expansion = .none, collation: Collation? = nil
  ) {
    self.name = name
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
    self.expansion = expansion
    self.collation = collation
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

  /// Sorts strings by a collation that the program gives: the order of a language. No part of a primary key has one.
  ///
  /// The index serves queries that are sorted by the same collation; conditions compare strings themselves. In a
  /// `Unique`, no two records may have strings with the same sort key.
  ///
  /// ```swift
  /// Index(.collated("name", by: .german))
  /// ```
  public static func collated(
    _ name: String, by collation: Collation, descending: Bool = false
  ) -> KeyField {
    KeyField(
      name: name, isDescending: descending, isCaseInsensitive: false, collation: collation)
  }

  /// Indexes each different element of an array, to find records whose array contains a value. At most one part of an
  /// index is of elements or words, and a primary key has none.
  ///
  /// A record has an entry for each different element; one whose array is empty or null is not in the index. In a
  /// `Unique`, no two records may have the same element.
  ///
  /// ```swift
  /// Index(.elements("labels"), "date")
  /// ```
  public static func elements(_ name: String) -> KeyField {
    KeyField(name: name, isDescending: false, isCaseInsensitive: false, expansion: .elements)
  }

  /// Indexes each different word of a string, to find records by words of their text. At most one part of an index is
  /// of elements or words; a primary key and a `Unique` have no words.
  ///
  /// A record has an entry for each different word; one without words is not in the index.
  public static func words(_ name: String) -> KeyField {
    KeyField(name: name, isDescending: false, isCaseInsensitive: false, expansion: .words)
  }
}

extension [KeyField] {
  /// The name of an index of these fields that was given none.
  package var text: String {
    map { field in
      switch field.expansion {
      case .none:
        field.name + (field.isCaseInsensitive ? " without case" : "")
          + (field.collation.map { " by \($0)" } ?? "")
          + (field.isDescending ? " descending" : "")
      case .elements, .words: "\(field.expansion)(\(field.name))"
      }
    }.joined(separator: ", ")
  }
}

extension RecordDescription {
  /// A property that is not stored, or not in this version.
  public struct Transient: Sendable {
    let property: String
    let type: any Any.Type
    /// The value, of exactly that type.
    let value: any Sendable
    /// True if its changes are told, and its values kept in memory.
    let isTracked: Bool

    /// - Parameter value: The value of the property in records that are read. Evaluated once, when the description is made.
    public init<Value: Sendable>(_ property: String, default value: Value) {
      self.property = property
      type = Value.self
      self.value = value
      isTracked = false
    }

    /// Describes a property that is not stored, but whose changes are told to observers, as those of fields are.
    ///
    /// ```swift
    /// Transient("progress", default: 0.0, tracked: true)
    /// ```
    ///
    /// The open store keeps in memory, for each record, the value that it was saved with last. So:
    /// - A record that is fetched has the value of the state that it is fetched from: an older snapshot has the older value.
    ///   The value is the default if the record was not saved since the store was opened, in a store opened for reading, and
    ///   in the history.
    /// - A commit makes it visible together with the stored fields; a transaction or savepoint that is rolled back drops it.
    ///   Deleting the record, and closing the store, forgets it.
    /// - Its name is among the changed fields, with the names of the composites around it: “trip.progress”.
    /// - A save of a record that differs only there tells observers in this process, and writes neither a row nor a commit. If
    ///   the record has a modification date, that changes with each save, so the row is written.
    /// - It is in no schema, index, condition or order; `StoreError.invalidQuery` and `.invalidDescription` refuse those as
    ///   they do for every property that is not stored. Records without a type, imports and undoing leave it as it is.
    ///
    /// A wrong description is refused with `StoreError.invalidDescription` when the store is opened: if the property is of
    /// a type that is not `Equatable`, if a field or another tracked property has its name, or if the record's coding is
    /// `.codable`.
    ///
    /// The idea is that of SwiftData's `@Attribute(.ephemeral)`, and of Core Data's transient attributes.
    ///
    /// - Parameters:
    ///   - property: The name of the property.
    ///   - value: The value of the property in records that were not saved with another. Evaluated once, when the
    ///     description is made.
    ///   - tracked: False if the property is one like any other that is not stored.
    /// - Complexity: A save of such a record looks up the stored row, a fetch looks up each value in a dictionary. Values that
    ///   differ from the default are in memory; a transaction that changes the value of one record copies the 256th part of
    ///   those of the type. Records without tracked properties cost nothing more.
    public init<Value: Sendable & Equatable>(
      _ property: String, default value: Value, tracked: Bool
    ) {
      self.property = property
      type = Value.self
      self.value = value
      isTracked = tracked
    }
  }

  /// A computed property that change sets name among the changed fields if one that it depends on has changed.
  ///
  /// ```swift
  /// var fullName: String { "\(first) \(last)" }
  ///
  /// static func recordDescription(for version: Int) -> RecordDescription {
  ///   Field("id", primaryKey: true)
  ///   Field("first")
  ///   Field("last")
  ///   Computed("fullName", dependsOn: "first", "last")
  /// }
  /// ```
  ///
  /// It is no part of the schema. Idea: `keyPathsForValuesAffectingValue(forKey:)` of Objective-C.
  public struct Computed: Sendable {
    let property: String
    let fields: [String]

    /// - Parameters:
    ///   - property: The name of the property, which is that of no field.
    ///   - fields: The stored names of fields, of composites for all of their parts, and of computed properties that are
    ///     stated before.
    public init(_ property: String, dependsOn fields: String...) {
      self.property = property
      self.fields = fields
    }
  }

  /// Annotations of a record: strings of the program's own by their names, with which the store does nothing.
  ///
  /// ```swift
  /// UserInfo(["owner": "billing"])
  /// ```
  ///
  /// They are kept in the schema, where `store.schema` and `cambium schema` show them. They are in no fingerprint, and may
  /// change without a new version of the model: a program that opens a store to write to it replaces them by its own. Of
  /// two statements with the same name in one description, the later one counts.
  public struct UserInfo: Sendable {
    let values: [String: String]

    /// - Parameter values: The annotations by their names, which are 1 to 255 bytes long.
    public init(_ values: [String: String]) {
      self.values = values
    }
  }

  /// A rule that whole records must meet to be stored.
  public struct Validation: Sendable {
    let text: String
    let test: any RecordTest

    /// - Parameters:
    ///   - text: The requirement, for errors: "a discount is not above the price".
    ///   - holds: Returns true if a record meets it.
    public init<Subject: Record>(
      _ text: String, holds: @escaping @Sendable (Subject) -> Bool
    ) {
      self.text = text
      test = TypedRecordTest(holds: holds)
    }

    /// The rule as a function; nil if it is of another type.
    func predicate<Subject: Record>(of type: Subject.Type) -> (@Sendable (Subject) -> Bool)? {
      (test as? TypedRecordTest<Subject>)?.holds
    }
  }

  /// The primary key of a record, of one field or several, in the order in which records are kept.
  public struct PrimaryKey: Sendable {
    let fields: [KeyField]

    /// Creates a primary key of fields, in its order.
    public init(_ fields: KeyField...) {
      self.init(fields: fields)
    }

    /// Creates a primary key of fields that are known only when the program runs.
    package init(fields: [KeyField]) {
      self.fields = fields
    }
  }

  /// An index: helps to find and sort records by its fields, and costs space and time at each write.
  ///
  /// ```swift
  /// Index("city", .descending("balance"))
  /// Index(.elements("labels"), "date")    // of an array: to find the records that contain a value
  /// ```
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

    /// Creates an index of fields that are known only when the program runs.
    package init(
      fields: [KeyField], named name: String? = nil, where condition: FieldCondition? = nil
    ) {
      self.init(fields: fields, name: name, isUnique: false, condition: condition)
    }

    /// The name, or one that is made of the fields' names.
    var storedName: String { name ?? fields.text }

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

    /// Creates a constraint of fields that are known only when the program runs.
    public init(
      fields: [KeyField], named name: String? = nil, where condition: FieldCondition? = nil
    ) {
      index = Index(fields: fields, name: name, isUnique: true, condition: condition)
    }
  }
}

// Descriptions name their parts shortly wherever they are written.

/// The primary key of a record.
public typealias PrimaryKey = RecordDescription.PrimaryKey
/// An index of a record.
public typealias Index = RecordDescription.Index
/// A constraint that no two records have the same values.
public typealias Unique = RecordDescription.Unique
/// A property that is not stored.
public typealias Transient = RecordDescription.Transient
/// A computed property of a record.
public typealias Computed = RecordDescription.Computed
/// Annotations of a record.
public typealias UserInfo = RecordDescription.UserInfo
/// A rule that whole records must meet to be stored.
public typealias Validation = RecordDescription.Validation

extension Record {
  // With these, also in a program with types of these names.

  /// A stored property of the record.
  public typealias Field = Cambium.Field
  /// The primary key of the record.
  public typealias PrimaryKey = RecordDescription.PrimaryKey
  /// An index of the record.
  public typealias Index = RecordDescription.Index
  /// A constraint that no two records have the same values.
  public typealias Unique = RecordDescription.Unique
  /// A property that is not stored.
  public typealias Transient = RecordDescription.Transient
  /// A computed property of the record.
  public typealias Computed = RecordDescription.Computed
  /// Annotations of the record.
  public typealias UserInfo = RecordDescription.UserInfo
  /// A rule that whole records must meet to be stored.
  public typealias Validation = RecordDescription.Validation
}
