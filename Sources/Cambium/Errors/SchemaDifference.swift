/// A difference between two descriptions of records, an older and a newer one: two versions of a model, or the store's
/// description of a version and the program's.
///
/// It is data to `switch` over, to keep or to send; its `description` is a clause such as “Item.price was int32 and is
/// double”.
///
/// ```swift
/// for difference in try model.changes(from: 1, to: 2) {
///   switch difference.change {
///   case .added, .becameOptional, .indexAdded: continue
///   default: print("look at this again: \(difference)")
///   }
/// }
/// ```
public struct SchemaDifference: Hashable, Codable, Sendable {
  /// The stored name of the record, the newer one if it was renamed; nil for a difference of the whole version.
  public let record: String?
  /// The stored name of the field, the newer one if it was renamed; nil for a difference of the record itself.
  public let field: String?
  /// The difference of that field, record or version.
  public let change: Change

  /// The kind of a difference, with the older and the newer state.
  @nonexhaustive public enum Change: Hashable, Codable, Sendable {
    /// Only the newer description has it. The type of a field as it is declared; nil for a record.
    case added(as: String?)
    /// Only the older description has it.
    case removed
    /// An attribute differs; nil if it has no value.
    case changed(Attribute, from: String?, to: String?)
    case becameOptional
    case becameRequired
    /// Only the newer description has an index with this shape: “unique index (name, age descending)”.
    case indexAdded(String)
    /// Only the older description has an index with this shape.
    case indexRemoved(String)
    /// The records of a record or kind of the older description are of this record, or of this kind of it, in the newer one:
    /// they enter a hierarchy, leave it, or go from one kind to another. With its whole name, as “Vehicle.Car”.
    case moved(from: String)
    /// Only the newer description has this rule or validation.
    case ruleAdded(String)
    /// Only the older description has this rule or validation.
    case ruleRemoved(String)
  }

  /// An attribute of a version, a record or a field. The raw value is its name in texts.
  @nonexhaustive public enum Attribute: String, Hashable, Codable, Sendable {
    case name
    case type
    case primaryKey = "primary key"
    case modifier
    case defaultValue = "default"
    case migrationDefault = "default for migrations"
    case renamingID
    /// The element that is kept where a list becomes a single value.
    case choice = "kept element"
    /// The options of values that are stored outside of rows.
    case storage
    case indexName = "name of an index"
    /// The record that a reference leads to.
    case destination = "destination"
    /// A reference is checked in one of the two schemas only.
    case checking = "checking"
    /// The delete rule of a reference or of an inverse.
    case deleteRule = "delete rule"
    /// The number of records allowed at one end of a relation.
    case bounds
    /// The other end of references to the record.
    case inverse
    /// The kinds of a record, and whether it is abstract.
    case kinds
    /// The source from which the store computes the values of a field.
    case derivation
    /// When the records expire.
    case expiry
    /// The annotations of a record or a field.
    case userInfo = "user info"
    case label
    case fingerprint
    /// The steps of the program that lead to a version.
    case step
  }

  package init(_ change: Change, of record: String?, field: String? = nil) {
    self.record = record
    self.field = field
    self.change = change
  }
}

extension SchemaDifference: CustomStringConvertible {
  /// The difference as a clause.
  public var description: String {
    let parts = [record, field].compactMap(\.self)
    let subject = parts.isEmpty ? "the version" : parts.joined(separator: ".")
    switch change {
    case .added(let type): return "\(subject) is new" + (type.map { ": \($0)" } ?? "")
    case .removed: return "\(subject) is removed"
    case .changed(.name, let old, _): return "\(subject) was called \(old ?? "otherwise")"
    case .changed(.type, let old, let new):
      return "\(subject) was \(old ?? "none") and is \(new ?? "none")"
    case .changed(.destination, let old?, let new?):
      return "\(subject) leads to \(new) instead of \(old)"
    case .changed(.destination, nil, let new?): return "\(subject) leads to \(new)"
    case .changed(.destination, let old?, nil): return "\(subject) no longer leads to \(old)"
    case .changed(.checking, _, let new): return "\(subject) is \(new ?? "unchecked")"
    case .changed(let attribute, let old, let new):
      let (old, new) = (attribute.text(of: old), attribute.text(of: new))
      return "\(subject): the \(attribute.rawValue) was \(old) and is \(new)"
    case .becameOptional: return "\(subject) is optional"
    case .becameRequired: return "\(subject) is no longer optional"
    case .indexAdded(let index): return "\(subject): the \(index) is new"
    case .indexRemoved(let index): return "\(subject): the \(index) is removed"
    case .moved(let from): return "\(subject) has the records of \(from)"
    case .ruleAdded(let text): return "\(subject) must meet: \(text)"
    case .ruleRemoved(let text): return "\(subject) no longer has to meet: \(text)"
    }
  }
}

extension SchemaDifference.Attribute {
  /// Returns a value as a text; one that is a text itself, in quotes.
  fileprivate func text(of value: String?) -> String {
    guard let value else { return "none" }
    switch self {
    case .modifier, .renamingID, .label, .indexName: return "“\(value)”"
    default: return value
    }
  }
}

extension SchemaDifference.Change {
  /// Returns the change of an attribute; nil if its values are the same bytes.
  static func changed(
    _ attribute: SchemaDifference.Attribute, _ old: String?, _ new: String?
  ) -> SchemaDifference.Change? {
    if old.map({ Array($0.utf8) }) == new.map({ Array($0.utf8) }) { return nil }
    return .changed(attribute, from: old, to: new)
  }
}
