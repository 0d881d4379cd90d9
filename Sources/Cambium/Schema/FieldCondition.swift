/// A condition on a record's fields by their stored names, as data: of partial indexes, of validation, and what
/// typed conditions come down to.
///
/// Null equals null and nothing else; it is neither below nor above anything, so a comparison of order with
/// it is false. Strings compare by their UTF-8 bytes.
public indirect enum FieldCondition: Hashable, Sendable {
  case comparison(field: String, Comparison, FieldValue)
  case and([FieldCondition])
  case or([FieldCondition])
  case not(FieldCondition)

  public enum Comparison: Hashable, Sendable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  }
}
