/// A record of a version, or a kind of it: the place that one type stands for.
struct TypePlace: Hashable, Sendable {
  let record: String
  /// The name of the kind's composite; nil for the record itself.
  let kind: String?

  /// The whole name: a kind's after that of its record and a dot.
  var name: String { kind.map { "\(record).\($0)" } ?? record }

  fileprivate var lastName: String {
    guard let kind else { return record }
    return kind.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(kind[kind.index(after: $0)...]) }
      ?? kind
  }

  /// The kind itself, and those in which it is, to the record.
  fileprivate var line: [TypePlace] {
    var line: [TypePlace] = []
    var next: TypePlace? = self
    while let place = next {
      line.append(place)
      next = place.parent
    }
    return line
  }

  /// The kind in which it is, or the record; nil for a record.
  fileprivate var parent: TypePlace? {
    guard let kind else { return nil }
    let end = kind.utf8.lastIndex(of: UInt8(ascii: "."))
    return TypePlace(record: record, kind: end.map { String(kind[..<$0]) })
  }
}

/// Records of one kind, or all of a record, that are kept among those of another record, or of another kind, from one
/// version on.
struct NamedMove: Sendable {
  let source: TypePlace
  let target: TypePlace
  /// By the names of the fields that the target's record has, the names of those that the source's record had.
  let fields: [String: String]
  /// The composites of the kinds that each of the records is of afterwards.
  let present: Set<String>
}

/// The names of a version: enough to find out which kinds and records were others before.
struct VersionOutline {
  struct Record {
    let name: String
    var renamingID: String?
    let key: [String]
    let fields: [Field]

    func field(named name: String) -> Field? { fields.first { $0.name == name } }
  }

  struct Field {
    let name: String
    let lastName: String
    let composite: String?
    var renamingID: String?
    var role = DescribedField.Role.field
  }

  let records: [Record]

  func record(named name: String) -> Record? { records.first { $0.name == name } }

  /// All records and kinds, with the former name of each.
  fileprivate var types: [(place: TypePlace, renamingID: String?)] {
    records.flatMap { record in
      [(TypePlace(record: record.name, kind: nil), record.renamingID)]
        + record.fields.filter { $0.role == .kind }
        .map { (TypePlace(record: record.name, kind: $0.name), $0.renamingID) }
    }
  }

  var hasKinds: Bool { records.contains { $0.fields.contains { $0.role == .kind } } }
}

/// The records and kinds of a version that were kinds or records elsewhere in the one before: a record enters a hierarchy or
/// leaves it, a parent is made over several records, a kind gets another parent.
///
/// A kind without an ancestor in its own record, or a record without one, is what was called so and is nothing else any
/// more. Its fields are those that had their names in the kind, in its parents, or in the record.
struct KindOrigins {
  private let old: VersionOutline
  private let new: VersionOutline
  /// The names that records had, by those that they have.
  private let ancestors: [String: String]
  /// The names that the fields of such records had.
  private let lineages: [String: [String: String]]
  private var taken: Set<TypePlace> = []
  private var origins: [TypePlace: TypePlace] = [:]
  /// The records and fields whose `renamingID` was followed here, or was followed by the version before.
  private var explained: Set<TypePlace> = []
  private(set) var moves: [NamedMove] = []
  /// The first record or kind for which several come into question.
  private(set) var ambiguity: (place: TypePlace, reason: String)?

  init(
    _ old: VersionOutline, _ new: VersionOutline, ancestors: [String: String],
    lineages: [String: [String: String]]
  ) {
    self.old = old
    self.new = new
    self.ancestors = ancestors
    self.lineages = lineages
    guard old.hasKinds || new.hasKinds else { return }
    for (record, before) in ancestors {
      taken.insert(TypePlace(record: before, kind: nil))
      for field in (lineages[record] ?? [:]).values {
        taken.insert(TypePlace(record: before, kind: field))
      }
    }
    find()
    for type in new.types {
      guard let source = origins[type.place], !isLed(type.place, from: source) else { continue }
      moves.append(move(from: source, to: type.place))
    }
  }

  /// Returns true if the `renamingID` of a record or a field is not one of its own record's.
  func explains(_ record: String, _ field: String?) -> Bool {
    explained.contains(TypePlace(record: record, kind: field))
  }

  /// Returns true if a record was a kind that is called so.
  static func isKind(_ name: String, of version: VersionOutline) -> Bool {
    version.types.contains { $0.place.kind != nil && $0.place.answers(to: name) }
  }
}

extension TypePlace {
  /// Returns true if it is called so: by its whole name, or by a part of it.
  fileprivate func answers(to name: String) -> Bool {
    self.name == name || kind == name || lastName == name
  }
}

// MARK: Origins

extension KindOrigins {
  private mutating func find() {
    let stated = Set(
      old.types.compactMap { type in type.renamingID.map { [type.place.lastName, $0] } })
    let open = new.types.filter { type in
      guard let kind = type.place.kind else { return ancestors[type.place.record] == nil }
      return lineages[type.place.record]?[kind] == nil
    }
    var unstated: [TypePlace] = []
    for (place, renamingID) in open {
      guard let name = renamingID else {
        unstated.append(place)
        continue
      }
      // The version before said the same: it has happened.
      if stated.contains([place.lastName, name]) {
        explained.insert(place)
        unstated.append(place)
        continue
      }
      guard let source = source(of: place, called: name) else { continue }
      explained.insert(place)
      claim(source, for: place)
    }
    var wanted: [TypePlace: [TypePlace]] = [:]
    for place in unstated {
      if let source = source(of: place, called: place.lastName) {
        wanted[source, default: []].append(place)
      }
    }
    for place in unstated {
      guard let source = source(of: place, called: place.lastName) else { continue }
      if let others = wanted[source], others.count > 1 {
        note(
          place,
          "\(source.name) may have become \(others.map(\.name).joined(separator: " or ")); say which by a renamingID"
        )
      } else {
        claim(source, for: place)
      }
    }
  }

  private mutating func note(_ place: TypePlace, _ reason: String) {
    if ambiguity == nil { ambiguity = (place, reason) }
  }

  private mutating func claim(_ source: TypePlace, for place: TypePlace) {
    origins[place] = source
    taken.insert(source)
  }

  /// Returns the record or kind of the version before that is called so and is nothing else now; nil if there is none.
  private mutating func source(of place: TypePlace, called name: String) -> TypePlace? {
    let free = old.types.map(\.place).filter { other in
      // A record that was another one is its descendant.
      !taken.contains(other) && other.answers(to: name) && (place.kind != nil || other.kind != nil)
    }
    if free.count < 2 { return free.first }
    if let whole = free.first(where: { $0.name == name }) { return whole }
    note(
      place,
      "\(free.map(\.name).joined(separator: " and ")) were called \(name) before; say by a renamingID which of them it"
        + " was")
    return nil
  }

  /// Returns true if the records of a kind go where those of its parent go.
  private func isLed(_ place: TypePlace, from source: TypePlace) -> Bool {
    guard let parent = place.parent, let other = source.parent else { return false }
    return origins[parent] == other
  }
}

// MARK: Fields

extension KindOrigins {
  private mutating func move(from source: TypePlace, to target: TypePlace) -> NamedMove {
    guard let before = old.record(named: source.record),
      let after = new.record(named: target.record)
    else { return NamedMove(source: source, target: target, fields: [:], present: []) }
    let around = target.line
    var tracing = FieldTracing(before, after)
    if ancestors[target.record] == source.record { tracing.names = lineages[target.record] ?? [:] }
    let outer = Set(source.line.compactMap(\.kind))
    for field in after.fields where field.role == .kind {
      let place = TypePlace(record: target.record, kind: field.name)
      if around.contains(place) {
        tracing.scopes[field.name] = source
        if let kind = tracing.names[field.name], outer.contains(kind) { continue }
        tracing.forget(field.name)
      } else if let origin = origins[place], origin.record == source.record {
        tracing.scopes[field.name] = origin
        tracing.names[field.name] = origin.kind
      } else {
        tracing.forget(field.name)
      }
    }
    tracing.scopes[""] = source
    tracing.trace()
    for field in tracing.explained {
      explained.insert(TypePlace(record: target.record, kind: field))
    }
    return NamedMove(
      source: source, target: target, fields: tracing.names, present: Set(around.compactMap(\.kind))
    )
  }
}

/// Finds the names that the fields of records had that were of another record or kind.
private struct FieldTracing {
  private let old: VersionOutline.Record
  private let new: VersionOutline.Record
  /// By the composites of kinds, and the empty name for the record, where their fields were.
  var scopes: [String: TypePlace] = [:]
  var names: [String: String] = [:]
  private(set) var explained: Set<String> = []

  init(_ old: VersionOutline.Record, _ new: VersionOutline.Record) {
    self.old = old
    self.new = new
  }

  /// Leaves out a kind of which the records were not, and its fields.
  mutating func forget(_ kind: String) {
    names = names.filter { $0.key != kind && !$0.key.utf8.starts(with: (kind + ".").utf8) }
  }

  mutating func trace() {
    traceKey()
    var taken = Set(names.values)
    // Fields of the innermost kinds first: those of the record take the remaining ones.
    let fields = new.fields.filter { $0.role == .field }
      .sortedRarely { ($0.composite?.utf8.count ?? 0) > ($1.composite?.utf8.count ?? 0) }
    for isStated in [true, false] {
      for field in fields where names[field.name] == nil {
        guard let scopes = prefixes(of: field) else { continue }
        if isStated {
          guard let name = stated(field, scopes) else { continue }
          if taken.insert(name).inserted { names[field.name] = name }
        } else if let name = found(field.lastName, scopes), taken.insert(name).inserted {
          names[field.name] = name
        }
      }
    }
    // The fields of a composite go with it.
    for field in fields.reversed() where names[field.name] == nil {
      guard let composite = field.composite, let before = names[composite],
        new.field(named: composite)?.role == .field
      else { continue }
      names[field.name] = found(field.lastName, [before + "."])
    }
  }

  /// Records are recognized by their keys, whatever these are called; by names only if all of them are the same.
  private mutating func traceKey() {
    guard old.key.count == new.key.count else { return }
    let before = Set(old.key) == Set(new.key) ? new.key : old.key
    for (field, before) in zip(new.key, before) where names[field] == nil {
      names[field] = before
    }
  }

  /// The prefixes that the name of a field may have had; nil if it is a part of a composite or of a kind that is new.
  private func prefixes(of field: VersionOutline.Field) -> [String]? {
    scopes[field.composite ?? ""]?.line.map { place in place.kind.map { $0 + "." } ?? "" }
  }

  private func found(_ name: String, _ prefixes: [String]) -> String? {
    prefixes.lazy.map { $0 + name }.first { old.field(named: $0)?.role == .field }
  }

  private mutating func stated(
    _ field: VersionOutline.Field, _ prefixes: [String]
  ) -> String? {
    guard let name = field.renamingID else { return nil }
    if let same = found(field.lastName, prefixes), old.field(named: same)?.renamingID == name {
      explained.insert(field.name)
      return nil
    }
    var before = found(name, prefixes)
    if before == nil, name.utf8.starts(with: (old.name + ".").utf8) {
      let rest = String(name.dropFirst(old.name.count + 1))
      before = found(rest, prefixes + [""])
    }
    if before != nil { explained.insert(field.name) }
    return before
  }
}

// MARK: Outlines

extension VersionOutline {
  init(_ version: DescribedVersion) {
    records = version.records.map { record in
      Record(
        name: record.name, renamingID: record.renamingID, key: record.primaryKey.map(\.name),
        fields: record.fields.map { field in
          Field(
            name: field.name, lastName: field.lastName, composite: field.composite,
            renamingID: field.renamingID, role: field.role)
        })
    }
  }

  init(_ schema: Schema) {
    records = schema.records.map { record in
      Record(
        name: record.name, key: record.primaryKey.map { record.name(of: $0) },
        fields: record.fields.map { field in
          Field(
            name: field.name, lastName: field.lastName,
            composite: field.composite.flatMap { record.field($0)?.name },
            role: record.kind(field.number) != nil
              ? .kind : record.isMarker(field.number) ? .marker : .field)
        })
    }
  }
}

extension KindOrigins {
  /// The records and kinds of an older version in a newer one, by names and numbers alone: for the path back, of which
  /// no description says anything.
  init(back new: Schema, since old: Schema) {
    var ancestors: [String: String] = [:]
    var lineages: [String: [String: String]] = [:]
    let inherited = Self.inherited(back: new, since: old)
    for record in new.records where !inherited.contains(record.number) {
      guard let before = old.record(number: record.number) else { continue }
      ancestors[record.name] = before.name
      for field in record.fields {
        lineages[record.name, default: [:]][field.name] = before.field(field.number)?.name
      }
    }
    self.init(VersionOutline(old), VersionOutline(new), ancestors: ancestors, lineages: lineages)
  }

  /// Returns the numbers of records that were kinds of each other: one has all records of the other, and its number.
  static func inherited(back new: Schema, since old: Schema) -> Set<UInt32> {
    let inherited = new.records.filter { record in
      guard let before = old.record(number: record.number), before.name != record.name else {
        return false
      }
      return before.kind(named: record.name) != nil || record.kind(named: before.name) != nil
    }
    return Set(inherited.map(\.number))
  }
}
