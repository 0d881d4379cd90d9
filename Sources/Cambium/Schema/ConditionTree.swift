/// A condition on a record's fields, as data. `Field` is how fields are named: `FieldCondition` has their stored names, and
/// is what partial indexes and queries have; typed conditions have properties, and are translated.
///
/// Null equals null and nothing else; it is neither below nor above anything, so a comparison of order with it is false.
/// It has no text, contains nothing, and is in a list only if the list has it.
/// Strings compare by their UTF-8 bytes. NaN differs from everything, itself included.
public enum ConditionTree<Field: Hashable & Sendable>: Hashable, Sendable {
  // Making one is to cost little, so a term is in place and only terms with parts take memory.

  case comparison(field: Field, FieldComparison, FieldValue)
  /// The field has one of the values; false if there are none.
  case isIn(field: Field, [FieldValue])
  /// The field has one of the values that an expression has for the records of another query. The query is run once, before
  /// the condition is evaluated.
  indirect case isInQuery(field: Field, Queried)
  /// The text of a string or URL matches.
  case match(field: Field, TextMatch)
  /// An array has an element.
  case contains(field: Field, FieldValue)
  /// One of the records at the other end of a relation meets a condition, which is on its fields. The relation is a
  /// reference of the record, or one of its inverses.
  indirect case any(relation: Field, ConditionTree)
  /// The record is of a kind, given by its name; if `isExact`, and of none of the kinds of that one. The record's own name
  /// stands for all kinds.
  case kind(Field, isExact: Bool)
  /// Two computed values compare so.
  indirect case computed(Computed)
  /// All of the conditions are met; true if there are none.
  case and([ConditionTree])
  /// One of the conditions is met; false if there are none.
  case or([ConditionTree])
  indirect case not(ConditionTree)

  /// Two computed values and how they compare, which operands of a ``Condition`` or a parsed text give.
  public struct Computed: Hashable, Sendable {
    package let one: ExpressionTree<Field>
    package let comparison: FieldComparison
    package let other: ExpressionTree<Field>
  }

  /// The values of the records of a query, which operands of a ``Condition`` or a parsed text give.
  public struct Queried: Hashable, Sendable {
    package let value: ExpressionTree<Field>
    package let query: QueryTree<Field>
  }
}

extension ConditionTree {
  /// Returns the condition that two computed values compare so.
  package static func computed(
    _ one: ExpressionTree<Field>, _ comparison: FieldComparison, _ other: ExpressionTree<Field>
  ) -> ConditionTree {
    .computed(Computed(one: one, comparison: comparison, other: other))
  }

  /// Returns the condition that a field has one of the values that an expression has for the records of a query.
  package static func isInQuery(
    field: Field, of value: ExpressionTree<Field>, _ query: QueryTree<Field>
  ) -> ConditionTree {
    .isInQuery(field: field, Queried(value: value, query: query))
  }
}

/// A condition on a record's fields by their stored names.
///
/// A name may lead on over references: `author.country.name` is null without an author, or if that has no country.
///
/// A condition that is nested over 100 deep is refused wherever it is used. As with every recursive `enum`, releasing one takes stack for
/// each level, some 100 bytes; code that makes conditions has to join many terms in one ``ConditionTree/and(_:)`` or
/// ``ConditionTree/or(_:)`` rather than in one another. ``Condition`` does so by itself.
public typealias FieldCondition = ConditionTree<String>

/// How two values compare.
public enum FieldComparison: Hashable, Sendable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  /// The comparison that holds where the two values were exchanged.
  var exchanged: FieldComparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// A value computed of a record's fields. `Field` is how they are named: `FieldExpression` has their stored names.
///
/// A computation with null is null. In a condition, so is one without a result: a division by zero, an integer beyond 128
/// bits, a double or decimal that is not finite. Where values are returned, summed up, grouped or sorted by, it is an error,
/// and so is a sum or product of decimals that 38 digits do not hold. Quotients of decimals are rounded to 38 digits.
/// Nothing traps.
@usableFromInline
package enum ExpressionTree<Field: Hashable & Sendable>: Hashable, Sendable {
  case field(Field)
  case value(FieldValue)
  /// Arithmetic of numbers. Integers stay integers, and divide towards zero; with a float or double they become doubles,
  /// with a decimal decimals. Seconds are added to or subtracted from a date; the difference of two dates is in seconds.
  indirect case arithmetic(ExpressionTree, FieldArithmetic, ExpressionTree)
  indirect case negated(ExpressionTree)
  /// The length of a string in characters, of data in bytes, of an array in elements.
  indirect case length(ExpressionTree)
  /// A string in lowercase, by Unicode's simple mapping of each scalar.
  indirect case lowercased(ExpressionTree)
  /// A function of a value.
  indirect case function(FieldFunction, ExpressionTree)
  /// The first value, or the second if the first is null.
  indirect case coalesced(ExpressionTree, ExpressionTree)
  /// The number of records at the other end of a relation that meet a condition.
  indirect case count(relation: Field, where: ConditionTree<Field>)
  /// An aggregate of an expression on the fields of those records. Null is left out; without values, the sum is zero, and
  /// the others are null.
  indirect case aggregate(
    RelatedAggregate, relation: Field, of: ExpressionTree, where: ConditionTree<Field>)
  /// An aggregate of an expression on the fields of all records of a query, the same for every record. The query is run once,
  /// before anything is computed.
  indirect case query(QueryAggregate, of: ExpressionTree, QueryTree<Field>)
}

/// A value computed of a record's fields by their stored names.
package typealias FieldExpression = ExpressionTree<String>

/// An aggregate of the values of related records.
@usableFromInline
package enum RelatedAggregate: Hashable, Sendable, CaseIterable, BitwiseCopyable {
  case sum, minimum, maximum
}

/// An operation that computes a number of two.
@usableFromInline
package enum FieldArithmetic: Hashable, Sendable, CaseIterable, BitwiseCopyable {
  case plus, minus, times, divided
  /// The remainder, not of decimals. It has the sign of the dividend.
  case remainder
}

extension FieldCondition {
  /// Returns the condition that a field lies between two values, both included.
  static func between(
    field: String, _ lower: FieldValue, _ upper: FieldValue
  ) -> FieldCondition {
    .and([
      .comparison(field: field, .greaterOrEqual, lower),
      .comparison(field: field, .lessOrEqual, upper),
    ])
  }
}

// MARK: Depth

/// The most parts of a condition that are looked at. A text of the greatest length has fewer; code that joins a condition with
/// itself again and again makes one that takes little memory, and which no code could read to its end.
let conditionPartsMax = 4_000_000

extension ConditionTree {
  /// Returns true if it is nested over so many levels deep, computed values included, or has more than four million parts. It
  /// is safe to ask of conditions that are too deep for anything else.
  ///
  /// - Complexity: O(parts), and no more than four million.
  func isDeeper(than limit: Int) -> Bool { depth(upTo: limit + 1) > limit }

  /// Returns the number of levels to which it is nested; `limit` if there are more, or too many parts.
  func depth(upTo limit: Int) -> Int {
    var partCount = 0
    return depth(upTo: limit, &partCount)
  }

  fileprivate func depth(upTo limit: Int, _ partCount: inout Int) -> Int {
    partCount += 1
    if limit <= 1 || partCount > conditionPartsMax { return limit }
    let rest = limit - 1
    switch self {
    case .comparison, .isIn, .match, .contains, .kind: return 1
    case .isInQuery(_, let queried):
      return 1 + queried.query.depth(upTo: rest, of: queried.value, &partCount)
    case .any(_, let operand): return 1 + operand.depth(upTo: rest, &partCount)
    case .computed(let computed):
      let depth = computed.one.depth(upTo: rest, &partCount)
      return 1 + max(depth, computed.other.depth(upTo: rest, &partCount))
    case .and(let operands), .or(let operands):
      var depth = 0
      for operand in operands where depth < rest {
        depth = max(depth, operand.depth(upTo: rest, &partCount))
      }
      return 1 + depth
    case .not(let operand): return 1 + operand.depth(upTo: rest, &partCount)
    }
  }
}

extension ExpressionTree {
  /// Returns true if it is nested over so many levels deep, or has too many parts.
  func isDeeper(than limit: Int) -> Bool { depth(upTo: limit + 1) > limit }

  /// Returns the number of levels to which it is nested; `limit` if there are more, or too many parts.
  func depth(upTo limit: Int) -> Int {
    var partCount = 0
    return depth(upTo: limit, &partCount)
  }

  fileprivate func depth(upTo limit: Int, _ partCount: inout Int) -> Int {
    partCount += 1
    if limit <= 1 || partCount > conditionPartsMax { return limit }
    let rest = limit - 1
    switch self {
    case .field, .value: return 1
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      let depth = one.depth(upTo: rest, &partCount)
      return 1 + max(depth, other.depth(upTo: rest, &partCount))
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      return 1 + operand.depth(upTo: rest, &partCount)
    case .count(relation: _, where: let condition):
      return 1 + condition.depth(upTo: rest, &partCount)
    case .aggregate(_, relation: _, of: let operand, where: let condition):
      let depth = operand.depth(upTo: rest, &partCount)
      return 1 + max(depth, condition.depth(upTo: rest, &partCount))
    case .query(_, let operand, let query):
      return 1 + query.depth(upTo: rest, of: operand, &partCount)
    }
  }
}

extension QueryTree {
  /// Returns the number of levels to which a query, and a value of its records, are nested.
  fileprivate func depth(
    upTo limit: Int, of value: ExpressionTree<Field>, _ partCount: inout Int
  ) -> Int {
    var depth = max(
      value.depth(upTo: limit, &partCount), condition.depth(upTo: limit, &partCount))
    for part in order { depth = max(depth, part.value.depth(upTo: limit, &partCount)) }
    return depth
  }
}

// MARK: Other names

/// The names that the fields of a record, and those of the records that its relations lead to, have elsewhere.
protocol FieldNaming {
  associatedtype Field: Hashable & Sendable
  associatedtype Name: Hashable & Sendable
  associatedtype Failure: Error

  func name(of field: Field) throws(Failure) -> Name
  /// Returns the name of a relation, and those of the fields of the records at its other end.
  func relation(_ field: Field) throws(Failure) -> (name: Name, fields: Self)
  func kind(_ name: Field) throws(Failure) -> Name
  /// Returns the name of a record that a query is of, the kind that its records have to be of, and the names of its fields.
  func record(_ name: Field) throws(Failure) -> (name: Name, kind: Name?, fields: Self)
}

extension ConditionTree {
  /// Returns the condition with other names of fields, with *and* in *and* and *or* in *or* joined.
  func named<Naming: FieldNaming>(
    by names: Naming
  ) throws(Naming.Failure) -> ConditionTree<Naming.Name> where Naming.Field == Field {
    switch self {
    case .comparison(let field, let comparison, let value):
      return .comparison(field: try names.name(of: field), comparison, value)
    case .isIn(let field, let values): return .isIn(field: try names.name(of: field), values)
    case .isInQuery(let field, let queried):
      let named = try queried.query.named(by: names, with: queried.value)
      return .isInQuery(field: try names.name(of: field), of: named.value, named.query)
    case .match(let field, let match): return .match(field: try names.name(of: field), match)
    case .contains(let field, let value):
      return .contains(field: try names.name(of: field), value)
    case .kind(let name, let isExact):
      return .kind(try names.kind(name), isExact: isExact)
    case .any(let field, let operand):
      let relation = try names.relation(field)
      return .any(relation: relation.name, try operand.named(by: relation.fields))
    case .computed(let computed):
      return .computed(
        try computed.one.named(by: names), computed.comparison,
        try computed.other.named(by: names))
    case .and:
      var operands: [ConditionTree<Naming.Name>] = []
      try append(to: &operands, ofAnd: true, names)
      return operands.count == 1 ? operands[0] : .and(operands)
    case .or:
      var operands: [ConditionTree<Naming.Name>] = []
      try append(to: &operands, ofAnd: false, names)
      return operands.count == 1 ? operands[0] : .or(operands)
    case .not(let operand): return .not(try operand.named(by: names))
    }
  }

  private func append<Naming: FieldNaming>(
    to operands: inout [ConditionTree<Naming.Name>], ofAnd: Bool, _ names: Naming
  ) throws(Naming.Failure) where Naming.Field == Field {
    switch self {
    case .and(let parts) where ofAnd:
      for part in parts { try part.append(to: &operands, ofAnd: ofAnd, names) }
    case .or(let parts) where !ofAnd:
      for part in parts { try part.append(to: &operands, ofAnd: ofAnd, names) }
    default: operands.append(try named(by: names))
    }
  }
}

extension ExpressionTree {
  func named<Naming: FieldNaming>(
    by names: Naming
  ) throws(Naming.Failure) -> ExpressionTree<Naming.Name> where Naming.Field == Field {
    switch self {
    case .field(let field): return .field(try names.name(of: field))
    case .value(let value): return .value(value)
    case .arithmetic(let one, let operation, let other):
      return .arithmetic(try one.named(by: names), operation, try other.named(by: names))
    case .coalesced(let one, let other):
      return .coalesced(try one.named(by: names), try other.named(by: names))
    case .negated(let operand): return .negated(try operand.named(by: names))
    case .length(let operand): return .length(try operand.named(by: names))
    case .lowercased(let operand): return .lowercased(try operand.named(by: names))
    case .function(let function, let operand):
      return .function(function, try operand.named(by: names))
    case .count(let field, let condition):
      let relation = try names.relation(field)
      return .count(relation: relation.name, where: try condition.named(by: relation.fields))
    case .aggregate(let aggregate, let field, let operand, let condition):
      let relation = try names.relation(field)
      return .aggregate(
        aggregate, relation: relation.name, of: try operand.named(by: relation.fields),
        where: try condition.named(by: relation.fields))
    case .query(let aggregate, let operand, let query):
      let named = try query.named(by: names, with: operand)
      return .query(aggregate, of: named.value, named.query)
    }
  }
}

// MARK: In indexes

extension FieldCondition {
  /// The depth to which conditions of indexes may be nested.
  static var depthMax: Int { 32 }

  /// The condition with the operands of every `and` and `or` in the order of their bytes, so that conditions that differ in
  /// nothing else are equal. Only for conditions that an index can have.
  var canonical: FieldCondition {
    switch self {
    case .comparison, .isIn, .isInQuery, .match, .contains, .any, .kind, .computed: self
    case .and(let operands): .and(Self.sorted(operands))
    case .or(let operands): .or(Self.sorted(operands))
    case .not(let operand): .not(operand.canonical)
    }
  }

  private static func sorted(_ operands: [FieldCondition]) -> [FieldCondition] {
    let keyed = operands.map { operand in
      let operand = operand.canonical
      var bytes: [UInt8] = []
      bytes.append(condition: operand) { name in
        var bytes: [UInt8] = []
        bytes.append(text: name)
        return bytes
      }
      return (bytes, operand)
    }
    return keyed.sortedRarely { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }

  /// Returns the condition with each term that is not *and*, *or* or *not* replaced by the result of `change`.
  func mapTerms<Failure: Error>(
    _ change: (FieldCondition) throws(Failure) -> FieldCondition
  ) throws(Failure) -> FieldCondition {
    switch self {
    case .comparison, .isIn, .isInQuery, .match, .contains, .any, .kind, .computed:
      return try change(self)
    case .and(let operands): return .and(try Self.map(operands, change))
    case .or(let operands): return .or(try Self.map(operands, change))
    case .not(let operand): return .not(try operand.mapTerms(change))
    }
  }

  private static func map<Failure: Error>(
    _ operands: [FieldCondition],
    _ change: (FieldCondition) throws(Failure) -> FieldCondition
  ) throws(Failure) -> [FieldCondition] {
    var changed: [FieldCondition] = []
    for operand in operands { changed.append(try operand.mapTerms(change)) }
    return changed
  }
}

/// A pattern that a text has to match, which text functions of fields or a parsed text give.
public struct TextMatch: Hashable, Sendable {
  /// The kind of the match.
  package let kind: Kind
  /// The text.
  package let text: String
  /// The differences that it ignores.
  package let options: Options

  /// Creates a match of a text.
  @usableFromInline
  package init(_ kind: Kind, _ text: String, _ options: Options = []) {
    self.kind = kind
    self.text = text
    self.options = options
  }

  /// The way in which a text is matched.
  @usableFromInline
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// The value begins with the text. Bytes of UTF-8 are compared, not characters, so `"e"` is a prefix of an e that is
    /// followed by a combining accent.
    case prefix
    /// The value ends with the text. Bytes of UTF-8 are compared, not characters.
    case suffix
    /// The value contains the text; an array, without options, has it as an element.
    case contains
    /// The value equals the text, according to the options.
    case equals
    /// The whole value matches the text, in which `?` stands for one Unicode scalar and `*` for any number of them. After a
    /// backslash these, and the backslash, stand for themselves. A pattern has 4,000 bytes and wildcards at most.
    case like
    /// Every word of the text is a word of the value, in any order; a word that is directly followed by `*` is one with
    /// which a word of the value begins. Every value matches a text without words.
    ///
    /// A word is a run of letters, marks and numbers; of Chinese characters and Japanese syllables, which are written
    /// without spaces, each is a word. Case is always ignored, as in case-insensitive keys. Of words over 64 bytes long
    /// only the beginning counts.
    case words
  }

  /// The differences that a match ignores.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Ignores case: both are folded as in case-insensitive keys, by Unicode's simple case folding of each scalar.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Ignores diacritics: both are decomposed canonically, and nonspacing marks are removed.
    public static let diacriticInsensitive = Options(rawValue: 2)
  }
}
