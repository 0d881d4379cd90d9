/// A condition on a record's fields by their stored names, as data. Partial indexes and queries have one, and typed
/// conditions are translated to one.
///
/// Null equals null and nothing else; it is neither below nor above anything, so a comparison of order with it is false.
/// It has no text, contains nothing, and is in a list only if the list has it.
/// Strings compare by their UTF-8 bytes. NaN differs from everything, itself included.
public indirect enum FieldCondition: Hashable, Sendable {
  case comparison(field: String, Comparison, FieldValue)
  /// The field has one of the values; false if there are none.
  case isIn(field: String, [FieldValue])
  /// The text of a string or URL matches.
  case match(field: String, TextMatch)
  /// An array has an element.
  case contains(field: String, FieldValue)
  /// Two computed values compare so.
  case computed(FieldExpression, Comparison, FieldExpression)
  /// All of the conditions are met; true if there are none.
  case and([FieldCondition])
  /// One of the conditions is met; false if there are none.
  case or([FieldCondition])
  case not(FieldCondition)

  public enum Comparison: Hashable, Sendable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  }
}

extension FieldCondition {
  /// Returns the condition that a field lies between two values, both included.
  public static func between(
    field: String, _ lower: FieldValue, _ upper: FieldValue
  ) -> FieldCondition {
    .and([
      .comparison(field: field, .greaterOrEqual, lower),
      .comparison(field: field, .lessOrEqual, upper),
    ])
  }

  /// The comparison that holds where two values were exchanged.
  static func exchanged(_ comparison: Comparison) -> Comparison {
    switch comparison {
    case .equal, .notEqual: comparison
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}
