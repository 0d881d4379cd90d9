/// The element that is kept where a list becomes a single value: a reference to many a reference to one.
///
/// ```swift
/// Field(
///   name: "tag", type: .reference(to: "Tag"), optional: true,
///   migrationInfo: .init(choosing: .greatest(by: "weight"), renamingID: "tags"))
/// ```
///
/// A list without elements becomes the field's default, or nil. The other elements are dropped; the records that they lead to
/// stay.
public enum ElementChoice: Hashable, Sendable {
  /// The first element.
  case first
  /// The last element.
  case last
  /// The one element: a record with several is refused, and the plan counts them. This is so for lists of which nothing is
  /// stated.
  case only
  /// The element whose record has the least value of a field in the version before: the first in ascending order. An element
  /// whose record has no value, or does not exist, is kept only if all are such; of equal ones, the first is kept.
  case least(by: String)
  /// The element whose record has the greatest value of a field in the version before: the first in descending order.
  /// Otherwise it is like `least(by:)`.
  case greatest(by: String)
  /// All elements, in the order of the list: the reference leads to a new record, which has them in this list of references. Its
  /// key is a UUID, made by `UUID(of:in:)` of the old record's key, and its other fields have their defaults.
  ///
  /// It is for a reference that leads to other records than the elements do:
  ///
  /// ```swift
  /// // version 1: a customer has orders
  /// Field(name: "orders", type: .references(to: "Order"))
  /// // version 2: a customer has an account, and the account has orders
  /// Field(
  ///   name: "orders", type: .reference(to: "Account"), optional: true,
  ///   migrationInfo: .init(choosing: .all(in: "orders")))
  /// ```
  ///
  /// A list without elements becomes nil, or a reference to a record without any if the field is not optional.
  case all(in: String)
}

extension ElementChoice: CustomStringConvertible {
  /// The choice as descriptions state it: `.least(by: "price")`.
  public var description: String {
    switch self {
    case .first: ".first"
    case .last: ".last"
    case .only: ".only"
    case .least(let field): ".least(by: \(field.quoted))"
    case .greatest(let field): ".greatest(by: \(field.quoted))"
    case .all(let list): ".all(in: \(list.quoted))"
    }
  }
}

extension ElementChoice {
  var isOfAll: Bool { if case .all = self { true } else { false } }

  /// The field by which the records of elements are compared; nil if they are not.
  var order: (field: String, isDescending: Bool)? {
    switch self {
    case .least(let field): (field, false)
    case .greatest(let field): (field, true)
    case .first, .last, .only, .all: nil
    }
  }
}
