// What a step does to hierarchies: which records are kept among those of another record or kind from then on.

/// Those records of a type that are of some of its kinds.
struct KindShare: Hashable, Sendable {
  /// The composites of the innermost kinds that they are of.
  var kinds: Set<UInt32> = []
  /// True if those of no kind are among them.
  var hasPlain = false

  func contains(_ kind: UInt32?) -> Bool { kind.map { kinds.contains($0) } ?? hasPlain }

  mutating func insert(_ kind: UInt32?) {
    if let kind { kinds.insert(kind) } else { hasPlain = true }
  }
}

/// Records that are kept elsewhere from one version on.
struct KindMove: Sendable {
  /// The number of the record among whose records they were, and of the composite of the outermost kind that they were of.
  let source: UInt32
  let kind: UInt32?
  /// The same of the record that they go to.
  let target: UInt32
  let targetKind: UInt32?
  /// By the numbers of new fields, those of the fields that they were.
  let fields: [UInt32: UInt32]
  /// The composites that all of them have, since they are of these kinds.
  let present: Set<UInt32>
  var share = KindShare()
  /// Over several versions: where the values come from.
  var origins: FieldOrigins? = nil
  /// The number of the list whose elements the new records have, if none is made without any.
  var neededList: UInt32? = nil

  /// False if the records stay, and are moved only as values of theirs are not those of the others.
  var changesPlace: Bool { source != target || kind != targetKind }
}

/// Where a step leaves the records of each kind.
struct KindPlacing {
  private(set) var moves: [KindMove] = []
  /// The records that stay, of types of which others do not; by number.
  private(set) var shares: [UInt32: KindShare] = [:]
  /// Over several versions: where the values of records that stay come from, by the number of the record.
  private(set) var origins: [UInt32: FieldOrigins] = [:]
  private let from: Schema
  private let to: Schema
  /// The numbers that records of the new version have of others, whose records go among theirs.
  private var inherited: Set<UInt32> = []

  /// - Parameters:
  ///   - described: The version that `to` is the schema of.
  ///   - between: The steps from version to version that the step takes the place of.
  ///   - transformed: The records and kinds whose new records a closure makes.
  /// - Throws: never for defaults, which are in no blobs.
  init(
    from: Schema, to: Schema, _ described: DescribedVersion, _ between: [SchemaChange],
    except transformed: [RecordPlace]
  ) throws(StoreError) {
    (self.from, self.to) = (from, to)
    let whole = Set(transformed.filter { $0.kind == nil }.map(\.record.name))
    if !between.isEmpty {
      for record in from.records where !whole.contains(record.name) {
        try follow(record, through: between)
      }
    } else if (from.records + to.records).contains(where: \.hasKinds) {
      let isBack = to.version < from.version
      let named = isBack ? KindOrigins(back: to, since: from).moves : described.moves
      inherited =
        isBack
        ? KindOrigins.inherited(back: to, since: from)
        : Set(described.successors.compactMap { to.record(named: $0)?.number })
      for move in named where !whole.contains(move.source.record) { add(move) }
      share()
    }
    for place in transformed where place.kind != nil { leaveOut(place) }
  }

  /// Takes out the records of a kind: a closure makes others of them.
  private mutating func leaveOut(_ place: RecordPlace) {
    let (record, kinds) = (place.record, place.kinds)
    if shares[record.number] == nil, to.record(number: record.number) != nil {
      shares[record.number] = KindShare(kinds: Set(record.kinds.map(\.composite)), hasPlain: true)
    }
    shares[record.number]?.kinds.subtract(kinds)
    for index in moves.indices where moves[index].source == record.number {
      moves[index].share.kinds.subtract(kinds)
    }
    moves.removeAll { $0.share == KindShare() }
  }

  /// - Parameter steps: One behind the other.
  /// - Throws: never for defaults, which are in no blobs.
  init(from: Schema, to: Schema, through steps: [SchemaChange]) throws(StoreError) {
    (self.from, self.to) = (from, to)
    if steps.allSatisfy(\.moves.isEmpty) { return }
    for record in from.records { try follow(record, through: steps) }
  }

  private mutating func add(_ named: NamedMove) {
    guard let old = from.record(named: named.source.record),
      let new = to.record(named: named.target.record)
    else { return }
    var fields: [UInt32: UInt32] = [:]
    for (name, before) in named.fields {
      guard let field = new.field(named: name) else { continue }
      fields[field.number] = old.field(named: before)?.number
    }
    moves.append(
      KindMove(
        source: old.number, kind: named.source.kind.flatMap { old.field(named: $0)?.number },
        target: new.number, targetKind: named.target.kind.flatMap { new.field(named: $0)?.number },
        fields: fields, present: Set(named.present.compactMap { new.field(named: $0)?.number })))
  }

  /// Divides the records whose kinds go different ways: each goes with the innermost of its kinds that goes anywhere.
  private mutating func share() {
    for number in Set(moves.map(\.source)) {
      guard let old = from.record(number: number) else { continue }
      let new = inherited.contains(number) ? nil : to.record(number: number)
      for kind in old.innermostKinds {
        var next: UInt32? = kind
        while true {
          if let place = moves.firstIndex(where: { $0.source == number && $0.kind == next }) {
            moves[place].share.insert(kind)
            break
          }
          guard let around = next else {
            if new != nil { shares[number, default: KindShare()].insert(kind) }
            break
          }
          if new?.field(around) != nil {
            shares[number, default: KindShare()].insert(kind)
            break
          }
          next = old.field(around)?.composite
        }
      }
      if to.record(number: number) != nil, shares[number] == nil { shares[number] = KindShare() }
    }
  }
}

// MARK: Over several versions

extension KindPlacing {
  /// A path through the versions between, and the kinds whose records take it, with the same values.
  private struct Path {
    let turns: [Int]
    let chain: [RecordChange]
    let kind: UInt32?
    let targetKind: UInt32?
    var origins: FieldOrigins
    var share = KindShare()

    var stays: Bool { turns.allSatisfy { $0 == 0 } }
  }

  /// Fields of which only records themselves say whether they have a value, with their records.
  var unknown: [(record: String, field: String)] {
    let staying = origins.sortedRarely { $0.key < $1.key }.flatMap { number, origins in
      origins.unknown.map { (to.record(number: number)?.name ?? "", $0) }
    }
    return staying
      + moves.flatMap { move in
        (move.origins?.unknown ?? []).map { (to.record(number: move.target)?.name ?? "", $0) }
      }
  }

  private mutating func follow(
    _ record: RecordSchema, through between: [SchemaChange]
  ) throws(StoreError) {
    var paths: [Path] = []
    var isWhole = true
    for kind in record.innermostKinds {
      guard let (turns, chain, last) = path(of: record.number, kind, through: between) else {
        isWhole = false
        continue
      }
      let origins = try FieldOrigins(through: chain, of: kind)
      var place = paths.count
      if let known = paths.firstIndex(where: {
        $0.turns == turns && $0.origins.agree(with: origins)
      }) {
        place = known
        paths[place].origins.merge(origins)
      } else {
        paths.append(
          Path(turns: turns, chain: chain, kind: kind, targetKind: last, origins: origins))
      }
      paths[place].share.insert(kind)
    }
    // The first that stay, and whose fields keep their numbers, are rewritten where they are.
    let staying = paths.firstIndex { $0.stays && $0.origins.keepNumbers(of: record) }
    for (place, path) in paths.enumerated() {
      if place == staying {
        origins[record.number] = path.origins
        if !isWhole || paths.count > 1 { shares[record.number] = path.share }
      } else if let move = move(by: path) {
        moves.append(move)
      }
    }
    if staying == nil, to.record(number: record.number) != nil {
      shares[record.number] = KindShare()
    }
  }

  /// Returns which changes records of a kind go through: 0 for those of records that stay, else the place of a move plus 1.
  /// Nil if they are gone on the way.
  private func path(
    of record: UInt32, _ kind: UInt32?, through between: [SchemaChange]
  ) -> (turns: [Int], chain: [RecordChange], kind: UInt32?)? {
    var (record, kind) = (record, kind)
    var turns: [Int] = []
    var chain: [RecordChange] = []
    for step in between {
      func takes(_ change: RecordChange) -> Bool {
        change.old.number == record && change.share?.contains(kind) ?? true
      }
      let place = step.moves.firstIndex(where: takes)
      guard let change = place.map({ step.moves[$0] }) ?? step.records.first(where: takes) else {
        return nil
      }
      turns.append(place.map { $0 + 1 } ?? 0)
      chain.append(change)
      (record, kind) = (change.new.number, change.kind(after: kind))
    }
    return (turns, chain, kind)
  }

  private func move(by path: Path) -> KindMove? {
    guard let first = path.chain.first, let last = path.chain.last else { return nil }
    var present: Set<UInt32> = []
    for field in last.new.fields {
      var number: UInt32? = field.number
      for change in path.chain.reversed() {
        guard let next = number else { break }
        if change.move?.present.contains(next) ?? false { present.insert(field.number) }
        number = change.fields.first { $0.new.number == next }?.old?.number
      }
    }
    return KindMove(
      source: first.old.number, kind: path.stays ? nil : path.kind, target: last.new.number,
      targetKind: path.stays ? nil : path.targetKind,
      fields: path.origins.fields.compactMapValues(\.field), present: present, share: path.share,
      origins: path.origins)
  }
}

extension RecordSchema {
  /// The kinds that a record may be of, or none, each as the innermost: the outer ones first.
  fileprivate var innermostKinds: [UInt32?] {
    [nil]
      + kinds.sortedRarely { name(of: $0).utf8.count < name(of: $1).utf8.count }
      .map { .some($0.composite) }
  }

  /// Why records cannot have the keys that they had elsewhere; nil if they can.
  func keyFault(
    of move: KindMove, from old: RecordSchema, _ given: [String: FieldSource]
  ) -> String? {
    if primaryKey.contains(where: { given[name(of: $0)] != nil }) { return nil }
    let isSame =
      primaryKey.count == old.primaryKey.count
      && zip(primaryKey, old.primaryKey).allSatisfy { part, before in
        move.fields[part.field] == before.field && part.isDescending == before.isDescending
          && field(part.field)?.type == old.field(before.field)?.type
      }
    if isSame { return nil }
    func text(_ record: RecordSchema) -> String {
      record.primaryKey.map { part in
        let type = record.field(part.field).map { " \($0.type)" } ?? ""
        return record.name(of: part) + type + (part.isDescending ? " descending" : "")
      }.joined(separator: ", ")
    }
    return
      "its records go to \(name), whose primary key is \(text(self)) and theirs \(text(old)); keys must be of one"
      + " type, so let a step make them with TransformRecords"
  }
}

extension RecordChange {
  /// The names of what the records were and are, if they are kept elsewhere from now on.
  var places: (source: TypePlace, target: TypePlace)? {
    guard let move, move.changesPlace else { return nil }
    func place(_ record: RecordSchema, _ kind: UInt32?) -> TypePlace {
      TypePlace(record: record.name, kind: kind.flatMap { record.field($0)?.name })
    }
    return (place(old, move.kind), place(new, move.targetKind))
  }
}

// MARK: Rows

extension RowShare {
  /// Creates the share of the rows of some kinds.
  init(_ share: KindShare, in layout: RowLayout) {
    self.init(ofKinds: share.kinds, hasPlain: share.hasPlain, in: layout)
  }
}
