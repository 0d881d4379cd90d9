/// The treatment of a value that does not convert to the new type of its field.
public enum ConversionPolicy: Hashable, Sendable {
  /// The migration fails, and names the record.
  case refuse
  /// The record gets this value instead, of the field's type.
  case replace(FieldValue)
  /// The record gets the field's default, or no value, and the old value is kept beside the records: see
  /// `PersistentStore.valuesSetAside()`.
  case setAside
}

/// The source of a field's value in a step, if it does not follow from the two descriptions.
enum FieldSource: Sendable {
  /// Its own old value, through a function.
  case value(@Sendable (FieldValue) throws -> FieldValue)
  /// The whole old record.
  case record(@Sendable (OldRecord) throws -> FieldValue)
  /// Another field of the old record, by its full name.
  case field(String)
  /// Its own old value, in another type.
  case conversion(ConversionPolicy)
}

extension FieldSource {
  /// True if a function of the program makes the value.
  var isClosure: Bool {
    switch self {
    case .value, .record: true
    case .field, .conversion: false
    }
  }

  var setsAside: Bool { if case .conversion(.setAside) = self { true } else { false } }
}

/// The statements of a step; everything else is inferred.
struct GivenChanges: Sendable {
  /// By the names that records and fields have afterwards.
  var fields: [String: [String: FieldSource]] = [:]
  /// The names that records had before which are made anew one by one, into whatever else.
  var transformed: Set<String> = []

  static var none: GivenChanges { GivenChanges() }
}
