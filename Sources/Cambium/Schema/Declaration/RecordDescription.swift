/// The description of a record type in one version: plain data, checked when a store is opened.
public struct RecordDescription: Sendable {
  var elements: [Element]

  /// The description of a record that does not exist.
  public init() {
    elements = []
  }

  init(_ elements: [Element]) {
    self.elements = elements
  }

  /// One statement of a description.
  public struct Element: Sendable {
    let kind: Kind

    enum Kind: Sendable {
      case field(Field)
      case primaryKey(PrimaryKey)
      case index(Index)
      case name(RecordName)
      case transient(Transient)
      case validation(Validation)
      case modifier(RecordModifier)
    }
  }
}

extension RecordDescription {
  /// Collects the statements of a description: with `if`, `switch`, loops, availability, and other
  /// descriptions in their place.
  @resultBuilder public enum ResultBuilder {
    public static func buildExpression(_ field: Field) -> [Element] { one(.field(field)) }
    public static func buildExpression(_ key: PrimaryKey) -> [Element] { one(.primaryKey(key)) }
    public static func buildExpression(_ index: Index) -> [Element] { one(.index(index)) }
    public static func buildExpression(_ unique: Unique) -> [Element] { one(.index(unique.index)) }
    public static func buildExpression(_ name: RecordName) -> [Element] { one(.name(name)) }
    public static func buildExpression(_ transient: Transient) -> [Element] {
      one(.transient(transient))
    }
    public static func buildExpression(_ validation: Validation) -> [Element] {
      one(.validation(validation))
    }
    public static func buildExpression(_ modifier: RecordModifier) -> [Element] {
      one(.modifier(modifier))
    }
    public static func buildExpression(_ description: RecordDescription) -> [Element] {
      description.elements
    }

    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap { $0 } }
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    public static func buildEither(first part: [Element]) -> [Element] { part }
    public static func buildEither(second part: [Element]) -> [Element] { part }
    public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap { $0 } }
    public static func buildLimitedAvailability(_ part: [Element]) -> [Element] { part }
    public static func buildFinalResult(_ elements: [Element]) -> RecordDescription {
      RecordDescription(elements)
    }

    private static func one(_ kind: Element.Kind) -> [Element] { [Element(kind: kind)] }
  }
}
