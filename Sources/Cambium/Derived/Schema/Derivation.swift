#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How the store computes the values of a field: from related records, from another field, or from the time.
///
/// ```swift
/// static func recordDescription(for version: Int) -> RecordDescription {
///   Field("id", primaryKey: true)
///   Field("name")
///   Field("sortName", indexed: true, derived: .folded("name"))
///   Field("bookCount", indexed: true, derived: .count(of: "books"))
///   Field("earnings", derived: .sum(of: "books", "price"))
///   Field("stockValue", derived: .sum(of: "books", value: "price * stock"))
///   books  // static let books = Inverse("books", of: \Book.author)
/// }
/// ```
///
/// A derived field is stored as any other, so it can be indexed, queried, sorted by and observed. Whatever a program saves in
/// it, the store replaces by the computed value; the struct that was saved keeps its own until it is fetched again.
///
/// Counts, sums and extremes change in the transaction that changes the related records, whatever changes them: a save, a
/// delete rule, an import. The owner's hooks and validations do not run then. Idea: `NSDerivedAttributeDescription`.
///
/// A kind can have derived fields, of its own fields and inverses and of those of its parents; records of other kinds have
/// none of them. So can a composite, of its own parts and of the record's inverses.
public struct Derivation: Hashable, Sendable {
  let kind: DerivationSchema.Kind
  /// The name of an inverse, or of a list of the record's own.
  let relation: String?
  /// The stored name of the field whose values are used: of the related record, or of the record itself.
  let field: String?
  /// The text of the expression whose values are used, of fields of the related record, or of the record itself.
  let expression: String?
  /// The sequence that gives the values; nil if they are computed.
  let sequence: SequenceSchema?

  fileprivate init(
    _ kind: DerivationSchema.Kind, of relation: String? = nil, _ field: String? = nil,
    value expression: String? = nil, sequence: SequenceSchema? = nil
  ) {
    self.kind = kind
    self.relation = relation
    self.field = field
    self.expression = expression
    self.sequence = sequence
  }

  init(_ generation: Generation) {
    self.init(.sequence, sequence: generation.sequence)
  }

  /// Counts the records that lead to this one, or the elements of a list. The field's type is `.integer`.
  ///
  /// - Parameter relation: The name of an inverse of the record; or the stored name of a field of the record that is a list,
  ///   of references or of other values.
  /// - Complexity: A lookup and a change of the owner's row for each record that begins or ceases to lead to it.
  public static func count(of relation: String) -> Derivation { Derivation(.count, of: relation) }

  /// Sums a field of the records that lead to this one; those without a value do not count. Of integers the field's type
  /// is `.integer`, of floats and doubles `.double`, of decimals `.decimal`.
  ///
  /// A write is refused with `StoreError.invalidValue` if the sum of integers leaves 64 bits, or that of decimals has more
  /// digits than a decimal holds.
  ///
  /// - Parameters:
  ///   - relation: The name of an inverse of the record.
  ///   - field: The stored name of a field of the related record.
  /// - Complexity: As `count(of:)`; of doubles and floats, which cannot be added exactly, each change reads all records
  ///   that lead to the owner.
  public static func sum(of relation: String, _ field: String) -> Derivation {
    Derivation(.sum, of: relation, field)
  }

  /// The lowest value of a field of the records that lead to this one: of numbers or dates. The field has the same type, and is
  /// optional: without such a value it is nil.
  ///
  /// - Complexity: As `count(of:)`; if the lowest value goes, all records that lead to the owner are read.
  public static func minimum(of relation: String, _ field: String) -> Derivation {
    Derivation(.minimum, of: relation, field)
  }

  /// The highest value of a field of the records that lead to this one, as `minimum(of:_:)`.
  public static func maximum(of relation: String, _ field: String) -> Derivation {
    Derivation(.maximum, of: relation, field)
  }

  /// Sums an expression on the fields of the records that lead to this one; those for which it is null do not count. Of
  /// integers the field's type is `.integer`, of doubles `.double`, of decimals `.decimal`.
  ///
  /// ```swift
  /// Field("total", indexed: true, derived: .sum(of: "lines", value: "unitPrice * quantity"))
  /// ```
  ///
  /// A write is refused with `StoreError.invalidValue`, as by `sum(of:_:)`, and if the expression has no result, as a division by
  /// zero, or one that the field cannot hold, for a record that leads to one with the field.
  ///
  /// - Parameters:
  ///   - relation: The name of an inverse of the record.
  ///   - expression: An expression on the stored names of fields of the related record, as of `value(_:)`.
  /// - Complexity: As `sum(of:_:)`.
  public static func sum(of relation: String, value expression: String) -> Derivation {
    Derivation(.sum, of: relation, value: expression)
  }

  /// The lowest value of an expression on the fields of the records that lead to this one: of numbers or dates. The field is
  /// optional, and of type `.integer`, `.double`, `.decimal` or `.date`.
  ///
  /// - Parameters:
  ///   - relation: The name of an inverse of the record.
  ///   - expression: An expression on the stored names of fields of the related record, as of `value(_:)`.
  /// - Complexity: As `minimum(of:_:)`.
  public static func minimum(of relation: String, value expression: String) -> Derivation {
    Derivation(.minimum, of: relation, value: expression)
  }

  /// The highest value of an expression on the fields of the records that lead to this one, as `minimum(of:value:)`.
  public static func maximum(of relation: String, value expression: String) -> Derivation {
    Derivation(.maximum, of: relation, value: expression)
  }

  /// The value of an expression on other fields of the record.
  ///
  /// ```swift
  /// Field("amount", indexed: true, derived: .value("unitPrice * quantity * (1 - discount)"))
  /// Field("year", indexed: true, derived: .value("year(date)"))
  /// ```
  ///
  /// The field's type is that of the values: of any width for integers, `.double` for computations with floats. It is
  /// optional if the expression may be null; `??` gives it another value then. Decimals are computed exactly, but for
  /// quotients. A write is refused with `StoreError.invalidValue` if the expression has no result, such as a division by zero or
  /// an overflow, or none that the field can hold.
  ///
  /// The expression has a value for each record that follows from the record alone, on every computer. A model is refused
  /// with `StoreError.invalidDescription` if it leads over references or inverses, has a query or a reference, or counts
  /// the characters of strings, which versions of Unicode divide differently.
  ///
  /// - Parameter expression: An expression on the stored names of fields that are not derived, as
  ///   `FieldExpression(parsing:)` reads it: with `+ - * / % ??`, `year(date)` and other parts of dates, `bucket`,
  ///   `lowercased`, and `length` of lists and data. It may be nested 32 deep.
  /// - Complexity: As computing the expression, in each write of a record.
  public static func value(_ expression: String) -> Derivation {
    Derivation(.value, value: expression)
  }

  /// A string field of the record in lowercase: each letter becomes one. So the string is that of Swift's `lowercased()`,
  /// but “İ” becomes “i”, where Swift adds a dot as a scalar of its own.
  ///
  /// - Parameter field: The stored name. If it is optional, so is the derived field.
  public static func lowercased(_ field: String) -> Derivation {
    Derivation(.lowercased, of: nil, field)
  }

  /// A string field of the record in uppercase: each letter becomes one. So the string is that of Swift's `uppercased()`,
  /// but letters of which Swift makes several, such as “ß” and “ﬁ”, stay, or become the one capital that they have, as “ᾳ” does.
  public static func uppercased(_ field: String) -> Derivation {
    Derivation(.uppercased, of: nil, field)
  }

  /// A string field of the record in lowercase and without diacritics: “Émile Zola” is “emile zola”.
  public static func folded(_ field: String) -> Derivation { Derivation(.folded, of: nil, field) }

  /// The time of the last write of the record. The field's type is `.date`. That a count or sum of the record changes is no
  /// write of the record. Of records that are there before the field is, a migration does not know the time: it gives
  /// them nil, or the default of the field's `MigrationInfo`.
  public static let modificationDate = Derivation(.modificationDate)
}

/// The part of a field's schema that says how the store computes it.
package struct DerivationSchema: Hashable, Sendable {
  /// The function that is computed.
  package let kind: Kind
  /// The stored name of the related record; nil if the values are the record's own.
  package internal(set) var related: String?
  /// The stored name of the reference in the related record, or of the record's own list; nil if there is none.
  package internal(set) var reference: String?
  /// The stored name of the field whose values are used, of the related record or of its own; nil for counts and times.
  package internal(set) var source: String?
  /// The expression whose values are used, on the stored names of fields of the related record or of its own; nil if it
  /// is derived of no expression.
  package internal(set) var expression: FieldExpression?
  /// The sequence that gives the values; nil if they are computed.
  package internal(set) var sequence: SequenceSchema?
  /// Their numbers; 0 for none, and where they are not known, as in a lock.
  var relatedNumber: UInt32 = 0
  var referenceNumber: UInt32 = 0
  var sourceNumber: UInt32 = 0
  /// The expression, with the numbers of fields; nil if they are not known.
  var numberedExpression: ExpressionTree<UInt32>?

  /// The function that is computed. The raw value is its number in the format.
  package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// The number of related records, or of the elements of a list.
    case count = 1
    /// The sum of the values of related records.
    case sum
    /// The lowest value of related records.
    case minimum
    /// The highest value of related records.
    case maximum
    /// A string of the record's own in lowercase.
    case lowercased
    /// A string of the record's own in uppercase.
    case uppercased
    /// A string of the record's own in lowercase and without diacritics.
    case folded
    /// The time of the record's last write.
    case modificationDate
    /// Not computed: a new record gets the next number. See `Generation`.
    case sequence
    /// The value of an expression on the record's own fields.
    case value
  }

  init(
    _ kind: Kind, related: String? = nil, reference: String? = nil, source: String? = nil,
    expression: FieldExpression? = nil, sequence: SequenceSchema? = nil
  ) {
    self.expression = expression
    self.kind = kind
    self.sequence = sequence
    self.related = related
    self.reference = reference
    self.source = source
  }

  /// True if it is computed from other records.
  var isAggregate: Bool { related != nil }

  /// Returns true if the same is computed, whatever the names.
  func isSame(as other: DerivationSchema?) -> Bool {
    kind == other?.kind && relatedNumber == other?.relatedNumber
      && referenceNumber == other?.referenceNumber && sourceNumber == other?.sourceNumber
      && numberedExpression == other?.numberedExpression && sequence == other?.sequence
  }

  /// The numbers of the fields whose values are used, and of the reference.
  var fieldNumbers: Set<UInt32> {
    Set([referenceNumber, sourceNumber]).union(numberedExpression?.ownFields ?? [])
  }
}

extension DerivationSchema.Kind {
  /// True of those whose values are a string of the record's own.
  var isOfText: Bool {
    switch self {
    case .lowercased, .uppercased, .folded: true
    default: false
    }
  }

  /// True of those that follow from the records that there are: of all but times and sequences.
  var isComputed: Bool { self != .modificationDate && self != .sequence }
}

extension DerivationSchema: CustomStringConvertible {
  /// The derivation in words, as “sum over Book.author of price”.
  package var description: String {
    if let sequence { return "\(sequence)" }
    let over = related.map { " over \($0).\(reference ?? "")" }
    let of = expression.map { "\($0)" } ?? (over == nil ? source ?? reference : source)
    return "\(kind)" + (over ?? "") + (of.map { " of \($0)" } ?? "")
  }
}

// MARK: - From a declaration

extension Derivation {
  /// Finds the fields that a declaration names, in a record with its kinds and inverses. The numbers of other records
  /// are not known yet, nor are the names of their fields those that they are stored by.
  ///
  /// - Parameter composite: The composite that the field is declared in; nil for the record itself.
  func schema(
    of composite: UInt32?, in record: RecordSchema
  ) throws(DescriptionFault) -> DerivationSchema {
    let expression = try self.expression.map { text throws(DescriptionFault) in
      try FieldExpression(ofDerived: text)
    }
    guard let relation else {
      if let expression {
        let named = expression.renamed { name in
          record.field(named: name, seenFrom: composite)?.name ?? name
        }
        return DerivationSchema(kind, expression: named)
      }
      guard let field else { return DerivationSchema(kind, sequence: sequence) }
      guard let source = record.field(named: field, seenFrom: composite) else {
        throw DescriptionFault("it is derived of \(field), which is not there")
      }
      var schema = DerivationSchema(kind, source: source.name)
      schema.sourceNumber = source.number
      return schema
    }
    if let inverse = record.inverse(named: relation) {
      return DerivationSchema(
        kind, related: inverse.related, reference: inverse.reference, source: field,
        expression: expression)
    }
    guard let list = record.field(named: relation, seenFrom: composite), case .array = list.type,
      kind == .count
    else {
      throw DescriptionFault(
        "it is derived of \(relation), which is no inverse of the record"
          + (kind == .count ? " and no list" : "")
          + "; declare one, as Inverse(\(relation.quoted), of: \\Other.reference)")
    }
    var schema = DerivationSchema(kind, reference: list.name)
    schema.referenceNumber = list.number
    return schema
  }
}

extension Derivation {
  /// Refuses an inverse that is declared of one kind, and whose reference all records have: they would all count.
  func refuseNarrowing(_ inverse: DescribedInverse) throws(DescriptionFault) {
    guard let kind = inverse.narrowingKind else { return }
    throw DescriptionFault(
      "it is derived of \(inverse.name), an inverse of \(kind) whose reference, \(inverse.related).\(inverse.reference),"
        + " records of other kinds have, too; declare the inverse of the type that declares the reference, or a"
        + " reference in \(kind)")
  }
}

extension RecordSchema {
  /// Returns the field that a declaration calls so: in a kind a field of its own, of its parents or of the record, in another
  /// composite a part of that one.
  ///
  /// - Parameter composite: The composite that the declaration is in; nil for the record itself.
  fileprivate func field(named name: String, seenFrom composite: UInt32?) -> FieldSchema? {
    var next = composite
    while let composite = next.flatMap({ field($0) }) {
      if let found = field(named: "\(composite.name).\(name)") { return found }
      if kind(composite.number) == nil { return nil }
      next = composite.composite
    }
    return field(named: name)
  }

  /// Returns the shortest name by which a declaration finds a field.
  ///
  /// - Parameter composite: The composite that the declaration is in; nil for the record itself.
  fileprivate func name(of field: String, seenFrom composite: UInt32?) -> String {
    var next = composite
    while let composite = next.flatMap({ self.field($0) }) {
      if let short = field.part(of: composite.name),
        self.field(named: short, seenFrom: composite.number)?.name == field
      {
        return short
      }
      next = composite.composite
    }
    return field
  }

  /// The number of the innermost kind that a field is of; nil if it is of none.
  fileprivate func innermostKind(of field: FieldSchema) -> UInt32? {
    composites(field).first { kind($0) != nil }
  }
}

extension String {
  /// Its rest after the name of a composite and a dot; nil if it does not begin so.
  fileprivate func part(of composite: String) -> String? {
    let start = composite + "."
    guard utf8.count > start.utf8.count, utf8.starts(with: start.utf8) else { return nil }
    return String(utf8.dropFirst(start.utf8.count))
  }
}

extension DerivationSchema {
  /// Gives it the numbers of the records and fields that it names. The field of a related record can be named as the kind
  /// names it whose reference leads here.
  mutating func number(in schema: Schema, of record: RecordSchema) {
    let owner = related.map { schema.record(named: $0) } ?? record
    let reference = self.reference.flatMap { owner?.field(named: $0) }
    relatedNumber = related == nil ? 0 : owner?.number ?? 0
    referenceNumber = reference?.number ?? 0
    let kind = related == nil ? nil : reference.flatMap { owner?.innermostKind(of: $0) }
    let field = source.flatMap { owner?.field(named: $0, seenFrom: kind) }
    sourceNumber = field?.number ?? 0
    source = field?.name ?? source
    expression = expression?.renamed { owner?.field(named: $0, seenFrom: kind)?.name ?? $0 }
    numberedExpression = expression?.named(
      by: FieldMapping { owner?.field(named: $0)?.number ?? 0 })
  }

  /// Gives it the names that its numbers stand for.
  mutating func name(in schema: Schema, of record: RecordSchema) {
    let owner = relatedNumber == 0 ? record : schema.record(number: relatedNumber)
    related = relatedNumber == 0 ? nil : owner?.name ?? ""
    reference = referenceNumber == 0 ? nil : owner?.field(referenceNumber)?.name ?? ""
    source = sourceNumber == 0 ? nil : owner?.field(sourceNumber)?.name ?? ""
    expression = numberedExpression?.named(by: FieldMapping { owner?.field($0)?.name ?? "" })
  }
}

extension DerivationSchema {
  /// Makes it one of a lock, which has names alone.
  mutating func forgetNumbers() {
    (relatedNumber, referenceNumber, sourceNumber) = (0, 0, 0)
    numberedExpression = nil
  }

  /// The declaration, by the names of the record's inverses; nil if it has no such inverse.
  ///
  /// - Parameter composite: The composite that the field is declared in; nil for the record itself.
  fileprivate func declared(
    of composite: UInt32?, in record: RecordSchema
  ) -> Derivation? {
    guard related != nil else {
      let names = [reference, source].map { $0.map { record.name(of: $0, seenFrom: composite) } }
      let expression = expression?.renamed { record.name(of: $0, seenFrom: composite) }
      return Derivation(
        kind, of: names[0], names[1], value: expression.map { "\($0)" }, sequence: sequence)
    }
    let inverse = record.inverses.first { $0.related == related && $0.reference == reference }
    return inverse.map { Derivation(kind, of: $0.name, source, value: expression.map { "\($0)" }) }
  }
}

extension FieldSchema {
  /// The declaration of its derivation; nil if it is not derived, or the record has no inverse that it is derived of.
  func declaredDerivation(in record: RecordSchema) -> Derivation? {
    derivation?.declared(of: composite, in: record)
  }

  /// Returns true if the same is computed for both, whatever the names.
  func hasDerivation(of other: FieldSchema) -> Bool {
    derivation?.isSame(as: other.derivation) ?? (other.derivation == nil)
  }

  /// The value of a derived field before it is computed, which is never seen; nil of a field that is not derived.
  var underived: FieldValue? {
    guard let derivation else { return nil }
    return isOptional ? .null : derivation.kind == .modificationDate ? nil : type.underived
  }
}

extension DescribedField {
  /// The value of a described field that derives nothing; nil also for an optional one.
  var underived: FieldValue? {
    guard let derivation, derivation.kind != .modificationDate, !isOptional else { return nil }
    return type.underived
  }
}

extension ColumnType {
  /// The value of a derived column that is not computed yet, or is computed of nothing.
  var underived: FieldValue {
    switch scalar {
    case .string: .string("")
    case let type? where type.isInteger: FieldValue.integer(0).converted(to: self) ?? .integer(0)
    case .double: .double(0)
    case .decimal: .decimal(0)
    case .date: .date(.init(timeIntervalSinceReferenceDate: 0))
    case .boolean: .boolean(false)
    case .binaryData: .data(Data())
    case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .url: URL(absolute: "about:blank").map { .url($0) } ?? .null
    default: .null
    }
  }
}
