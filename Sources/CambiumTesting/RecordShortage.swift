/// The reason why random records cannot be as many as are asked for.
public struct RecordShortage: Error, Hashable, Sendable, CustomStringConvertible {
  /// The stored name of the record.
  public let record: String
  /// The number of records that was asked for.
  public let wanted: Int
  /// The number of records for which there was a place.
  public let made: Int
  public let reason: Reason

  package init(record: String, wanted: Int, made: Int, reason: Reason) {
    self.record = record
    self.wanted = wanted
    self.made = made
    self.reason = reason
  }

  /// The obstacle to every further record.
  public enum Reason: Hashable, Sendable {
    /// Other records have the primary keys that were drawn.
    case key(fields: [String])
    /// Other records have the values that were drawn for a unique constraint.
    case uniqueValue(constraint: String)
    /// A derived field cannot be computed of the values that were drawn, such as a sum that overflows.
    case derivedValue(field: String, reason: String)
    /// A reference must lead to a record, and there is none, or none to which another may lead.
    case destination(reference: String, destination: String)
    /// A reference must lead to a record that leads back, so neither can be first.
    case ring(reference: String, destination: String)
  }

  public var description: String {
    "Only \(made) of \(wanted) records \(record) can be made: \(reason.text)"
  }
}

extension RecordShortage.Reason {
  fileprivate var text: String {
    switch self {
    case .key(let fields):
      "other records have all values of \(fields.joined(separator: ", ")) that were drawn. Ask for fewer records, or draw"
        + " from more values in `values`."
    case .uniqueValue(let constraint):
      "other records have all values of the unique \(constraint) that were drawn. Ask for fewer records, or draw from more"
        + " values in `values`."
    case .derivedValue(let field, let reason):
      "\(field) cannot be computed of the values that were drawn: \(reason). Draw others in `values`."
    case .destination(let reference, let destination):
      "\(reference) must lead to more records \(destination) than there are, or to which another may lead. Ask for fewer"
        + " records."
    case .ring(let reference, let destination):
      "\(reference) must lead to a \(destination), and that leads back: neither can be first. Write such records in one"
        + " transaction of your own."
    }
  }
}
