@testable import Cambium

extension RecordFields {
  /// The values by name.
  var dictionary: [String: FieldValue] {
    Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) })
  }
}
