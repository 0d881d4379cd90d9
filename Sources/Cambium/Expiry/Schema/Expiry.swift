extension RecordDescription {
  /// The time after which the store deletes records of a type: their time to live.
  ///
  /// ```swift
  /// struct Session: Record {
  ///   var id = UUID()
  ///   var validUntil: Date
  ///
  ///   static func recordDescription(for version: Int) -> RecordDescription {
  ///     Field("id", primaryKey: true)
  ///     Field("validUntil", indexed: true)
  ///     Expiry("validUntil")
  ///   }
  /// }
  /// ```
  ///
  /// A record expires when its date, and the delay if there is one, is not later than the time. Without a date it never does. A
  /// program may see it until it is collected, soon afterwards; a query that must not see it states so:
  /// `Session.where { $0.validUntil > .now }`.
  ///
  /// A store that is open for writing collects in the background, every ``StoreOptions/expiryInterval``, and on request, by
  /// ``PersistentStore/collectExpired()``. Each record is deleted as by `delete`: hooks run, delete rules apply, observers and the history see it, and
  /// the record stays if others deny its deletion.
  ///
  /// An index begins with the field, so that nothing but expired records is read: `indexed: true`, or `Index("validUntil")`. The field is no part of
  /// a composite or of a kind. A hierarchy's expiry is that of its parent. An expiry is in no fingerprint, so it may change without a
  /// new version of the model: that of the program that opens a store for writing is the store's from then on.
  ///
  /// The idea is that of MongoDB's TTL indexes and of DynamoDB's Time to Live.
  public struct Expiry: Sendable {
    let field: String
    let delay: Duration

    /// - Parameters:
    ///   - field: The stored name of a field of type `.date`, such as one that is `derived: .modificationDate`.
    ///   - delay: The time from the date on after which a record expires, of whole milliseconds, from zero on:
    ///     `.seconds(30 * 86_400)` for thirty days.
    public init(_ field: String, after delay: Duration = .zero) {
      self.field = field
      self.delay = delay
    }
  }
}

/// The time after which the store deletes records of a type.
public typealias Expiry = RecordDescription.Expiry

extension Record {
  /// The time after which the store deletes records of the type.
  public typealias Expiry = RecordDescription.Expiry
}

/// The part of a record's schema that says when its records expire.
package struct ExpirySchema: Hashable, Sendable {
  /// The number of the field.
  package internal(set) var field: UInt32
  /// The time from the date of the field on after which a record expires, in milliseconds.
  package internal(set) var milliseconds: Int64

  /// The time from the date of the field on after which a record expires, in seconds.
  package var seconds: Double { Double(milliseconds) / 1_000 }

  /// The longest delay: about ten thousand years.
  static let millisecondsMax: Int64 = 315_000_000_000_000
}

extension Expiry {
  /// The expiry of a record whose fields have numbers.
  ///
  /// - Throws: `DescriptionFault` if there is no such field, or the delay is none.
  func schema(_ numbers: [String: UInt32]) throws(DescriptionFault) -> ExpirySchema {
    guard let number = numbers[field] else {
      throw DescriptionFault("its records expire by \(field), which is not there")
    }
    let (seconds, attoseconds) = delay.components
    let (milliseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
    guard delay >= .zero, !isTooLong, milliseconds <= ExpirySchema.millisecondsMax,
      attoseconds % 1_000_000_000_000_000 == 0
    else {
      throw DescriptionFault(
        "its records expire \(delay) after \(field); a delay is whole milliseconds from zero to ten thousand years"
      )
    }
    return ExpirySchema(
      field: number, milliseconds: milliseconds + attoseconds / 1_000_000_000_000_000)
  }
}

extension RecordSchema {
  /// Throws if records cannot expire as the schema says.
  func validateExpiry() throws(SchemaFault) {
    guard let expiry else { return }
    guard let field = field(expiry.field) else {
      throw fault("its records expire by a field that is not there")
    }
    guard field.type == .scalar(.date), field.composite == nil else {
      throw fault(
        "records expire by a date of their own, not by a part of another field or by \(field.type)",
        field: field.name)
    }
    guard (0...ExpirySchema.millisecondsMax).contains(expiry.milliseconds) else {
      throw fault("a delay is zero to ten thousand years", field: field.name)
    }
    let isFound = indexes.contains { index in
      index.condition == nil && index.parts.first?.field == field.number
        && index.parts.allSatisfy { $0.expansion == .none }
    }
    guard isFound else {
      throw fault(
        "no index finds the records that expire by it; add one: Index(\(field.name.quoted))",
        field: field.name)
    }
  }

  /// The declaration; nil if records do not expire.
  var declaredExpiry: Expiry? {
    guard let expiry, let name = field(expiry.field)?.name else { return nil }
    return Expiry(name, after: .milliseconds(expiry.milliseconds))
  }
}
