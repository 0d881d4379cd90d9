#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Counts the records that a migration would refuse: values that are missing or do not convert, keys and unique
/// values that would be there twice.
///
/// It takes them through the steps as the migration does. Closures are not called: a field that one makes has a value that
/// is never refused, and is in no constraint that is counted. What closures make is known to a rehearsal only. Where
/// the program changes records before or after a step, what comes behind that is counted for the records as they are.
struct RecordCounting {
  /// The old records that become the new ones, each with its steps: several if records of a kind come from elsewhere.
  private let streams: [RecordStream]
  private let new: Entity
  private let trees: TreeAccess
  /// The new unique constraints: the name, and the entry's layout; a nil layout for the primary key.
  private let constraints: [(name: String, layout: IndexLayout?)]
  /// The references that are to be looked up: those that may lead nowhere, to records whose keys are known. With the old
  /// records that they may lead to.
  private let links: [(link: Link, destinations: [RecordStream])]
  /// Where the program first changes records, if what comes behind that can be refused: “before the step to version 2”.
  private let change: String?
  /// The hashes of keys of the part that is counted, for each constraint.
  private var hashes: [[KeyHash]] = []
  private var refused: [[Refusal: RefusedRecords]] = []
  /// The number of records of each stream.
  private var counts: [Int] = []
  /// The number of references that lead nowhere, by their places among the links.
  private var dangling: [Int: (count: Int, first: String)] = [:]

  /// Most of a key's hash, and which record has the key.
  private struct KeyHash: Comparable {
    /// The record in the low bits, so that hashes that are the same sort by it.
    private let bits: UInt128
    private static var recordBits: UInt128 { 1 << 40 - 1 }

    init(_ hash: SipHash128, record: Int) {
      let high = UInt128(hash.high) << 64 | UInt128(hash.low)
      bits = high & ~Self.recordBits | UInt128(record) & Self.recordBits
    }

    var record: Int { Int(bits & Self.recordBits) }

    func isOfSameKey(as other: KeyHash) -> Bool { (bits ^ other.bits) <= Self.recordBits }

    static func < (one: KeyHash, other: KeyHash) -> Bool { one.bits < other.bits }
  }

  private struct Refusal: Hashable {
    let field: String
    /// False if the program changes records before.
    let isCertain: Bool
  }

  /// Records that are refused for the same.
  private struct RefusedRecords {
    /// Why the first is.
    let reason: String
    private(set) var count = 0
    private var names: [String] = []

    private static var namesMax: Int { 3 }

    init(reason: String) {
      self.reason = reason
    }

    mutating func add(_ name: String) {
      count += 1
      if names.count < Self.namesMax { names.append(name) }
    }

    /// The first, and the keys of those after it.
    var text: String {
      let others = names.dropFirst().joined(separator: ", ")
      let end = count > names.count ? " and others" : ""
      return "of the record \(names.first ?? ""): \(reason)"
        + (others.isEmpty ? "" : "; also of \(others)\(end)")
    }
  }

  /// What was counted: a fault for each field and constraint with records that would be refused.
  struct Findings {
    var faults: [MigrationPlan.Fault] = []
    /// What is so only if the program does not change it, and what that makes unknown.
    var uncertainties: [MigrationPlan.Uncertainty] = []
  }

  /// Hashes of keys that are kept at once: 64 MiB.
  private static var hashesMax: Int { 4 << 20 }

  /// - Parameters:
  ///   - old: The records that the route begins with.
  ///   - new: Those that it ends with.
  /// - Throws: `.corrupt`, `.io`.
  static func findings(
    of route: MigrationRoute, from old: Entities, to new: Entities, in trees: TreeAccess
  ) throws(StoreError) -> Findings {
    var findings = Findings()
    let streams = try RecordStream.all(of: route, from: old, in: trees)
    for made in new.all {
      guard
        var counting = RecordCounting(
          made, route, new.relations?.links(from: made) ?? [], streams, in: trees)
      else { continue }
      try counting.count(in: &findings)
    }
    return findings
  }

  /// - Returns: nil if nothing can be refused, or if only a closure would tell.
  private init?(
    _ new: Entity, _ route: MigrationRoute, _ links: [Link], _ all: [UInt32: [RecordStream]],
    in trees: TreeAccess
  ) {
    guard let streams = all[new.record.number] else { return nil }
    var computed: Set<UInt32> = []
    for stream in streams { computed.formUnion(stream.computed) }
    let isMoved = streams.contains(where: \.isMoved)
    let known =
      isMoved
      ? [] : Set(streams.flatMap { $0.source.record.indexes.map(\.number) })
    var constraints: [(name: String, layout: IndexLayout?)] = []
    for layout in new.indexes.map(\.layout)
    where layout.schema.isUnique && !known.contains(layout.schema.number)
      && (computed.isEmpty || layout.schema.condition == nil)
      && layout.schema.parts.allSatisfy({
        !computed.contains($0.field) && new.record.field($0.field)?.derivation == nil
      })
    {
      constraints.append((layout.schema.name, layout))
    }
    if streams.count > 1 || streams.contains(where: \.hasNewKeys),
      new.record.primaryKey.allSatisfy({ !computed.contains($0.field) })
    {
      constraints.append(("primary key", nil))
    }
    let unproved = Set(route.unproved)
    let counted = links.filter { link in
      unproved.contains(link.place) && !computed.contains(link.field.number)
        && route.knowsKeys(of: link.destination.record)
    }
    guard streams.contains(where: \.isRisky) || !constraints.isEmpty || !counted.isEmpty else {
      return nil
    }
    self.streams = streams
    self.constraints = constraints
    self.links = counted.map { ($0, all[$0.destination.record.number] ?? []) }
    let isUncertain = streams.contains(where: \.isUncertain)
    change =
      isUncertain || !constraints.isEmpty || !counted.isEmpty ? route.firstHook : nil
    self.new = new
    self.trees = trees
  }
}

extension RecordChange {
  /// Returns true if a record may be refused for a field that no closure makes, or for its kind.
  func canRefuse(except computed: Set<UInt32>) -> Bool {
    if narrowsKinds, computed.isEmpty { return true }
    return fields.contains { field in
      if computed.contains(field.new.number) { return false }
      switch sources[field.new.number] {
      case .conversion(.refuse)?, .distinctElements?: return true
      case .element(let source)? where source.choice == .only: return true
      default: break
      }
      return field.missing == .null && canLackNeeded(field)
    }
  }
}

extension RecordCounting {
  private mutating func count(in findings: inout Findings) throws(StoreError) {
    var total = 0
    for stream in streams { total += try trees.count(in: stream.source.rows) }
    let parts = UInt64(max(1, total / Self.hashesMax + 1))
    // A record may have several keys that others have, too.
    var doubles = [Set<Int>](repeating: [], count: constraints.count)
    var first = [(one: Int, other: Int)?](repeating: nil, count: constraints.count)
    for part in 0..<(constraints.isEmpty ? 1 : parts) {
      hashes = [[KeyHash]](repeating: [], count: constraints.count)
      refused = []
      counts = []
      var number = 0
      for stream in streams { try collect(stream, &number, part, of: parts) }
      for index in constraints.indices {
        hashes[index].sort()
        for (one, other) in zip(hashes[index], hashes[index].dropFirst())
        where other.isOfSameKey(as: one) {
          doubles[index].insert(other.record)
          if other.record < first[index]?.other ?? .max {
            first[index] = (one.record, other.record)
          }
        }
      }
    }
    hashes = []
    var uncertain: [MigrationPlan.Fault] = []
    for (place, stream) in streams.enumerated() {
      for (refusal, found) in refused[place].sortedRarely(by: { $0.key.field < $1.key.field }) {
        let fault = MigrationPlan.Fault.refusedValues(
          record: stream.source.record.name, field: refusal.field, count: found.count,
          of: counts[place], first: found.text)
        if refusal.isCertain { findings.faults.append(fault) } else { uncertain.append(fault) }
      }
    }
    for (index, constraint) in constraints.enumerated() {
      guard let pair = first[index] else { continue }
      let fault = MigrationPlan.Fault.duplicates(
        record: name, constraint: constraint.name, count: doubles[index].count,
        first: "\(try key(ofRecord: pair.other)) as \(try key(ofRecord: pair.one))")
      if change == nil { findings.faults.append(fault) } else { uncertain.append(fault) }
    }
    for (place, found) in dangling.sortedRarely(by: { $0.key < $1.key }) {
      let link = links[place].link
      let fault = MigrationPlan.Fault.danglingReferences(
        record: new.record.name, field: link.field.name,
        destination: link.destinationName, count: found.count, first: found.first)
      if change == nil { findings.faults.append(fault) } else { uncertain.append(fault) }
    }
    guard let change else { return }
    let faults = uncertain.isEmpty ? [nil] : uncertain.map { Optional($0) }
    findings.uncertainties += faults.map {
      MigrationPlan.Uncertainty(
        record: name, recordCount: counts.reduce(0, +), fault: $0, change: change)
    }
  }

  /// The name that the records had, unless they had several.
  private var name: String {
    streams.count == 1 ? streams[0].source.record.name : new.record.name
  }

  /// Returns the old key of a record that was counted, as text.
  private func key(ofRecord number: Int) throws(StoreError) -> String {
    var before = 0
    for stream in streams {
      let count = try trees.count(in: stream.source.rows)
      guard number > before + count else {
        let cursor = try trees.cursor(in: stream.source.rows)
        guard try cursor.seek(toOffset: number - before - 1) else { break }
        return stream.source.text(ofKey: cursor.key)
      }
      before += count
    }
    return "the record \(number)"
  }

  /// Takes every record through all steps.
  private mutating func collect(
    _ stream: RecordStream, _ number: inout Int, _ part: UInt64, of parts: UInt64
  ) throws(StoreError) {
    let entry = KeyEncoder()
    let maker = RecordStream.Maker(stream)
    // By the fields that were refused before: the stream that makes the other fields of such a record.
    var others: [Set<RecordStream.PartField>: RecordStream.Maker] = [:]
    var refused: [Refusal: RefusedRecords] = [:]
    var count = 0
    let cursor = try trees.cursor(in: stream.source.rows)
    while try cursor.advance() {
      number += 1
      count += 1
      do throws(StoreError) {
        guard try maker.make(cursor.key, try cursor.value()) else {
          count -= 1
          continue
        }
        try note(number, maker.key, maker.row, entry, part, of: parts)
        if part == 0 { try follow(maker.key, maker.row, entry) }
      } catch {
        let key = cursor.key.array()
        try refuse(error, stream, key, maker, &others, &refused)
      }
    }
    self.refused.append(refused)
    counts.append(count)
  }

  /// Notes every field for which a record is refused, not only the first.
  private func refuse(
    _ error: StoreError, _ stream: RecordStream, _ key: [UInt8], _ maker: RecordStream.Maker,
    _ others: inout [Set<RecordStream.PartField>: RecordStream.Maker],
    _ refused: inout [Refusal: RefusedRecords]
  ) throws(StoreError) {
    var fault: StoreError? = error
    var maker = maker
    var known: Set<RecordStream.PartField> = []
    while let current = fault {
      guard case .invalidValue(_, let field, let reason) = current else { throw current }
      let name = stream.source.text(ofKey: key.rawSpan)
      let refusal = Refusal(field: field ?? "", isCertain: maker.isCertain)
      refused[refusal, default: RefusedRecords(reason: reason)].add(name)
      guard let field,
        known.insert(RecordStream.PartField(part: maker.part, field: field)).inserted
      else { return }
      if others[known] == nil {
        others[known] = RecordStream.Maker(try stream.standingIn(for: known))
      }
      var row: [UInt8] = []
      guard let other = others[known],
        try trees.copyValue(of: key.rawSpan, in: stream.source.rows, to: &row)
      else { return }
      maker = other
      fault = nil
      do throws(StoreError) { _ = try other.make(key.rawSpan, row.rawSpan) } catch { fault = error }
    }
  }

  /// Looks up where the references of one record lead.
  private mutating func follow(
    _ key: [UInt8], _ row: [UInt8], _ encoder: KeyEncoder
  ) throws(StoreError) {
    if links.isEmpty { return }
    let (new, trees) = (new, trees)
    let reader = try new.row(key: key.rawSpan, row: row.rawSpan)
    for (place, (link, destinations)) in links.enumerated() {
      var missing: [[UInt8]] = []
      try link.forEachKey(of: reader, in: encoder) { key throws(StoreError) in
        for stream in destinations where try stream.holds(key, for: link, in: trees) { return }
        missing.append(key.array())
      }
      for target in missing {
        let first =
          "of the record \(new.text(ofKey: key.rawSpan)) to \(try link.value(ofKey: target.rawSpan))"
        dangling[place, default: (0, first)].count += 1
      }
    }
  }

  /// Takes down the keys of one record.
  private mutating func note(
    _ number: Int, _ key: [UInt8], _ row: [UInt8], _ entry: KeyEncoder, _ part: UInt64,
    of parts: UInt64
  ) throws(StoreError) {
    if constraints.isEmpty { return }
    let new = new
    for (index, constraint) in constraints.enumerated() {
      func note(_ key: RawSpan) {
        let hash = SipHash128(of: key)
        if hash.low % parts == part { hashes[index].append(KeyHash(hash, record: number)) }
      }
      guard let unique = constraint.layout else {
        note(key.rawSpan)
        continue
      }
      let reader = try new.row(key: key.rawSpan, row: row.rawSpan)
      try unique.forEachEntry(of: reader, in: entry) { key, _, isSole throws(StoreError) in
        if isSole { note(key) }
      }
    }
  }
}

// What a plan counts without calling the closures of a step.

extension RecordChange {
  /// The numbers of the fields whose values only closures and other records know: of this step, or of one before it.
  ///
  /// - Parameter before: The numbers of such fields of the old version.
  func computed(after before: Set<UInt32>) -> Set<UInt32> {
    func isMade(_ field: FieldSchema) -> Bool {
      sources[field.number].map { $0.isClosure || $0.readsVersion } ?? false
    }
    return Set(
      fields.filter { field in
        isMade(field.new) || new.composites(around: field.new).contains(where: isMade)
          || field.old.map { before.contains($0.number) } ?? false
      }.map(\.new.number))
  }

  /// Returns the change with a value that is never refused in place of each closure.
  func standingIn(for computed: Set<UInt32>) -> RecordChange {
    var sources = sources
    for field in fields.map(\.new) where computed.contains(field.number) {
      let isComposite = field.type == .composite
      let isWithin = new.composites(around: field).contains { computed.contains($0.number) }
      // Records get composites as wholes, rows get their parts.
      if kind == .records ? isWithin : isComposite {
        sources[field.number] = nil
      } else {
        sources[field.number] = .constant(new.standIn(for: field))
      }
    }
    return RecordChange(
      old: old, new: new, fields: fields, sources: sources, kind: kind, share: share, move: move)
  }
}

extension RecordSchema {
  /// A value that the field can have, whatever its rules.
  fileprivate func standIn(for field: FieldSchema) -> FieldValue {
    if field.type == .composite {
      var parts: [String: FieldValue] = [:]
      for part in fields where part.composite == field.number {
        parts[String(part.name.dropFirst(field.name.count + 1))] = standIn(for: part)
      }
      return .composite(parts)
    }
    return field.isOptional ? .null : field.type.standIn
  }
}

extension ColumnType {
  fileprivate var standIn: FieldValue {
    switch self {
    case .scalar(let type), .external(of: let type, _): type.standIn
    case .transformable: .data(Data())
    case .array: .array([])
    case .composite: .composite([:])
    }
  }
}

extension ScalarType {
  fileprivate var standIn: FieldValue {
    switch self {
    case .boolean: .boolean(false)
    case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
    case .uuid: .string("00000000-0000-0000-0000-000000000000")
    case .string: .string("")
    case .url: .string("a:")
    case .binaryData: .data(Data())
    default: .integer(0)
    }
  }
}
