/// Old records of one type, and the steps that make new records of one type of them.
struct RecordStream {
  let source: Entity
  /// The steps that change the records, and false behind where the program changes records; each with the number of its
  /// part.
  private(set) var steps: [(step: RowStep, isCertain: Bool, part: Int)] = []
  /// What the stream was made of.
  private var parts: [(change: RecordChange, hop: MigrationRoute.Hop, isCertain: Bool)] = []
  /// The fields of the new records whose values only closures know.
  private(set) var computed: Set<UInt32> = []
  /// True if a record may be refused.
  private(set) var isRisky = false
  /// True if that is so behind where the program changes records.
  private(set) var isUncertain = false
  private(set) var hasNewKeys = false
  /// True if the records are kept elsewhere afterwards.
  private(set) var isMoved = false
  /// A finder of the records' blobs; nil if none has any.
  private let blobs: BlobFinder?

  /// Returns what becomes of all records, by the numbers of the last version's. Records that closures make are left out.
  ///
  /// - Throws: `.invalidDescription`.
  static func all(
    of route: MigrationRoute, from old: Entities, in trees: TreeAccess
  ) throws(StoreError) -> [UInt32: [RecordStream]] {
    var streams: [UInt32: [RecordStream]] = [:]
    for entity in old.all {
      streams[entity.record.number] = [
        RecordStream(source: entity, blobs: trees.blobFinder(of: entity))
      ]
    }
    var isHooked = false
    for hop in route.hops {
      isHooked = isHooked || hop.hooks.before
      var next: [UInt32: [RecordStream]] = [:]
      for change in hop.change.all {
        for var stream in streams[change.old.number] ?? [] {
          try stream.add(change, of: hop, isCertain: !isHooked)
          next[change.new.number, default: []].append(stream)
        }
      }
      streams = next
      isHooked = isHooked || hop.hooks.after
    }
    return streams
  }

  private init(source: Entity, blobs: BlobFinder?) {
    self.source = source
    self.blobs = blobs
  }

  /// Returns the stream of the same records with a value that is never refused in some fields, each of which one part makes.
  ///
  /// - Throws: `.invalidDescription`.
  func standingIn(for fields: Set<PartField>) throws(StoreError) -> RecordStream {
    var stream = RecordStream(source: source, blobs: blobs)
    for (place, part) in parts.enumerated() {
      let named = part.change.new.fields.filter {
        fields.contains(PartField(part: place, field: $0.name))
      }
      try stream.add(
        part.change, of: part.hop, isCertain: part.isCertain, excusing: Set(named.map(\.number)))
    }
    return stream
  }

  /// A field, and the part of a stream that makes it.
  struct PartField: Hashable {
    let part: Int
    let field: String
  }

  private mutating func add(
    _ given: RecordChange, of hop: MigrationRoute.Hop, isCertain: Bool,
    excusing excused: Set<UInt32> = []
  ) throws(StoreError) {
    parts.append((given, hop, isCertain))
    computed = given.computed(after: computed).union(excused)
    let change = given.standingIn(for: computed)
    if change.rewritesRows || change.share != nil {
      let (from, to) = (hop.change.from.storedVersion, hop.change.to.storedVersion)
      // A closure may say which kind a record is of.
      let step = try RowStep(change, from: from, to: to, checksKinds: computed.isEmpty)
      steps.append((step, isCertain, parts.count - 1))
    }
    isMoved = isMoved || change.move != nil
    hasNewKeys = hasNewKeys || change.changesKeys
    if change.kind == .records || change.canRefuse(except: computed) {
      isRisky = true
      isUncertain = isUncertain || !isCertain
    }
  }

  /// Returns true if there is a record with a key, which no step changes, which is of the stream, and of the kind that a
  /// reference of the last version leads to.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func holds(
    _ key: RawSpan, for link: Link, in trees: TreeAccess
  ) throws(StoreError) -> Bool {
    guard link.kind != nil || steps.contains(where: \.step.isOfShare) else {
      return try trees.contains(key, in: source.rows)
    }
    var row: [UInt8] = []
    guard try trees.copyValue(of: key, in: source.rows, to: &row) else { return false }
    do throws(StoreError) {
      let maker = Maker(self)
      guard try maker.make(key, row.rawSpan) else { return false }
      let made = maker.row
      return link.mayLead(to: made.rawSpan)
    } catch {
      if case .invalidValue = error { return true }
      throw error
    }
  }

  /// Makes new records, one at a time.
  final class Maker {
    private let stream: RecordStream
    private let writer = RowWriter()
    private let encoder = KeyEncoder()
    /// The key and the row that were made last.
    private(set) var key: [UInt8] = []
    private(set) var row: [UInt8] = []
    /// False if the program changes records before the step that was taken last.
    private(set) var isCertain = true
    /// The part of the stream whose step was taken last.
    private(set) var part = 0

    init(_ stream: RecordStream) { self.stream = stream }

    /// - Returns: False if the record is not of the stream.
    /// - Throws: What the steps refuse.
    func make(_ oldKey: RawSpan, _ oldRow: RawSpan) throws(StoreError) -> Bool {
      isCertain = true
      key = oldKey.array()
      row = oldRow.array()
      var waiting: [Blob] = []
      let (writer, encoder) = (writer, encoder)
      for (step, isCertainStep, part) in stream.steps {
        isCertain = isCertainStep
        self.part = part
        let (key, row) = (key, row)
        guard try step.takes(key: key.rawSpan, row: row.rawSpan) else { return false }
        try step.convert(
          key: key.rawSpan, row: row.rawSpan,
          stream.blobs?.with(waiting) ?? BlobFinder(waiting), nil, to: writer, encoder
        ) { _ in }
        self.row = writer.row.array()
        self.key = encoder.key.array()
        if !step.keepsKey { waiting = writer.waiting }
      }
      return true
    }
  }
}

extension MigrationRoute {
  /// Where the program first changes records: “before the step to version 2”; nil if it does not.
  var firstHook: String? {
    for hop in hops {
      if hop.hooks.before { return "before the step to version \(hop.change.to.version)" }
      if hop.hooks.after { return "after the step to version \(hop.change.to.version)" }
    }
    return nil
  }
}

extension MigrationRoute.Hop {
  /// True if the program changes records before or after the step.
  fileprivate var hooks: (before: Bool, after: Bool) {
    (!(step?.before.isEmpty ?? true), !(step?.after.isEmpty ?? true))
  }
}
