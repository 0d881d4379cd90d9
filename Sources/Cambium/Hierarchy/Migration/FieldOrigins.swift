/// The origins of the values of records that go through several changes, one behind the other, and are of some kinds.
///
///     version 1    trip.city?                 ┐  of a record that is no tour, the value is dropped in version 2, and
///     version 2    trip.tour.city?            │  in version 3 its city is the default of the step that leads there
///     version 3    trip.city  default "none"  ┘
struct FieldOrigins {
  struct Origin: Hashable {
    /// The number of the field that it was in the first version; nil if it is new, or its value was dropped in between.
    let field: UInt32?
    /// The value for records that have none.
    let missing: FieldValue
    /// Which of its elements was kept where it first became a single value; nil if it never did.
    let choice: ElementChoice?
  }

  /// By the numbers of the last version's fields. Those of kinds that no record of these has are left out.
  private(set) var fields: [UInt32: Origin] = [:]
  /// The names of fields that were parts of optional composites in between: only a record itself says whether their values
  /// were dropped there.
  private(set) var unknown: [String] = []

  /// - Parameters:
  ///   - chain: The changes, at least one.
  ///   - kind: The composite of the innermost kind that the records are of; nil for those of no kind.
  /// - Throws: never for defaults, which are in no blobs.
  init(through chain: [RecordChange], of kind: UInt32?) throws(StoreError) {
    guard let first = chain.first, let last = chain.last else { return }
    var lines = [KindLine(kind, of: first.old)]
    for change in chain { lines.append(lines[lines.count - 1].after(change)) }
    for field in last.new.fields where lines[chain.count].has(field) {
      let path = chain.path(to: field)
      guard let (start, source) = path.first else { continue }
      var isKept = source.old.map { lines[start].has($0) } ?? false
      var (missing, isWithin) = (FieldValue.null, false)
      for (step, change) in path {
        guard lines[step + 1].has(change.new) else {
          (missing, isKept) = (.null, false)
          continue
        }
        missing = try missing.carried(
          to: change.new.type, choosing: chain[step].choice(of: change))
        if missing == .null { missing = change.missing }
        guard isKept, chain[step].movesWithin(change) else { continue }
        if isWithin { unknown.append(field.name) }
        isWithin = lines[step + 1].isWithinOptional(change.new)
      }
      let choices = path.lazy.compactMap { chain[$0.step].choice(of: $0.change) }
      fields[field.number] = Origin(
        field: isKept ? source.old?.number : nil, missing: missing, choice: choices.first)
    }
  }

  /// Returns true if those of records of another kind differ in no field.
  func agree(with other: FieldOrigins) -> Bool {
    other.fields.allSatisfy { fields[$0.key] == nil || fields[$0.key] == $0.value }
  }

  /// Adds those of records of another kind, with which they agree.
  mutating func merge(_ other: FieldOrigins) {
    fields.merge(other.fields) { one, _ in one }
    unknown += other.unknown
  }

  /// Returns true if each field's values are those of the field that had its number.
  func keepNumbers(of old: RecordSchema) -> Bool {
    fields.allSatisfy { $0.value.field == old.field($0.key)?.number }
  }
}

/// The kinds that some records are of in one version, as far as the kind that they had in the first version tells.
private struct KindLine {
  let record: RecordSchema
  /// The composite of the innermost kind; nil for records of none.
  let kind: UInt32?
  /// The composites of the kinds of which the records are known to be or not to be. A composite that has become a kind on the
  /// way is none of them: records may be of it.
  private let known: Set<UInt32>
  private let line: Set<UInt32>

  init(_ kind: UInt32?, of record: RecordSchema) {
    self.init(kind, record, known: Set(record.kinds.map(\.composite)))
  }

  private init(_ kind: UInt32?, _ record: RecordSchema, known: Set<UInt32>) {
    self.record = record
    self.kind = kind
    self.known = known
    line = Set(kind.flatMap { record.field($0) }.map { [$0.number] + record.composites($0) } ?? [])
  }

  func after(_ change: RecordChange) -> KindLine {
    let known = change.fields.filter { field in
      change.new.kind(field.new.number) != nil
        && field.old.map { self.known.contains($0.number) } ?? true
    }
    return KindLine(
      change.kind(after: kind), change.new, known: Set(known.map(\.new.number)))
  }

  /// Returns true if the records may have a field: if they are of each kind that it is a part of, or stands for.
  func has(_ field: FieldSchema) -> Bool {
    ([field.number] + record.composites(field)).allSatisfy {
      !known.contains($0) || line.contains($0)
    }
  }

  /// Returns true if a field is a part of a composite that some of the records have, and others do not.
  func isWithinOptional(_ field: FieldSchema) -> Bool {
    record.composites(around: field).contains { $0.isOptional && !known.contains($0.number) }
  }
}

extension [RecordChange] {
  /// Returns the changes of a field of the last version, from the first version that has it, with their places.
  fileprivate func path(to field: FieldSchema) -> [(step: Int, change: FieldChange)] {
    var path: [(Int, FieldChange)] = []
    var number: UInt32? = field.number
    for (step, change) in enumerated().reversed() {
      guard let made = change.fields.first(where: { $0.new.number == number }) else { break }
      path.append((step, made))
      number = made.old?.number
    }
    return path.reversed()
  }
}

extension RecordChange {
  /// Returns which element of a field's old value is kept; nil if it is not one.
  fileprivate func choice(of field: FieldChange) -> ElementChoice? {
    if case .element(let source)? = sources[field.new.number] { source.choice } else { nil }
  }

  /// Returns true if a field comes to be a part of another composite, and not only that composite of another record.
  fileprivate func movesWithin(_ field: FieldChange) -> Bool {
    let composite = field.new.composite.flatMap { new.field($0) }
    return composite.flatMap(needs.origin) != field.old?.composite
  }

  /// Returns the innermost kind of a record afterwards.
  func kind(after kind: UInt32?) -> UInt32? {
    var next = kind
    while let number = next {
      if let move, move.kind == number { return move.targetKind }
      if let field = fields.first(where: { $0.old?.number == number })?.new,
        new.kind(field.number) != nil
      {
        return field.number
      }
      next = old.field(number)?.composite
    }
    return move?.targetKind
  }
}
