/// The error of reading a field that the record does not have, or as a Swift type that its value is not.
public struct FieldMismatch: Error, Hashable, Sendable {
  /// The stored name of the record; nil if a value was read by itself.
  public let record: String?
  /// The field as the program named it; nil if a value was read by itself.
  public let field: String?
  public let reason: String

  init(record: String? = nil, field: String? = nil, reason: String) {
    self.record = record
    self.field = field
    self.reason = reason
  }

  /// Returns the mismatch with the field of the value.
  func naming(_ field: String, of record: String) -> FieldMismatch {
    FieldMismatch(record: record, field: field, reason: reason)
  }
}

extension FieldMismatch: CustomStringConvertible {
  public var description: String {
    guard let field else { return reason }
    return "\(record.map { "\($0)." } ?? "")\(field): \(reason)"
  }
}

extension FieldMismatch {
  static func noField(_ field: String, of record: String, but known: [String]) -> FieldMismatch {
    FieldMismatch(
      record: record, field: field,
      reason: "there is no such field, but \(known.sortedRarely().joined(separator: ", "))")
  }
}
