// What a step may leave to be done later: new rows that are made of their old ones alone, cannot fail, and have the same
// keys. Indexes with other entries are built later, too, unless the store needs them at any moment.

extension SchemaChange {
  /// True if the store may be of the new version before its rows are.
  var isDeferrable: Bool { deferralFaults.isEmpty }

  /// Why not, by record and field; none where it may.
  var deferralFaults: [MigrationFault] {
    var faults = self.faults + derivationFaults
    func add(_ record: String, _ field: String?, _ reason: String) {
      let fault = MigrationFault(record: record, field: field, reason: reason)
      if !faults.contains(fault) { faults.append(fault) }
    }
    for place in transformed { add(place.name, nil, "a closure transforms its records") }
    for move in moves where move.old.number != move.new.number && !getsOwnTree(move) {
      let target = move.places?.target.name ?? move.new.name
      add(
        move.places?.source.name ?? move.old.name, nil,
        "its records come among others as \(target), where two of them may have one key")
    }
    for change in gathered { add(change.new.name, nil, "new records are made for lists") }
    for record in records {
      let ways = ways(of: record.new.number)
      for way in ways {
        for (field, reason) in way.rowFaults { add(record.new.name, field, reason) }
        for (field, reason) in referenceFaults(of: way) { add(record.new.name, field, reason) }
      }
      for (field, reason) in indexFaults(of: record) { add(record.new.name, field, reason) }
    }
    for (_, ways) in leaving {
      for way in ways {
        for (field, reason) in way.rowFaults + referenceFaults(of: way) + indexFaults(of: way) {
          add(way.new.name, field, reason)
        }
        for field in way.outsideFields {
          add(way.new.name, field, "its values outside of rows are counted for all records at once")
        }
      }
    }
    return faults
  }

  /// True if it can be deferred and is so by default: fields and kinds are only added or renamed, records also removed, and
  /// no index has to be built.
  var isAdditive: Bool { isDeferrable && moves.isEmpty && records.allSatisfy(\.isAdditive) }
}

// MARK: Rows
extension RecordChange {
  /// Why a new row cannot be made of its old one alone, by fields; none if it can, of every row.
  var rowFaults: [(field: String?, reason: String)] {
    var faults: [(field: String?, reason: String)] = []
    if !keepsKey { faults.append((nil, "its primary keys change")) }
    if let reason = kindFault { faults.append((nil, reason)) }
    let needs = needs
    for field in fields where !needs.leavesOut(field.new) {
      if let reason = rowFault(of: field, needs) { faults.append((field.new.name, reason)) }
    }
    return faults
  }

  private func rowFault(of field: FieldChange, _ needs: NeededValues) -> String? {
    let new = field.new
    if let source = sources[new.number] {
      if let reason = source.rowFault { return reason }
    } else if let old = field.old, old.type.stored != new.type.stored,
      !old.type.widens(to: new.type), !field.becomesList
    {
      return "it was \(old.type) and is \(new.type), and values may not convert"
    }
    guard let old = field.old else {
      if new.type == .composite {
        let isPresent = move?.present.contains(new.number) ?? false
        return field.missing == .null || isPresent ? nil : "it is a composite with a default"
      }
      if sources[new.number] != nil { return "it is new, and an element of a list" }
      return field.missing == .null && !needs.canBeNull(new)
        ? "it is new, not optional, and has no default" : nil
    }
    // A blob may be damaged.
    if old.type.isExternal != new.type.isExternal {
      return "its values go into rows, or out of them"
    }
    if sources[new.number] != nil {
      guard case .array(of: let element) = old.type, new.type.scalar != nil,
        element == new.type.scalar || ColumnType.scalar(element).widens(to: new.type)
      else { return "it was \(old.type), of which no element is \(new.type)" }
    }
    if field.missing == .null, canLackNeeded(field) {
      return "it was optional, and records may have no value"
    }
    if field.missing != .null, new.type.isExternal {
      return "it is stored outside of rows, where records without a value get one"
    }
    return nil
  }

  /// The names of the fields whose values may lie outside of rows: those that the records have, or else had.
  fileprivate var outsideFields: [String] {
    let names = [new, old].map { $0.fields.filter(\.type.isExternal).map(\.name) }
    return names[0].isEmpty ? names[1] : names[0]
  }

  private var keepsKey: Bool {
    guard new.primaryKey.count == old.primaryKey.count else { return false }
    return zip(new.primaryKey, old.primaryKey).allSatisfy { part, before in
      guard let field = fields.first(where: { $0.new.number == part.field }),
        sources[part.field] == nil
      else { return false }
      return field.old?.number == before.field && field.old?.type == field.new.type
        && part.isDescending == before.isDescending
    }
  }
}

extension FieldSource {
  /// Why a row's new value is not known from the row alone, or may be refused; nil if it is.
  fileprivate var rowFault: String? {
    switch self {
    case .value, .record, .constant, .field: "a step gives it values"
    case .version, .related: "its values are made of other records"
    case .conversion: "values may not convert"
    case .distinctElements: "a list may lead to one record twice"
    case .element(let source):
      switch source.choice {
      case .first, .last: nil
      case .only: "a list may have several elements"
      case .least, .greatest: "other records say which element is kept"
      case .all: "a new record has the elements"
      }
    }
  }
}

// MARK: Kinds

extension RecordChange {
  /// Why rows cannot be of the kinds that they are of; nil if all of them can.
  private var kindFault: String? {
    guard new.hasKinds || old.hasKinds else { return nil }
    for composite in move?.present ?? [] {
      guard let field = new.field(composite), new.kind(composite) != nil,
        needs.isKnown(field),
        new.composites(field).allSatisfy({ move?.present.contains($0) ?? false })
      else { return "not all of its records are of a kind" }
    }
    for kind in new.kinds {
      if let origin = new.field(kind.composite).flatMap(needs.origin), old.kind(origin) == nil {
        return "\(new.name(of: kind)) is a kind now, and records may be of another, too"
      }
    }
    for kind in possibleKinds {
      let kinds = kinds(after: kind)
      let parents = Set(kinds.map { new.field($0)?.composite })
      let innermost = kinds.first { !parents.contains($0) }
      guard parents.count == kinds.count else { return "records may be of two kinds" }
      if innermost.map({ new.kind($0)?.isAbstract ?? false }) ?? new.isAbstract {
        let name = innermost.flatMap { new.field($0)?.name } ?? new.name
        return "\(name) is abstract, and records may be of none of its kinds"
      }
    }
    return nil
  }

  /// The innermost kinds that old rows of it may be of.
  private var possibleKinds: [UInt32?] {
    var kinds: [UInt32?] = old.isAbstract ? [] : [nil]
    kinds += old.kinds.filter { !$0.isAbstract }.map(\.composite)
    return kinds.filter { share?.contains($0) ?? true }
  }

  /// The composites of all kinds that a record is of afterwards.
  private func kinds(after kind: UInt32?) -> Set<UInt32> {
    let before = Set(kind.flatMap { old.field($0) }.map { [$0.number] + old.composites($0) } ?? [])
    let needs = needs
    return Set(
      new.kinds.map(\.composite).filter { composite in
        guard let field = new.field(composite) else { return false }
        return needs.isSure(field) || needs.origin(of: field).map(before.contains) ?? false
      })
  }

  /// Returns the innermost kind that a record is of afterwards, with the kinds that the change makes it be of.
  func innermostKind(after kind: UInt32?) -> UInt32? {
    let kinds = kinds(after: kind)
    let parents = Set(kinds.map { new.field($0)?.composite })
    return kinds.first { !parents.contains($0) }
  }

  /// Returns true if some of the records may have been of a kind.
  ///
  /// - Parameter kind: Nil for all records.
  fileprivate func mayBe(of kind: UInt32?) -> Bool {
    guard let kind else { return true }
    return possibleKinds.contains { innermost in
      innermost.flatMap { old.field($0) }.map { [$0.number] + old.composites($0) }?.contains(kind)
        ?? false
    }
  }

  /// Returns true if each record that was of a kind is of another afterwards.
  ///
  /// - Parameter kind: Nil for all records.
  fileprivate func leads(from kind: UInt32?, to next: UInt32?) -> Bool {
    guard let next else { return true }
    return possibleKinds.allSatisfy { innermost in
      let line = innermost.flatMap { old.field($0) }.map { [$0.number] + old.composites($0) } ?? []
      if let kind, !line.contains(kind) { return true }
      return kinds(after: innermost).contains(next)
    }
  }
}

// MARK: Indexes

extension SchemaChange {
  /// Returns the indexes of a record that have other entries afterwards, or are new and have any.
  func builtIndexes(of record: RecordSchema) -> [IndexSchema] {
    if let ways = leaving.first(where: { $0.number == record.number })?.ways {
      return record.indexes.filter { index in !ways.allSatisfy { $0.leavesEmpty(index) } }
    }
    guard let old = from.record(number: record.number) else { return [] }
    let ways = ways(of: record.number)
    let departures = departures(from: record.number)
    return record.indexes.filter { index in
      guard let known = old.indexes.first(where: { $0.number == index.number }) else {
        return !ways.allSatisfy { $0.leavesEmpty(index) }
      }
      return ways.contains { index.isTouched(by: $0, of: record) }
        || departures.contains { $0.mayHaveEntries(in: known) }
    }
  }

  /// The indexes that were there before and have other entries afterwards.
  var emptiedIndexes: Set<UInt32> {
    let known = Set(from.records.flatMap { $0.indexes.map(\.number) })
    return Set(to.records.flatMap { builtIndexes(of: $0) }.map(\.number)).intersection(known)
  }

  /// Why indexes cannot wait: those by which saves and deletions look for other records.
  private func indexFaults(
    of record: RecordChange
  ) -> [(field: String?, reason: String)] {
    let known = Set(record.old.indexes.map(\.number))
    return builtIndexes(of: record.new).compactMap { index in
      let isNew = !known.contains(index.number)
      if index.isUnique {
        let getsValues =
          isNew || ways(of: record.new.number).contains { index.isTouched(by: $0, of: record.new) }
        return (
          nil,
          getsValues
            ? "the unique constraint \(index.name) \(isNew ? "is new" : "gets other values"), and two records may break it"
            : "the unique constraint \(index.name) loses the values of records that leave, and saves find others by it"
        )
      }
      guard record.new.leadsBack(index), let field = record.new.field(index.parts[0].field) else {
        return nil
      }
      return (
        field.name,
        "the index that leads back from \(field.reference?.destination ?? "") \(isNew ? "is new" : "gets other entries"), and deletions find records by it"
      )
    }
  }
}

extension RecordChange {
  /// Returns true if old records may have entries in an index of the old version: unless it is one of a kind of which none is.
  fileprivate func mayHaveEntries(in index: IndexSchema) -> Bool {
    guard case .comparison(let name, .notEqual, .null)? = index.condition,
      let composite = old.field(named: name)?.number, old.kind(composite) != nil
    else { return true }
    return mayBe(of: composite)
  }
}

extension IndexSchema {
  /// Returns true if its entries depend on fields whose values change.
  ///
  /// - Parameter record: The record that it is of, in the newest version.
  func isTouched(by change: RecordChange, of record: RecordSchema) -> Bool {
    let fields = change.changedFields
    if fields.isEmpty { return false }
    let listed = change.listedFields
    if parts.contains(where: { fields.contains($0.field) && !listed.contains($0.field) }) {
      return true
    }
    return condition?.names.contains { name in
      record.field(named: name).map { fields.contains($0.number) } ?? true
    } ?? false
  }
}

extension FieldCondition {
  /// The names of the fields that the condition of an index compares.
  fileprivate var names: [String] {
    var names: [String] = []
    _ = mapTerms { term in
      if case .comparison(let name, _, _) = term { names.append(name) }
      return term
    }
    return names
  }
}

// MARK: References

extension SchemaChange {
  /// Why references cannot wait: what is checked must lead somewhere as soon as the version is published.
  private func referenceFaults(
    of way: RecordChange
  ) -> [(field: String?, reason: String)] {
    way.fields.compactMap { field in
      guard let reference = field.new.reference, reference.isChecked else { return nil }
      let isProved =
        !field.isUnproved
        && (field.old?.reference.map { before in
          ways(of: reference.record)
            .allSatisfy { $0.leads(from: before.composite, to: reference.composite) }
            && !departures(from: reference.record).contains { $0.mayBe(of: before.composite) }
        } ?? true)
      let reason = "it has to be proved that it leads to \(reference.destinationText)"
      return isProved ? nil : (field.new.name, reason)
    }
  }
}

extension RecordChange {
  /// True if it is only a field or a kind more, or another name.
  fileprivate var isAdditive: Bool {
    let known = Set(old.indexes.map(\.number))
    guard new.indexes.allSatisfy({ known.contains($0.number) || leavesEmpty($0) }) else {
      return false
    }
    if kind == .same { return true }
    let kept = fields.compactMap(\.old)
    return sources.isEmpty && kept.count == old.fields.count
      && fields.allSatisfy { field in
        guard let old = field.old else { return true }
        return old.type == field.new.type && old.isOptional == field.new.isOptional
          && !field.isMoved
      }
  }
}
