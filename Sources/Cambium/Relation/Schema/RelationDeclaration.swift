extension FieldType {
  /// A reference to a record of a type: a property that is a `Reference`, or the bare primary key of the other.
  ///
  /// The field holds the other's primary key, which is one field. A checked reference has an index if the description
  /// states none: the reverse index, for deletions and for the other end.
  ///
  /// - Parameters:
  ///   - deleteRule: What happens to the record that it leads to when its own record is deleted.
  ///   - checked: False for a reference that may lead nowhere: no lookup, no index, and no rule.
  public static func reference<Target: Record>(
    to target: Target.Type, deleteRule: DeleteRule = .nullify, checked: Bool = true
  ) -> FieldType {
    FieldType(reference: .type(target), isList: false, deleteRule, nil, checked)
  }

  /// A reference to a record with a stored name: one without a type.
  public static func reference(
    to target: String, deleteRule: DeleteRule = .nullify, checked: Bool = true
  ) -> FieldType {
    FieldType(reference: .name(target), isList: false, deleteRule, nil, checked)
  }

  /// References to records of a type: a property that is an array of `Reference`s, which keeps their order, or a set of
  /// them, or an array or set of bare primary keys. Each record is in it once.
  ///
  /// - Parameters:
  ///   - deleteRule: What happens to the records that it leads to when its own record is deleted.
  ///   - count: How many there may be, `0...10` or `1...`.
  ///   - checked: False for references that may lead nowhere.
  public static func references<Target: Record>(
    to target: Target.Type, deleteRule: DeleteRule = .nullify,
    count: some RangeExpression<Int> = 0..., checked: Bool = true
  ) -> FieldType {
    FieldType(
      reference: .type(target), isList: true, deleteRule, RelationBounds(count), checked)
  }

  /// References to records with a stored name: of those without a type.
  public static func references(
    to target: String, deleteRule: DeleteRule = .nullify,
    count: some RangeExpression<Int> = 0..., checked: Bool = true
  ) -> FieldType {
    FieldType(
      reference: .name(target), isList: true, deleteRule, RelationBounds(count), checked)
  }

  init(
    reference destination: Destination, isList: Bool, _ deleteRule: DeleteRule = .nullify,
    _ bounds: RelationBounds? = nil, _ isChecked: Bool = true
  ) {
    self.init(
      kind: .reference(
        ReferenceDeclaration(
          destination: destination, isList: isList, deleteRule: deleteRule, bounds: bounds,
          isChecked: isChecked)))
  }
}

/// The record at the other end of a relation, as it is declared.
enum Destination: Sendable {
  case type(any Record.Type)
  case name(String)

  /// The stored name in a version.
  func name(in version: Int) -> String {
    switch self {
    case .type(let type): RecordDescription.name(of: type, in: version)
    case .name(let name): name
    }
  }
}

/// A reference as it is declared.
struct ReferenceDeclaration: Sendable {
  let destination: Destination
  let isList: Bool
  let deleteRule: DeleteRule
  let bounds: RelationBounds?
  let isChecked: Bool
}

/// The other end of a reference as it is declared.
struct InverseDeclaration: Sendable {
  let name: String
  let related: Destination
  let reference: Place
  /// Nil if none is stated.
  let deleteRule: DeleteRule?
  let bounds: RelationBounds?
  let renamingID: String?
  /// The composite of the kind that declares it; nil for the record.
  var kind: String? = nil

  /// The reference, by the path of its property, or by its stored name.
  enum Place: Sendable {
    case property(String)
    case field(String)
  }
}

// MARK: - Described

/// A reference of a description.
struct DescribedReference: Sendable {
  /// The stored name of the record that it leads to.
  let destination: String
  /// The composite of the kind of it; nil for any.
  let kind: String?
  let deleteRule: DeleteRule
  let bounds: RelationBounds?
  /// False too if the other end's rule is to do nothing.
  var isChecked: Bool
}

/// The other end of a reference, as described and found.
struct DescribedInverse: Sendable {
  let name: String
  /// The stored names of the other record and of the reference there.
  let related: String
  let reference: String
  let deleteRule: DeleteRule
  let bounds: RelationBounds?
  let renamingID: String?
  /// The kind whose records it is declared to be of, if records of its parent have the reference as well.
  let narrowingKind: String?
}

extension DescribedVersion {
  /// Finds the references that inverses are the other ends of.
  ///
  /// - Parameters:
  ///   - mayBeMissing: True to leave out inverses of references that the version does not have.
  ///   - elsewhere: The records of other configurations. Inverses of references there are left out.
  /// - Throws: `.invalidDescription`.
  mutating func findInverses(
    mayBeMissing: Bool, elsewhere: [String: RecordDescription]
  ) throws(StoreError) {
    var taken: Set<[String]> = []
    for place in records.indices {
      let record = records[place]
      for declared in record.declaredInverses {
        let (found, kind) = self.found(declared.related)
        let related = found.map { records[$0].name } ?? declared.related.name(in: version)
        let field = found.flatMap { records[$0].field(at: declared.reference, of: kind) }
        guard let found, let field, let reference = records[found].fields[field].reference else {
          if mayBeMissing || elsewhere[related] != nil { continue }
          throw fault(
            record.name, declared.name,
            found == nil
              ? "it is the other end of a reference of \(related), which is not in this version"
              : "\(related) has no reference \(declared.reference)")
        }
        let name = records[found].fields[field].name
        guard reference.destination == record.name,
          declared.kind == nil || declared.kind == reference.kind
        else {
          let there = reference.kind ?? reference.destination
          throw fault(
            record.name, declared.name,
            "\(related).\(name) leads to \(there), not to \(declared.kind ?? record.name)")
        }
        guard taken.insert([related, name]).inserted else {
          throw fault(record.name, declared.name, "\(related).\(name) has another inverse already")
        }
        if declared.deleteRule == .noAction { records[found].uncheck(field) }
        records[place].inverses.append(
          DescribedInverse(
            name: declared.name, related: related, reference: name,
            deleteRule: declared.deleteRule
              ?? (records[found].canCut(records[found].fields[field]) ? .nullify : .deny),
            bounds: declared.bounds, renamingID: declared.renamingID,
            narrowingKind: kind.flatMap { name.hasPrefix("\($0.name).") ? nil : $0.name }))
      }
    }
  }
}

extension DescribedVersion {
  /// The place of a record, and the kind of it that is meant.
  private func found(_ destination: Destination) -> (record: Int?, kind: DescribedKind?) {
    let name = destination.name(in: version)
    if let record = place(ofRecord: name) { return (record, nil) }
    for (place, record) in records.enumerated() {
      let kind = record.kinds.first { kind in
        if case .type(let type) = destination, let own = kind.type { return own == type }
        return kind.name == name || kind.name.hasSuffix("." + name)
      }
      if let kind { return (place, kind) }
    }
    return (nil, nil)
  }
}

extension DescribedRecord {
  /// Returns true if a reference can be taken out of a record: if it is an optional one, or one of a list.
  fileprivate func canCut(_ field: DescribedField) -> Bool {
    !primaryKey.contains { $0.name == field.name }
      && (field.isOptional || field.type.scalar == nil)
  }

  /// The place of the field that a declaration names.
  ///
  /// - Parameter kind: The kind from whose type a property's path leads; nil for that of the record.
  fileprivate func field(at place: InverseDeclaration.Place, of kind: DescribedKind?) -> Int? {
    switch place {
    case .field(let name): return fields.firstIndex { $0.name == name }
    case .property(let path):
      let levels = kind?.levels ?? levels
      return fields.firstIndex { self.path(of: $0, from: levels) == path }
    }
  }

  /// The path of a field's property from a type; nil for a field of another kind.
  private func path(of field: DescribedField, from levels: [TypeLevel]) -> String? {
    guard field.role == .field else { return nil }
    let composite = field.composite.flatMap { name in fields.first { $0.name == name } }
    if let composite, composite.role == .field {
      return path(of: composite, from: levels).map { "\($0).\(field.property)" }
    }
    return levels.path(to: field.generation, in: field.composite).map { $0 + field.property }
  }
}

extension InverseDeclaration.Place: CustomStringConvertible {
  var description: String {
    switch self {
    case .property(let path): "in the property \(path)"
    case .field(let name): name
    }
  }
}
