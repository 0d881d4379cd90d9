/// The changes of stored data by a step from one version to another.
///
/// It follows from the two schemas, in which parts with the same number are the same whatever their names, and from the
/// statements of the step.
struct SchemaChange: Sendable {
  let from: Schema
  let to: Schema
  let added: [RecordSchema]
  let removed: [RecordSchema]
  /// The changes of the records that both versions have.
  let records: [RecordChange]
  /// Records and kinds of the old version that closures make others of.
  let transformed: [RecordPlace]
  /// The changes that can be neither inferred nor made as stated.
  let faults: [MigrationFault]
  /// The changes of records that are kept among those of another record or kind from now on.
  let moves: [RecordChange]
  /// The changes that make new records of lists, beside those of the records that have the lists.
  let gathered: [RecordChange]
  /// The changes that rows of a record may go through where they are, each of rows of other kinds, by the records' numbers.
  private let ways: [UInt32: [RecordChange]]

  /// The records of both versions of which none stay what they are: those with the number of another, whose records they have.
  var replaced: [RecordChange] { records.filter { $0.share == KindShare() } }
  /// The changes whose records are added to those that stay.
  var adding: [RecordChange] { moves + gathered }
  var all: [RecordChange] { records + adding }

  init(
    from: Schema, to: Schema, added: [RecordSchema], removed: [RecordSchema],
    records: [RecordChange], transformed: [RecordPlace], faults: [MigrationFault],
    moves: [RecordChange] = [], gathered: [RecordChange] = []
  ) {
    self.from = from
    self.to = to
    self.added = added
    self.removed = removed
    self.records = records
    self.transformed = transformed
    self.faults = faults
    self.moves = moves
    self.gathered = gathered
    let staying = (records + moves).filter {
      $0.old.number == $0.new.number && $0.share != KindShare()
    }
    ways = Dictionary(grouping: staying) { $0.new.number }
  }

  /// Returns the changes that rows of a record may go through where they are, each of rows of other kinds.
  ///
  /// - Complexity: O(1).
  func ways(of number: UInt32) -> [RecordChange] { ways[number] ?? [] }
}

/// The change of one record type by a step.
struct RecordChange: Sendable {
  let old: RecordSchema
  let new: RecordSchema
  /// In step with the new fields.
  let fields: [FieldChange]
  /// The sources of values that the step states, by the new fields' numbers.
  let sources: [UInt32: FieldSource]
  private(set) var kind: Kind
  /// The old records that it is of, by their kinds; nil for all of them.
  var share: KindShare? = nil
  /// Where the records go, if they are not kept where they were.
  var move: KindMove? = nil

  enum Kind: Hashable, Sendable {
    /// Keys and rows are the same bytes in both versions.
    case same
    /// Rows are rewritten, keys stay.
    case rows
    /// Records are rebuilt, value by value.
    case records
  }

  var rewritesRows: Bool { kind != .same }
}

/// The change of one field: the origin of its values.
struct FieldChange: Hashable, Sendable {
  let new: FieldSchema
  /// The field it was before; nil if it is new.
  let old: FieldSchema?
  /// The value for records that have none.
  let missing: FieldValue
}

/// A change that cannot be inferred, and what to write.
struct MigrationFault: Hashable, Sendable, CustomStringConvertible {
  let record: String
  let field: String?
  let reason: String

  var description: String { "\(record)\(field.map { ".\($0)" } ?? ""): \(reason)" }
}

// MARK: Inference

extension SchemaChange {
  /// - Parameters:
  ///   - described: The version that `to` is the schema of, with the defaults that it declares.
  ///   - given: What the step says of itself.
  ///   - between: The steps from version to version that this one takes the place of, as they are inferred; none if
  ///     it leads to the next version, or back.
  /// - Throws: `.invalidDescription`.
  init(
    from: Schema, to: Schema, described: DescribedVersion, given: GivenChanges = .none,
    between: [SchemaChange] = []
  ) throws(StoreError) {
    var faults: [MigrationFault] = []
    var records: [RecordChange] = []
    let transformed = given.transformed.sortedRarely().compactMap { from.place(named: $0) }
    let whole = Set(transformed.filter { $0.kind == nil }.map(\.record.number))
    let placing = try KindPlacing(from: from, to: to, described, between, except: transformed)
    for new in to.records {
      guard let old = from.record(number: new.number), !whole.contains(old.number) else { continue }
      records.append(
        try RecordChange(
          old: old, new: new, in: from, to, described.record(named: new.name),
          hasSameRows: try RowLayout(new, version: to.storedVersion)
            .hasRows(of: try RowLayout(old, version: from.storedVersion)),
          given.fields[new.name] ?? [:],
          placing.origins[new.number], share: placing.shares[new.number], move: nil, &faults))
    }
    var moves: [RecordChange] = []
    for move in placing.moves {
      guard let old = from.record(number: move.source), let new = to.record(number: move.target)
      else { continue }
      moves.append(
        try RecordChange(
          old: old, new: new, in: from, to, described.record(named: new.name), hasSameRows: false,
          given.fields[new.name] ?? [:], move.origins, share: move.share, move: move, &faults))
    }
    var gathered: [RecordChange] = []
    for change in records {
      for (move, source) in change.gatherings {
        guard let made = source.gathering else { continue }
        let name = made.record.name
        gathered.append(
          try RecordChange(
            old: change.old, new: made.record, in: from, to, described.record(named: name),
            hasSameRows: false,
            (given.fields[name] ?? [:]).merging([made.key.name: .element(source)]) { $1 }, nil,
            share: change.share, move: move, &faults))
      }
    }
    let changed = Set((records + moves + gathered).map(\.new.name))
    for name in given.fields.keys.sortedRarely() where !changed.contains(name) {
      faults.append(
        MigrationFault(
          record: name, field: nil,
          reason: "the step updates it, but not both versions have it; name it as it is afterwards")
      )
    }
    for name in given.transformed.sortedRarely() where from.place(named: name) == nil {
      faults.append(
        MigrationFault(
          record: name, field: nil,
          reason:
            "the step transforms it, but the version before has no such record, nor one kind of that name"
        ))
    }
    for (record, field) in placing.unknown {
      faults.append(
        MigrationFault(
          record: record, field: field,
          reason:
            "on the way it is a part of an optional composite for a time, and a step over several versions cannot tell whether its value is dropped there; take the versions one by one"
        ))
    }
    for change in between.flatMap(\.gathered) {
      guard let record = to.record(number: change.new.number) else { continue }
      faults.append(
        MigrationFault(
          record: record.name, field: nil,
          reason:
            "on the way its records are made for lists of \(change.old.name), which a step over several versions does not do; take the versions one by one"
        ))
    }
    for (record, field, derivation) in Self.computedOnTheWay(to: to, between: between)
    where given.fields[record.name]?[field.name] == nil && !whole.contains(record.number) {
      faults.append(
        MigrationFault(
          record: record.name, field: field.name,
          reason:
            "on the way it is the \(derivation), which a step over several versions does not compute; take the versions one by one, or say in the step how it is made"
        ))
    }
    for (place, other) in transformed.pairs where other.contains(place) {
      faults.append(
        MigrationFault(
          record: place.name, field: nil,
          reason:
            "the step transforms it, and \(other.name), whose records these are, too; leave one of them out"
        ))
    }
    self.init(
      from: from, to: to,
      added: to.records.filter { from.record(number: $0.number) == nil },
      removed: from.records.filter {
        to.record(number: $0.number) == nil && !whole.contains($0.number)
      },
      records: records, transformed: transformed, faults: faults, moves: moves, gathered: gathered)
  }
}

extension [RecordPlace] {
  /// Each with each other, in both orders.
  fileprivate var pairs: [(RecordPlace, RecordPlace)] {
    flatMap { one in filter { $0 != one }.map { (one, $0) } }
  }
}

extension RecordChange {
  fileprivate init(
    old: RecordSchema, new: RecordSchema, in schema: Schema, _ next: Schema,
    _ described: DescribedRecord?, hasSameRows: Bool, _ given: [String: FieldSource],
    _ origins: FieldOrigins?,
    share: KindShare?, move: KindMove?, _ faults: inout [MigrationFault]
  ) throws(StoreError) {
    var fields: [FieldChange] = []
    var sources: [UInt32: FieldSource] = [:]
    let needs = NeededValues(from: old, to: new, share, move)
    var isPutTogether = move != nil || !new.hasKeys(of: old)
    let isKey = Set(new.primaryKey.map(\.field))
    let filled = Set(new.fields.filter { given[$0.name] != nil }.flatMap { new.composites($0) })
    for field in new.fields {
      let declared = described?.field(named: field.name)
      var source = given[field.name]
      if case .field(let name) = source, let path = schema.path(name, from: old) {
        source = .related(path)
      }
      let before: FieldSchema? =
        if case .related = source { nil } else if case .field(let name) = source {
          old.field(named: name)
        } else if let move {
          move.fields[field.number].flatMap { old.field($0) }
        } else {
          old.field(field.number).flatMap { field.isComputedAgain(since: $0) ? nil : $0 }
        }
      if let before, case .element(let element) = source, element.list == nil {
        source = .element(
          ElementSource(element.choice, of: before, as: field, from: schema, to: next))
      }
      let canBeNull = needs.canBeNull(field)
      // A default acts where the field is new, becomes required, or is given.
      let isWanted =
        source != nil
        || before.map { needs.canLack($0, as: field) && !canBeNull } ?? true
      var missing =
        isWanted ? declared?.migrationDefault ?? declared?.defaultValue ?? .null : .null
      if missing == .null, field.isEmptyList(since: before, canBeNull: canBeNull) {
        missing = .array([])
      }
      if isWanted, missing == .null, !new.primaryKey.contains(where: { $0.field == field.number }),
        let underived = field.underived
      {
        missing = underived
      }
      if source == nil, let origins { missing = origins.fields[field.number]?.missing ?? .null }
      if before == nil, move?.present.contains(field.number) ?? false { missing = .composite([:]) }
      let change = FieldChange(new: field, old: before, missing: missing)
      let whole = new.composites(around: field).first { given[$0.name]?.makesWhole ?? false }
      if source == nil, whole == nil {
        let choice: ElementChoice? =
          if let origins { origins.fields[field.number]?.choice } else { declared?.choice }
        source = change.inferredSource(
          choice, isPassed: origins != nil, from: schema, to: next)
      }
      let isLeftOut = needs.leavesOut(field)
      let reason: String? =
        if isLeftOut { nil } else if let whole {
          change.fault(withinGiven: whole.name, source)
        } else {
          source.map { change.fault(of: $0, in: old) } ?? change.fault(old, canBeNull: canBeNull)
            ?? change.fault(in: new, filled, given)
        }
      if let reason = field.faultAsDerived(given[field.name]) ?? reason,
        move == nil || source != nil || !isKey.contains(field.number)
      {
        let place = move == nil ? "" : "for the records of \(old.name), "
        faults.append(MigrationFault(record: new.name, field: field.name, reason: place + reason))
      }
      if let source {
        sources[field.number] = source
        isPutTogether =
          isPutTogether || isKey.contains(field.number) || field.type == .composite
          || new.composites(field).contains { new.field($0)?.isOptional ?? false }
        isPutTogether = isPutTogether || source.setsAside || source.readsVersion
        if case .element(let element) = source, element.gathering != nil { isPutTogether = true }
      }
      if change.movesValues { isPutTogether = true }
      fields.append(change)
    }
    // What a closure makes of a record, or for it, may lie outside of rows.
    if !given.isEmpty, (old.fields + new.fields).contains(where: \.type.isExternal) {
      isPutTogether = true
    }
    if let move, let reason = new.keyFault(of: move, from: old, given) {
      faults.append(MigrationFault(record: old.name, field: nil, reason: reason))
    }
    for name in given.keys.sortedRarely() where new.field(named: name) == nil {
      let fault = MigrationFault(
        record: new.name, field: name, reason: "the step gives it, but there is no such field")
      if !faults.contains(fault) { faults.append(fault) }
    }
    self.old = old
    self.new = new
    self.fields = fields
    self.sources = sources
    self.share = share
    self.move = move
    kind = isPutTogether ? .records : .same
    if kind == .same,
      !hasSameRows || !sources.isEmpty || narrowsKinds || fields.contains(where: fillsNulls)
    {
      kind = .rows
    }
  }
}

extension RecordChange {
  /// The lists for which new records are made, as the move of their elements.
  fileprivate var gatherings: [(move: KindMove, source: ElementSource)] {
    fields.compactMap { field in
      guard case .element(let source)? = sources[field.new.number],
        let made = source.gathering, let list = field.old?.number
      else { return nil }
      let move = KindMove(
        source: old.number, kind: nil, target: made.record.number, targetKind: nil,
        fields: [made.key.number: list, made.list.number: list], present: [],
        neededList: made.isOfEmpty ? nil : list)
      return (move, source)
    }
  }

  /// True if a record could be of the kinds that it is of, or of none, and cannot be any more.
  var narrowsKinds: Bool { new.narrowsKinds(of: old) }
}

extension RecordSchema {
  fileprivate func narrowsKinds(of old: RecordSchema) -> Bool {
    // A composite that becomes a kind may be there beside another.
    if kinds.contains(where: { old.field($0.composite) != nil && old.kind($0.composite) == nil }) {
      return true
    }
    let abstract: [UInt32?] =
      (isAbstract ? [nil] : []) + kinds.filter(\.isAbstract).map { .some($0.composite) }
    return abstract.contains { parent in
      guard let parent else { return !old.isAbstract || losesKind(of: nil, old) }
      guard let before = old.kind(parent) else { return old.field(parent) != nil }
      return !before.isAbstract || losesKind(of: parent, old)
    }
  }

  private func losesKind(of parent: UInt32?, _ old: RecordSchema) -> Bool {
    let now = Set(kinds(of: parent).map(\.composite))
    return old.kinds(of: parent).contains { !now.contains($0.composite) }
  }
}

extension FieldChange {
  /// True if values go out of rows that were in them, or the other way round.
  fileprivate var movesValues: Bool {
    guard let old else { return new.type.isExternal && missing != .null }
    return old.type.isExternal != new.type.isExternal
  }

  /// Why it cannot be inferred; nil if it can.
  fileprivate func fault(_ oldRecord: RecordSchema, canBeNull: Bool) -> String? {
    guard let old else {
      let isWithinNew = new.composite.map { oldRecord.field($0) == nil } ?? false
      if canBeNull || missing != .null || new.type == .composite { return nil }
      return isWithinNew
        ? "it is a part of what is new, is not optional and has no default; give it one"
        : "it is new, not optional, and has no default; give it one by MigrationInfo(default:), or say"
          + " in a step how it is computed"
    }
    if becomesList, let least = new.reference?.bounds?.least, least > 1 {
      return
        "each value becomes a list of one, and at least \(least) have to be in it; say in a step which"
    }
    if old.type.fits(new.type) { return nil }
    if let advice = adviceWithoutConversion(from: old) { return advice }
    return
      "it was \(old.type) and is \(new.type), which loses values; say in a step how it is made, as"
      + " UpdateField(\"\(new.name)\", converting: .refuse)"
  }

  /// Why it cannot be as a step gives other parts of its composites values; nil if it can.
  ///
  /// - Parameters:
  ///   - filled: The composites of fields whose values are given.
  ///   - given: By the fields' names.
  fileprivate func fault(
    in record: RecordSchema, _ filled: Set<UInt32>, _ given: [String: FieldSource]
  ) -> String? {
    guard old == nil, !new.isOptional, missing == .null, new.type != .composite else { return nil }
    for number in record.composites(new) {
      guard let composite = record.field(number), given[composite.name] == nil else { return nil }
      guard composite.isOptional else { continue }
      return filled.contains(number)
        ? "it is a part of \(composite.name), which the step gives a value, is not optional and has no"
          + " default; give it one, or say in the step how it is computed" : nil
    }
    return nil
  }

  /// Advice for a field whose old type has no value that converts to the new one; nil if some values do.
  private func adviceWithoutConversion(from old: FieldSchema) -> String? {
    let canConvert =
      switch (old.type, new.type) {
      case (.composite, _), (_, .composite), (_, .transformable): false
      default: true
      }
    if canConvert { return nil }
    let value = new.type == .composite ? "FieldValue.composite([…])" : "…"
    return
      "it was \(old.type) and is \(new.type), to which nothing converts; say in a step how the whole value is made, as"
      + " UpdateField(\"\(new.name)\", by: { old in \(value) })"
      + (new.type == .composite ? ", and leave its parts out" : "")
  }

  /// Why a part cannot be given beside the composite it is in; nil if only the composite is.
  fileprivate func fault(withinGiven composite: String, _ source: FieldSource?) -> String? {
    source == nil
      ? nil
      : "the step gives the whole of \(composite), and this part of it too; leave one of them out"
  }

  /// Why a step cannot make it so; nil if it can.
  fileprivate func fault(of source: FieldSource, in oldRecord: RecordSchema) -> String? {
    if let value = source.stated, !value.fits(new.type) {
      return "the step gives it \(value), which is not \(new.type)"
    }
    switch source {
    case .record, .version, .distinctElements: return nil
    case .element(let source):
      guard let old else { return "one element of it is chosen, but it is new" }
      guard case .array(of: let element) = old.type else {
        return "one element of it is chosen, but it was \(old.type)"
      }
      if let fault = source.fault { return fault }
      if source.gathering != nil || ColumnType.scalar(element).fits(new.type) { return nil }
      return source.fault(of: oldRecord.name)
        ?? "one element of it is chosen, which is \(element) and not \(new.type)"
    case .related(let path):
      return path.field.type.fits(new.type)
        ? nil : "it is pulled from \(path.name), which is \(path.field.type) and not \(new.type)"
    case .field(let name):
      guard let old else {
        return oldRecord.leadsToSeveral(by: name)
          ? "it is pulled from \(name), which leads to several records; say in the step which is meant, as"
            + " UpdateField(\"\(new.name)\", from: { old, before in … })"
          : "it is pulled from \(name), which the version before does not have"
      }
      if old.type.fits(new.type) { return nil }
      return "it is pulled from \(name), which is \(old.type) and not \(new.type)"
    case .constant(let value):
      return value == .null && missing == .null && !new.isOptional
        ? "the step gives it null, but it is not optional and has no default" : nil
    case .value, .conversion:
      guard let old else {
        return "it is made of its old value, but is new; compute it from the record"
      }
      guard case .conversion = source, old.type.stored != new.type.stored else { return nil }
      return adviceWithoutConversion(from: old)
    }
  }
}

extension FieldSource {
  /// The value that the step itself has in it.
  fileprivate var stated: FieldValue? {
    switch self {
    case .constant(let value), .conversion(.replace(let value)): value
    default: nil
    }
  }
}

extension FieldValue {
  /// Returns true if a column of a type takes it, as far as that can be told of a value by itself.
  fileprivate func fits(_ type: ColumnType) -> Bool {
    switch type {
    case _ where self == .null: true
    case .composite: if case .composite = self { true } else { false }
    case .transformable: if case .data = self { true } else { false }
    default: converted(to: type) != nil
    }
  }
}

extension FieldSchema {
  /// Returns true if it is an empty list without a value: if it is a new list of references, or was a single value.
  fileprivate func isEmptyList(since old: FieldSchema?, canBeNull: Bool) -> Bool {
    guard case .array = type else { return false }
    let mayBeEmpty = reference?.bounds.map { $0.least == 0 } ?? true
    if let old { return !isOptional && mayBeEmpty && old.type.isElement(of: type) }
    return reference != nil && !canBeNull && mayBeEmpty
  }

  /// Why a step cannot give it values; nil if it does not, or can.
  fileprivate func faultAsDerived(_ source: FieldSource?) -> String? {
    guard let derivation, source != nil, derivation.kind.isComputed else { return nil }
    return
      "the step gives it values, but the store computes it, as the \(derivation); leave it out of the step"
  }
}

extension FieldChange {
  /// True if it was a part of another composite, or of none.
  var isMoved: Bool { old.map { $0.composite != new.composite } ?? false }

  /// True if each value becomes the one element of a list.
  var becomesList: Bool { old?.type.isElement(of: new.type) ?? false }

  /// True if it led to records of another type.
  private var leadsElsewhere: Bool {
    guard let before = old?.reference, let now = new.reference else { return false }
    return before.record != now.record
  }

  /// The source of a field that a step does not give, and whose values follow, but not of each record; nil of others.
  ///
  /// - Parameters:
  ///   - choice: The element of a list that is kept, as far as that is stated.
  ///   - isPassed: True if a version between states it, so that the field may be a list again.
  fileprivate func inferredSource(
    _ choice: ElementChoice?, isPassed: Bool, from schema: Schema, to next: Schema
  ) -> FieldSource? {
    guard let old else { return nil }
    if case .array(of: let element) = old.type {
      let choice = choice ?? .only
      let isChosen =
        switch new.type {
        case .scalar(let type):
          element == type || element.widens(to: type) || choice.isOfAll && new.reference != nil
            || leadsElsewhere
        case .array: isPassed && choice != .only && old.type.fits(new.type)
        default: false
        }
      if isChosen {
        return .element(
          ElementSource(
            choice, of: old, as: new, from: schema, to: next, isPassed: isPassed))
      }
    }
    let isNewList = new.type.scalar == nil && (new.reference?.isChecked ?? false)
    // What was the list of a checked reference has each record once, and so has a list of one.
    guard isNewList, old.type.scalar == nil, !(old.reference?.isChecked ?? false) else {
      return nil
    }
    return .distinctElements
  }
}

extension RecordSchema {
  /// The composites that a field is a part of, from the innermost.
  func composites(around field: FieldSchema) -> [FieldSchema] {
    var found: [FieldSchema] = []
    var number = field.composite
    while let composite = number.flatMap({ self.field($0) }) {
      found.append(composite)
      number = composite.composite
    }
    return found
  }

  /// Returns true if its keys are the same bytes.
  fileprivate func hasKeys(of old: RecordSchema) -> Bool {
    guard primaryKey == old.primaryKey else { return false }
    return primaryKey.allSatisfy { field($0.field)?.type == old.field($0.field)?.type }
  }
}

extension RowLayout {
  /// Returns true if rows of the other are rows of this: every column in the same place.
  fileprivate func hasRows(of other: RowLayout) -> Bool {
    columns.count == other.columns.count
      && zip(columns, other.columns).allSatisfy { one, other in
        one.field.number == other.field.number && one.field.type.stored == other.field.type.stored
          && one.place == other.place && one.nullBits == other.nullBits
      }
  }
}
