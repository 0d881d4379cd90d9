/// The action on records at one end of a relation when the record at the other end is deleted.
public enum DeleteRule: Hashable, Sendable {
  /// The reference is cut: an optional one is nil, a list is without it. Where the reference itself is deleted with its
  /// record, the record that it leads to stays as it is.
  case nullify
  /// The record is deleted as well, with the records that depend on it.
  case cascade
  /// Nothing is deleted: the commit throws `StoreError.deleteDenied`, unless the transaction also deletes that record or cuts
  /// the reference.
  case deny
  /// Nothing happens, so the reference may lead nowhere: it is not checked.
  case noAction
}

/// The lowest and the highest number of records at one end of a relation.
package struct RelationBounds: Hashable, Sendable {
  package internal(set) var least: Int
  /// Nil for any number.
  package internal(set) var most: Int?
}

/// The part of a field's schema that makes it a reference.
package struct ReferenceSchema: Hashable, Sendable {
  /// The number of the record that it leads to; 0 where that is not known, as in a lock.
  var record: UInt32
  /// The stored name of the record that it leads to.
  package internal(set) var destination: String
  /// The number of the kind's composite; nil for records of any kind, and where it is not known, as in a lock.
  var composite: UInt32? = nil
  /// The stored name of the kind that it leads to, which is that of its composite; nil for records of any kind.
  package internal(set) var kind: String? = nil
  /// True if it leads somewhere in every committed state.
  package internal(set) var isChecked: Bool
  /// The rule for the destination when the record with the reference is deleted.
  package internal(set) var deleteRule: DeleteRule
  /// Of a list: how many elements it has. Nil for any number.
  package internal(set) var bounds: RelationBounds?
}

/// The other end of a reference, which is computed: a name, a rule and bounds, and nothing that is stored with records.
package struct InverseSchema: Hashable, Sendable {
  /// Its number, from those of the record's fields. Never reused in the record.
  var number: UInt32
  /// The name of the inverse.
  package internal(set) var name: String
  /// The number of the record that has the reference, and that of the field; 0 where they are not known, as in a lock.
  var record: UInt32
  var field: UInt32
  /// The stored name of the record that has the reference.
  package internal(set) var related: String
  /// The stored name of the reference.
  package internal(set) var reference: String
  /// The rule for the records with the reference when their destination is deleted.
  package internal(set) var deleteRule: DeleteRule
  /// The allowed numbers of records that lead to one. `nil` for any number.
  package internal(set) var bounds: RelationBounds?
}

extension FieldSchema {
  /// The stored name of the record that a reference leads to; `nil` if the field is none.
  public var destination: String? { reference?.destination }
}

extension RecordSchema {
  /// The names of the other ends of references that lead here.
  public var inverseNames: [String] { inverses.map(\.name) }
}

extension ReferenceSchema {
  /// The record that it leads to, and the kind after a dot: no record has a dot in its name.
  package var destinationText: String { destination + (kind.map { ".\($0)" } ?? "") }

  /// The name that the type which it leads to has by default.
  package var typeName: String {
    kind?.split(separator: ".").last.map(String.init) ?? destination
  }

  /// True if it leads to the same records as another, by their numbers.
  func leads(as other: ReferenceSchema?) -> Bool {
    record == other?.record && composite == other?.composite
  }
}

extension DeleteRule {
  /// Its number in the format.
  var code: UInt8 {
    switch self {
    case .nullify: 1
    case .cascade: 2
    case .deny: 3
    case .noAction: 4
    }
  }

  init?(code: UInt8) {
    guard
      let rule = [DeleteRule.nullify, .cascade, .deny, .noAction].first(where: { $0.code == code })
    else { return nil }
    self = rule
  }
}

extension RelationBounds {
  /// Creates the bounds that a range states; nil for a range of all numbers from 0.
  init?(_ range: some RangeExpression<Int>) {
    switch range {
    case let range as ClosedRange<Int>:
      self.init(least: range.lowerBound, most: range.upperBound == .max ? nil : range.upperBound)
    case let range as PartialRangeFrom<Int>: self.init(least: range.lowerBound, most: nil)
    case let range as PartialRangeThrough<Int>: self.init(least: 0, most: range.upperBound)
    case let range as PartialRangeUpTo<Int>: self.init(least: 0, most: range.upperBound &- 1)
    default:
      let range = range.relative(to: 0..<Int.max)
      self.init(least: range.lowerBound, most: range.upperBound &- 1)
    }
    if least == 0, most == nil { return nil }
  }

  func contains(_ count: Int) -> Bool { count >= least && most.map { count <= $0 } ?? true }

  /// Why no number can be within them; nil if one can.
  var fault: String? {
    let numbers = 0...Int(UInt32.max)
    guard numbers.contains(least), most.map({ numbers.contains($0) && $0 > 0 }) ?? true else {
      return "bounds are 0 to \(UInt32.max), the upper one at least 1"
    }
    if let most, most < least { return "no number is at least \(least) and at most \(most)" }
    return nil
  }
}

extension RelationBounds: CustomStringConvertible {
  /// The bounds as a range in Swift.
  package var description: String { "\(least)...\(most.map { "\($0)" } ?? "")" }
}

// MARK: - Relations in a schema

extension Schema {
  /// Returns the inverse of a reference, if one is declared.
  func inverse(of field: FieldSchema, in record: RecordSchema) -> InverseSchema? {
    guard let reference = field.reference else { return nil }
    return self.record(number: reference.record)?.inverses.first {
      $0.record == record.number && $0.field == field.number
    }
  }

  /// Gives references, inverses and derivations the names that their numbers stand for.
  mutating func nameRelations() {
    let known = self
    for record in records.indices {
      for field in records[record].fields.indices {
        records[record].fields[field].derivation?.name(in: known, of: known.records[record])
        guard let reference = records[record].fields[field].reference else { continue }
        let destination = known.record(number: reference.record)
        records[record].fields[field].reference?.destination = destination?.name ?? ""
        records[record].fields[field].reference?.kind = reference.composite.flatMap {
          destination?.field($0)?.name
        }
      }
      for index in records[record].inverses.indices {
        let inverse = records[record].inverses[index]
        let related = known.record(number: inverse.record)
        records[record].inverses[index].related = related?.name ?? ""
        records[record].inverses[index].reference = related?.field(inverse.field)?.name ?? ""
      }
    }
  }
}

extension RecordSchema {
  /// Returns the inverse with a name; nil if there is none.
  package func inverse(named name: String) -> InverseSchema? { inverses.first { $0.name == name } }

  /// The way from a record that a reference leads to back to those with the reference.
  enum WayBack: Hashable {
    /// The record's own rows, whose keys begin with it.
    case rows
    /// The index at this place.
    case index(Int)
  }

  /// Returns the reverse index of a reference: the first tree that has every record with a value.
  func wayBack(of field: FieldSchema) -> WayBack? {
    if primaryKey.first?.field == field.number { return .rows }
    return indexes.firstIndex { index in
      guard let part = index.parts.first, part.field == field.number, !part.isCaseInsensitive,
        part.collation == nil,
        (part.expansion == .elements) == (field.type.scalar == nil),
        // A record without values of another expanded part has no entry.
        index.parts.dropFirst().allSatisfy({ $0.expansion == .none })
      else { return false }
      switch index.condition {
      case nil: return true
      // A field with a value is in composites that are not null.
      case .comparison(let name, .notEqual, .null):
        return name == field.name || field.name.hasPrefix(name + ".")
      default: return false
      }
    }.map { .index($0) }
  }

  /// Returns true if an index is only there because of a reference.
  func isMade(_ index: IndexSchema) -> Bool {
    guard index.parts.count == 1, !index.isUnique, let field = field(index.parts[0].field),
      field.reference?.isChecked == true
    else { return false }
    var made = madeIndex(of: field, number: index.number)
    made.parts[0].flipsNullByte = index.parts[0].flipsNullByte
    guard index == made else { return false }
    var others = self
    others.indexes.removeAll { $0.number == index.number }
    return others.wayBack(of: field) == nil
  }

  /// Returns the index that a checked reference has if its description states none: of the records that lead somewhere.
  func madeIndex(of field: FieldSchema, number: UInt32) -> IndexSchema {
    let part = KeyPart(
      field: field.number, isDescending: false, isCaseInsensitive: false,
      expansion: field.type.scalar == nil ? .elements : .none)
    return IndexSchema(
      number: number, name: keyFields([part]).text, parts: [part], isUnique: false,
      condition: canBeNull(field) && part.expansion == .none
        ? .comparison(field: field.name, .notEqual, .null) : nil)
  }
}

extension RecordSchema {
  /// Returns the stored name of the record at the other end of a relation: a reference, or an inverse. Nil if there is no
  /// such relation.
  func related(by name: String) -> String? {
    field(named: name)?.reference?.destination
      ?? inverses.first { $0.name == name }?.related
  }

  /// The names of the references and inverses.
  package var relationNames: [String] {
    fields.filter { $0.reference != nil }.map(\.name) + inverses.map(\.name)
  }

  /// Returns the error for a query over a relation that the record does not have.
  func refusal(ofUnknownRelation name: String) -> StoreError {
    let names = relationNames.joined(separator: ", ")
    return .invalidQuery(
      record: self.name, field: name,
      reason: "there is no such reference or inverse; "
        + (names.isEmpty ? "it has none" : "it has \(names)"))
  }
}
