/// A question about the records of one type, by the stored names of its fields: what typed queries come down to.
///
/// Records come by `order`, and by primary key where that says nothing: the order is always complete, so
/// pages neither overlap nor leave anything out.
struct FieldQuery: Hashable, Sendable {
  /// Nil for all records.
  var condition: FieldCondition?
  var order: [FieldOrder] = []
  /// The highest number of records.
  var limit: Int?
  /// The number of records that are left out at the beginning; after `after`, if there is one.
  var offset = 0
  /// The record behind which the first comes.
  var after: Place?

  /// - Parameters:
  ///   - limit: What is below 0 is 0.
  ///   - offset: What is below 0 is 0.
  init(
    condition: FieldCondition? = nil, order: [FieldOrder] = [], limit: Int? = nil, offset: Int = 0,
    after: Place? = nil
  ) {
    self.condition = condition
    self.order = order
    self.limit = limit.map { max(0, $0) }
    self.offset = max(0, offset)
    self.after = after
  }

  /// The number of records that must be found: those that are left out, and those that are returned. Nil for all.
  var foundCount: Int? {
    guard let limit else { return nil }
    let (count, isTooMuch) = limit.addingReportingOverflow(offset)
    return isTooMuch ? nil : count
  }

  /// The query of which only the number of records is asked: as many, without what tells only which they are.
  var uncounted: FieldQuery {
    // Which come behind another, the order says.
    FieldQuery(
      condition: condition, order: after.map { _ in order } ?? [], after: after)
  }

  /// A record's place in the order.
  enum Place: Hashable, Sendable {
    /// The place of the record with this primary key, which must exist unless records are sorted by primary key.
    case key([FieldValue])
    /// The place of this record, whether or not it exists.
    case record(key: [UInt8], row: [UInt8])
  }
}

/// A field by which records are sorted, by its stored name: null first, strings by their UTF-8 bytes, NaN last.
public struct FieldOrder: Hashable, Sendable {
  public let field: String
  /// True if the whole order is reversed.
  public let isDescending: Bool
  /// True if strings are sorted by Unicode's simple lowercase mapping of them.
  public let isCaseInsensitive: Bool

  public init(field: String, isDescending: Bool = false, isCaseInsensitive: Bool = false) {
    self.field = field
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
  }
}
