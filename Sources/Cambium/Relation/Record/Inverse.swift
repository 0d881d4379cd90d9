/// The other end of a reference: all records that lead to one. It is computed, so it stores nothing.
///
/// ```swift
/// struct Author: Record, Identifiable {
///   var id = UUID()
///   var name: String
///   static let books = Inverse("books", of: \Book.author, deleteRule: .cascade)
///
///   static func recordDescription(for version: Int) -> RecordDescription {
///     Field("id", primaryKey: true)
///     Field("name")
///     books
///   }
/// }
/// let books = try store.fetch(Author.books(of: author))
/// ```
///
/// A record that none is declared for can be deleted too: references to it are cut where they can be, and otherwise it is
/// not deleted. Idea: the backlinks of Realm, with the rules of Core Data.
public struct Inverse<Owner: Record & Identifiable, Related: Record>: Hashable, Sendable
where Owner.ID: RecordKey {
  /// The name, which is one of a field in errors, conditions and renamings.
  public let name: String
  let place: Place
  /// True if the reference is a list.
  let isList: Bool
  /// Nil if none is stated.
  let deleteRule: DeleteRule?
  let bounds: RelationBounds?
  let renamingID: String?

  enum Place: Hashable, Sendable {
    case property(PropertyReference)
    /// The field's stored name.
    case field(String)
  }

  /// Creates the other end of a reference that a property of the related type is.
  ///
  /// - Parameters:
  ///   - name: The name, without a dot; no field of the owner has it.
  ///   - property: The reference: optional or not, or a list.
  ///   - deleteRule: What happens to the related records when the one that they lead to is deleted. Without it, optional
  ///     references and lists are cut, and others deny the deletion. With `.noAction`, the reference is not checked.
  ///   - count: How many records lead to one, `0...12` or `1...`. It is checked when a transaction commits.
  ///   - renamingID: The name that the version before has for it.
  public init<Property: ReferenceProperty>(
    _ name: String, of property: KeyPath<Related, Property>, deleteRule: DeleteRule? = nil,
    count: some RangeExpression<Int> = 0..., renamingID: String? = nil
  ) where Property.Target == Owner {
    self.init(
      name, .property(PropertyReference(property)), isList: Property.isList, deleteRule,
      RelationBounds(count), renamingID)
  }

  /// Creates the other end of the only reference by which the related type leads to the owner: an optional, a list or neither.
  ///
  /// ```swift
  /// static let books = Inverse<Author, Book>("books")
  /// ```
  ///
  /// Opening a store throws `StoreError.invalidDescription` if no property of the related type is such a reference, or several are.
  ///
  /// - Parameters:
  ///   - name: The name, without a dot; no field of the owner has it.
  ///   - deleteRule: What happens to the related records when the one that they lead to is deleted. Without it, optional
  ///     references and lists are cut, and others deny the deletion.
  ///   - count: How many records lead to one, `0...12` or `1...`.
  ///   - renamingID: The name that the version before has for it.
  public init(
    _ name: String, deleteRule: DeleteRule? = nil, count: some RangeExpression<Int> = 0...,
    renamingID: String? = nil
  ) {
    let (place, isList) = Self.onlyReference
    self.init(name, place, isList: isList, deleteRule, RelationBounds(count), renamingID)
  }

  /// The only reference of the related type to the owner; a field that is not there if it is not the only one.
  private static var onlyReference: (Place, isList: Bool) {
    let found = PropertyPaths.of(Related.self).references(to: Owner.self)
    guard let (property, type) = found.first, found.count == 1 else {
      return (.field("that alone leads to \(Owner.self): name one with `of:`"), false)
    }
    return (.property(property), type.isList)
  }

  /// Creates the other end of a reference with a stored name: of one whose property is the bare primary key.
  ///
  /// ```swift
  /// static let books = Inverse<Author, Book>("books", of: "author")
  /// ```
  ///
  /// - Parameters:
  ///   - reference: The stored name of the reference.
  ///   - isList: True if it is a list.
  ///   - deleteRule: What happens to the related records when the one that they lead to is deleted. Without it, optional
  ///     references and lists are cut, and others deny the deletion.
  ///   - count: How many records lead to one, `0...12` or `1...`.
  ///   - renamingID: The name that the version before has for it.
  public init(
    _ name: String, of reference: String, isList: Bool = false,
    deleteRule: DeleteRule? = nil, count: some RangeExpression<Int> = 0...,
    renamingID: String? = nil
  ) {
    self.init(
      name, .field(reference), isList: isList, deleteRule, RelationBounds(count),
      renamingID)
  }

  private init(
    _ name: String, _ place: Place, isList: Bool, _ deleteRule: DeleteRule?,
    _ bounds: RelationBounds?, _ renamingID: String?
  ) {
    self.name = name
    self.place = place
    self.isList = isList
    self.deleteRule = deleteRule
    self.bounds = bounds
    self.renamingID = renamingID
  }
}

/// The other end of a reference, in the description of a record that no Swift type stands for.
///
/// ```swift
/// ModelVersion(1, describing: ["Author": author(), "Book": book()])
///
/// @RecordDescription.ResultBuilder func author() -> RecordDescription {
///   Field("id", primaryKey: true)
///   UntypedInverse("books", of: "author", in: "Book", deleteRule: .cascade)
/// }
/// ```
public struct UntypedInverse: Sendable {
  fileprivate let declaration: InverseDeclaration

  /// - Parameters:
  ///   - name: The name, without a dot; no field of the record has it.
  ///   - reference: The stored name of the reference.
  ///   - related: The stored name of the record that has the reference.
  ///   - deleteRule: What happens to the related records when the one that they lead to is deleted. Without it, optional
  ///     references and lists are cut, and others deny the deletion.
  ///   - count: How many records lead to one, `0...12` or `1...`.
  ///   - renamingID: The name that the version before has for it.
  public init(
    _ name: String, of reference: String, in related: String, deleteRule: DeleteRule? = nil,
    count: some RangeExpression<Int> = 0..., renamingID: String? = nil
  ) {
    declaration = InverseDeclaration(
      name: name, related: .name(related), reference: .field(reference), deleteRule: deleteRule,
      bounds: RelationBounds(count), renamingID: renamingID)
  }
}

extension RecordDescription.ResultBuilder {
  public static func buildExpression<Owner, Related>(
    _ inverse: Inverse<Owner, Related>
  ) -> RecordDescription {
    one(.inverse(inverse.declaration))
  }

  public static func buildExpression(_ inverse: UntypedInverse) -> RecordDescription {
    one(.inverse(inverse.declaration))
  }
}

extension Inverse {
  fileprivate var declaration: InverseDeclaration {
    let reference: InverseDeclaration.Place =
      switch place {
      case .property(let property):
        .property(PropertyPaths.of(Related.self).path(of: property) ?? "a computed property")
      case .field(let name): .field(name)
      }
    return InverseDeclaration(
      name: name, related: .type(Related.self), reference: reference, deleteRule: deleteRule,
      bounds: bounds, renamingID: renamingID)
  }
}

extension ReferenceProperty {
  /// True of lists.
  fileprivate static var isList: Bool {
    (Reflection.wrapped(Self.self) ?? Self.self) is any FieldList.Type
  }
}
