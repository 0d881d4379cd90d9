/// A kind of a record: those of its rows in which one composite is not null.
package struct KindSchema: Hashable, Sendable {
  /// The number of the composite, which has the fields of the kind and its own kinds.
  package internal(set) var composite: UInt32
  /// True if each of its records is of one of its own kinds.
  package internal(set) var isAbstract: Bool
}

/// A record of a schema, or a kind of one.
struct RecordPlace: Hashable, Sendable {
  let record: RecordSchema
  /// The composite of the kind; nil for the record itself.
  let kind: FieldSchema?

  /// The name in plans and errors: `Trip.BusinessTrip` of a kind.
  var name: String { record.name + (kind.map { ".\($0.name)" } ?? "") }

  /// The numbers of the composites of the kind, and of its own kinds.
  var kinds: Set<UInt32> {
    guard let kind else { return Set(record.kinds.map(\.composite)) }
    return Set(
      record.kinds.map(\.composite).filter { number in
        number == kind.number
          || record.field(number).map { record.composites($0).contains(kind.number) } ?? false
      })
  }

  /// Returns true if each record of the other is one of this.
  func contains(_ other: RecordPlace) -> Bool {
    guard record.number == other.record.number else { return false }
    guard let kind else { return true }
    return other.kind.map {
      $0.number == kind.number || record.composites($0).contains(kind.number)
    }
      ?? false
  }
}

extension Schema {
  /// Returns the record with a name, or the kind that is called so, also after its record's name and a dot; nil if there is
  /// none, or several kinds are.
  func place(named name: String) -> RecordPlace? {
    if let record = record(named: name) { return RecordPlace(record: record, kind: nil) }
    let found = records.compactMap { record in
      let own =
        name.hasPrefix(record.name + ".") ? String(name.dropFirst(record.name.count + 1)) : name
      return (record.kind(named: name) ?? record.kind(named: own)).map {
        RecordPlace(record: record, kind: $0)
      }
    }
    return found.count == 1 ? found[0] : nil
  }
}

extension FieldCondition {
  /// Returns true if it holds only for records that have a composite.
  func requires(_ composite: String) -> Bool {
    switch self {
    case .comparison(composite, .notEqual, .null): true
    case .and(let terms): terms.contains { $0.requires(composite) }
    default: false
    }
  }
}

extension RecordSchema {
  /// True if the record is one of a hierarchy that it begins.
  package var hasKinds: Bool { isAbstract || !kinds.isEmpty }

  /// The names of the kinds that share the record's rows; of a kind of a kind, after that one's name and a dot.
  public var kindNames: [String] { kinds.map { name(of: $0) } }

  /// Returns true if each record of a kind is of a kind of that one.
  ///
  /// - Parameter name: One of `kindNames`.
  public func isAbstract(kind name: String) -> Bool {
    kinds.contains { $0.isAbstract && self.name(of: $0) == name }
  }

  /// The name of a kind: that of its composite.
  package func name(of kind: KindSchema) -> String { field(kind.composite)?.name ?? "" }

  /// Returns true for the field of a kind that has no others.
  package func isMarker(_ number: UInt32) -> Bool {
    guard let field = field(number), let kind = field.composite, self.kind(kind) != nil else {
      return false
    }
    return field.lastName == DescribedRecord.markerName && field.type == .boolean
  }

  func kind(_ composite: UInt32) -> KindSchema? { kinds.first { $0.composite == composite } }

  /// Returns the kinds whose parent is a kind, or the record itself.
  package func kinds(of parent: UInt32?) -> [KindSchema] {
    kinds.filter { field($0.composite)?.composite == parent }
  }

  /// Returns the composite with the fields of a kind that is called so: by its whole name, or by the last part if no other
  /// has it.
  func kind(named name: String) -> FieldSchema? {
    let composites = kinds.compactMap { field($0.composite) }
    if let found = composites.first(where: { $0.name == name }) { return found }
    let found = composites.filter { $0.lastName == name }
    return found.count == 1 ? found[0] : nil
  }

  /// Returns the condition that a record is of a kind, and if `isExact`, of none of the kinds of that one. Nil if there is no
  /// such kind.
  ///
  /// - Parameter name: A kind, as for `kind(named:)`, or the record itself.
  package func condition(ofKind name: String, isExact: Bool) -> FieldCondition? {
    let composite = kind(named: name)
    guard composite != nil || name == self.name else { return nil }
    var terms: [FieldCondition] = []
    if let composite { terms.append(.comparison(field: composite.name, .notEqual, .null)) }
    if isExact {
      for kind in kinds(of: composite?.number) {
        terms.append(.comparison(field: self.name(of: kind), .equal, .null))
      }
    }
    return terms.count == 1 ? terms[0] : .and(terms)
  }

  /// Returns the record with some of its kinds, by the names of their composites, and without all that only records of the
  /// others have.
  func withKinds(_ names: Set<String>) -> RecordSchema {
    let others = kinds.filter { !names.contains(name(of: $0)) }
    if others.isEmpty { return self }
    let composites = Set(others.map(\.composite))
    let left = others.map { name(of: $0) }
    var record = self
    record.kinds.removeAll { composites.contains($0.composite) }
    record.fields.removeAll { field in
      composites.contains(field.number) || !composites.isDisjoint(with: self.composites(field))
    }
    record.indexes.removeAll { index in left.contains { index.condition?.requires($0) ?? false } }
    return record
  }

  /// Throws unless the kinds are possible (D2).
  func validateKinds() throws(SchemaFault) {
    guard zip(kinds, kinds.dropFirst()).allSatisfy({ $0.composite < $1.composite }) else {
      throw fault("its kinds are out of order")
    }
    for kind in kinds {
      guard let composite = field(kind.composite), composite.type == .composite,
        composite.isOptional
      else { throw fault("a kind of it is no optional composite") }
      guard composite.composite.map({ self.kind($0) != nil }) ?? true else {
        throw fault("its kind is within a field that is no kind", field: composite.name)
      }
    }
  }

  /// The kinds as text, for differences.
  var kindsText: String? {
    guard hasKinds else { return nil }
    let names = kinds.map { name(of: $0) + ($0.isAbstract ? " (abstract)" : "") }
      .sortedRarely { $0.precedes($1) }
    return ((isAbstract ? ["abstract"] : []) + names).joined(separator: ", ")
  }
}
