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

  public init(_ text: String) {
    self.text = text
  }
}

/// A property that is not stored, or not in this version.
public struct Transient: Sendable {
  let property: String
  let type: any Any.Type
  /// The value, of exactly that type.
  let value: any Sendable

  /// - Parameter value: The value of the property in records that are read. Evaluated once, when the description is made.
  public init<Value: Sendable>(_ property: String, default value: Value) {
    self.property = property
    type = Value.self
    self.value = value
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

/// A test of records of one type.
protocol RecordTest: Sendable {
  var subject: any Record.Type { get }
}

private struct TypedRecordTest<Subject: Record>: RecordTest {
  let holds: @Sendable (Subject) -> Bool

  var subject: any Record.Type { Subject.self }
}
