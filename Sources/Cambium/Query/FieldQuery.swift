/// A question about the records of one type, by the stored names of its fields: what typed queries come down to.
///
/// Records come by `order`, and by primary key where that says nothing: the order is always complete, so
/// pages neither overlap nor leave anything out.
struct FieldQuery: Hashable, Sendable {
  /// Nil for all records.
  var condition: FieldCondition?
  var order: [FieldOrder] = []
  /// How many records there are at most.
  var limit: Int?
  /// How many of the first are left out; behind `after`, if there is one.
  var offset = 0
  /// The record behind which the first comes.
  var after: Place?

  /// A record's place in the order.
  enum Place: Hashable, Sendable {
    /// Of the record with this primary key, which has to be there unless records come by primary key.
    case key([FieldValue])
    /// Of this record, whether or not it is there.
    case record(key: [UInt8], row: [UInt8])
  }
}

/// A field that records are sorted by, by its stored name: null first, strings by their UTF-8 bytes, what is not
/// a number last.
public struct FieldOrder: Hashable, Sendable {
  public let field: String
  /// All the other way round.
  public let isDescending: Bool
  /// Strings by what Unicode's simple lowercase mapping makes of them.
  public let isCaseInsensitive: Bool

  public init(field: String, isDescending: Bool = false, isCaseInsensitive: Bool = false) {
    self.field = field
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
  }
}
