#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The result of a check of a store.
public struct StoreCheck: Hashable, Sendable {
  /// The extent of the check.
  public let depth: Depth
  /// The faults, each with its place: all faults of pages and files, and the first hundred of records. If there are none,
  /// everything that was checked is as it was written.
  public let faults: [StoreError]
  /// The number of leaves and branches that were checked.
  package let nodeCount: Int
  /// The number of records that were checked one by one.
  public let recordCount: Int
  /// The number of the last commit; nil if the store does not open.
  public let sequence: UInt64?
  /// The records and indexes that faults are in, as far as a fault itself only names a page or a tree.
  let trees: [StoreError: String]
  /// The kept version of each fault that the present state does not have.
  let keptVersions: [StoreError: Int]

  /// True if the check found no fault.
  public var isWhole: Bool { faults.isEmpty }

  /// The extent of a check.
  public enum Depth: String, Hashable, Sendable, CaseIterable {
    /// The log, footers, segments, schemas, and every page of the present state.
    case quick
    /// Every record, every index entry and the history too, and every page of the states that are kept.
    case deep
  }

  /// The progress of a check.
  public struct Progress: Hashable, Sendable {
    /// A part of a check, in the order in which they are done.
    public enum Part: String, Hashable, Sendable {
      case pages, records, keptPages
    }

    /// The part under way.
    public let part: Part
    /// The number of bytes of pages, or of records, that were checked.
    public let done: Int
    /// The approximate number of bytes or records in all.
    public let total: Int
  }
}

extension StoreCheck {
  /// Returns the record or the index that a fault of the check is in, such as "Item" or "Item by name"; nil if the fault is
  /// in no tree, or names the record itself.
  package func tree(of fault: StoreError) -> String? { trees[fault] }

  /// Returns the kept version that has a fault of the check; nil if the present state has it.
  package func keptVersion(of fault: StoreError) -> Int? { keptVersions[fault] }
}

extension PersistentStore {
  /// Checks the store at `path` for damage, and returns every fault. Nothing is written, damage ends no process, and
  /// another process may have the store open.
  ///
  /// ```swift
  /// let check = try PersistentStore.check(at: "shop.cambium", .deep)
  /// for fault in check.faults { print(fault) }
  /// ```
  ///
  /// Pages are read from the disk again.
  ///
  /// - Parameter progress: Called often.
  /// - Complexity: linear in the bytes of the pages; the deep one also in records, with a lookup for each index entry.
  /// - Throws: `StoreError.missing` if there is no store, `.newerFormat`, `.networkFileSystem`, `.io`. Damage is not
  ///   thrown.
  public static func check(
    at path: String, _ depth: StoreCheck.Depth = .quick, options: StoreOptions = StoreOptions(),
    progress: @escaping (StoreCheck.Progress) -> Void = { _ in }
  ) throws(StoreError) -> StoreCheck {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    var last = CheckRun(depth, progress)
    // Folds of a writer remove segments while they are looked at; then the next state is.
    for _ in 0..<3 {
      last = CheckRun(depth, progress)
      try last.run(in: medium, options)
      guard last.hasMissed else { break }
    }
    return last.result
  }
}

extension StoreSnapshot {
  /// Checks every record and every index entry, and returns the faults: records that cannot be read or lack index entries,
  /// entries without a record, checked references that lead nowhere, derived fields with other values, damaged numbers of sequences, blobs about which map, rows and files disagree, metadata that is not JSON, and the first
  /// fault of the history.
  ///
  /// ```swift
  /// let faults = try store.snapshot().check()
  /// ```
  ///
  /// - Parameters:
  ///   - readingBlobs: True to read the contents of blobs, too; otherwise only their existence is checked.
  ///   - watch: Called for every record.
  /// - Returns: The faults, at most a hundred of them of records. If empty, everything can be read, and indexes,
  ///   references and records agree.
  /// - Complexity: linear in all records, with a lookup for each index entry.
  /// - Throws: `StoreError.io`.
  public func check(
    readingBlobs: Bool = false, watch: (() -> Void)? = nil
  ) throws(StoreError) -> [StoreError] {
    var schemas: [Schema]?
    var described: StoreError?
    do throws(StoreError) {
      schemas = try StoredSchemas(trees, entities.schemas, path: "").all()
    } catch {
      guard case .corrupt = error else { throw error }
      described = error
    }
    var faults = try RecordCheck.faults(
      of: entities.all, in: trees, describedIn: schemas.map { Set($0.map(\.storedVersion)) },
      readingBlobs: readingBlobs, watch: watch)
    func note(_ found: [StoreError]) {
      for fault in found where !faults.contains(fault) { faults.append(fault) }
    }
    if let map = entities.relations {
      note(
        try RelationCheck.faults(
          of: map, in: trees, atMost: Swift.max(0, RecordCheck.faultsMax - faults.count)))
    }
    if let map = entities.derivations {
      note(
        try DerivationCheck.faults(
          of: map, entities.all, in: trees,
          atMost: Swift.max(0, RecordCheck.faultsMax - faults.count)))
    }
    if let described { note([described]) }
    do throws(StoreError) {
      try RecordCheck.checkHistory(
        in: trees, entities.history, through: sequence, describedBy: schemas)
    } catch {
      guard case .corrupt = error else { throw error }
      note([error])
    }
    note(try SequenceCheck.faults(in: trees, entities.sequences))
    note(try MetadataCheck.faults(in: trees, entities.metadata))
    if case .failure(let fault) = try MigrationMark.found(in: trees, entities.migration) {
      note([fault])
    }
    var check = BlobCheck(
      entities.all, HistoryReferences(entities, in: trees), entities.blobs, in: trees, trees.blobs,
      isMigrating: try trees.count(in: entities.migration) > 0)
    try check.run(deep: readingBlobs)
    note(check.faults)
    return faults
  }
}

/// One look at all of a store.
struct CheckRun {
  private let depth: StoreCheck.Depth
  private let progress: (StoreCheck.Progress) -> Void
  private var faults: [StoreError] = []
  private var nodeCount = 0
  private let records = CheckedCount()
  private var sequence: UInt64?
  /// The names of the trees whose pages have faults, and the schema that says what is in them.
  private var trees: [StoreError: String] = [:]
  private var schema: Schema?
  /// The kept version of each fault that the present state does not have, and the schemas of all versions.
  private var keptVersions: [StoreError: Int] = [:]
  private var keptSchemas: [Int: Schema] = [:]
  /// True if something was missing that a writer may have removed.
  private(set) var hasMissed = false

  init(_ depth: StoreCheck.Depth, _ progress: @escaping (StoreCheck.Progress) -> Void) {
    self.depth = depth
    self.progress = progress
  }

  var result: StoreCheck {
    StoreCheck(
      depth: depth, faults: faults, nodeCount: nodeCount, recordCount: records.count,
      sequence: sequence, trees: treesForPeople, keptVersions: keptVersions)
  }

  /// The records and indexes that faults are in.
  private var treesForPeople: [StoreError: String] {
    var names: [StoreError: String] = [:]
    for fault in faults {
      let schema = keptVersions[fault].map { keptSchemas[$0] } ?? schema
      if let tree = trees[fault] {
        names[fault] = tree.asTreeName(in: schema)
      } else if case .corrupt(.entry(let tree, _), _, _) = fault {
        let name = tree.asTreeName(in: schema)
        if name != tree { names[fault] = name }
      }
    }
    return names
  }

  /// - Throws: `.missing`, `.newerFormat`, `.io`.
  mutating func run(
    in medium: any FileSystem, _ options: StoreOptions
  ) throws(StoreError) {
    let log = try openLog(medium)
    let backend: ReadingBackend
    do throws(StoreError) {
      backend = try ReadingBackend(on: medium, options)
    } catch {
      try note(error)
      // Perhaps more can be said of the state that the log began with.
      if let header = log?.header {
        add(PageFile.report(header.footer, of: header.identity, in: medium))
      }
      return
    }
    backend.collations.set(options.collations)
    sequence = backend.report.sequence
    schema = try? StoredSchemas(backend).newest()
    let file = backend.pages
    let total = file.footer.pageBytes
    add(
      PageFile.report(
        file.reference, of: file.pages.identity, in: medium, watch: watch(.pages, total)))
    try checkPlanning(file)
    do throws(StoreError) { try checkRecords(backend) } catch { try note(error) }
    if depth == .deep { try checkKept(file, medium) }
  }

  /// Throws only where there is no store, or one that cannot be looked at.
  private mutating func openLog(_ medium: any FileSystem) throws(StoreError) -> LogFiles? {
    // A store exists by its first log file.
    _ = try medium.open(.log(0), .read, at: .logOpen)
    do throws(StoreError) { return try LogFiles(opening: medium, writing: false) } catch {
      guard error.isDamage else { throw error }
      return nil
    }
  }

  /// Keeps a fault; other errors are thrown.
  private mutating func note(_ fault: StoreError) throws(StoreError) {
    guard fault.isDamage else { throw fault }
    if case .missing = fault { hasMissed = true }
    if !faults.contains(fault) { faults.append(fault) }
  }

  private mutating func add(_ report: PageFileReport) {
    for fault in report.faults where !faults.contains(fault) {
      if case .missing = fault { hasMissed = true }
      faults.append(fault)
    }
    trees.merge(report.trees) { first, _ in first }
    nodeCount += report.nodeCount
  }

  private func watch(_ part: StoreCheck.Progress.Part, _ total: Int) -> (Int) -> Void {
    let (count, progress) = (CheckedCount(), progress)
    return { bytes in
      count.count += bytes
      progress(StoreCheck.Progress(part: part, done: count.count, total: max(total, count.count)))
    }
  }
}

extension CheckRun {
  /// Checks the descriptions of versions and, in a deep check, every record.
  private mutating func checkRecords(_ backend: ReadingBackend) throws(StoreError) {
    // Those of older versions are checked by reading them.
    for schema in try StoredSchemas(backend).all() { keptSchemas[schema.version] = schema }
    guard let entities = try backend.describedEntities() else {
      return try checkUndescribed(backend)
    }
    let snapshot = StoreSnapshot(entities, try backend.snapshot())
    _ = try snapshot.pendingMigration()
    if depth == .quick { return }
    let total = try snapshot.statistics().recordCount
    let (records, progress) = (records, progress)
    let found = try snapshot.check(readingBlobs: true) {
      records.count += 1
      progress(StoreCheck.Progress(part: .records, done: records.count, total: total))
    }
    // A damaged page was named when pages were looked at.
    for fault in found where !faults.contains(fault) { faults.append(fault) }
  }

  /// Checks that a store without a schema has no records.
  private mutating func checkUndescribed(_ backend: ReadingBackend) throws(StoreError) {
    for name in backend.names.all.sortedRarely() where Entity.isName(name) {
      if try backend.trees().count(in: backend.names.slot(of: name)) == 0 { continue }
      try note(
        .corrupt(
          .entry(tree: name, key: []), invariant: .schemaContents,
          reason: "there are records, and no schema describes them"))
    }
  }

  /// Checks the numbers of the footer by which work is planned.
  ///
  /// - Complexity: O(branches).
  private mutating func checkPlanning(_ file: PageFile) throws(StoreError) {
    do throws(StoreError) {
      _ = try CompactionPlace(in: file.footer, at: file.reference.position)
    } catch {
      try note(error)
    }
    // Damage was reported when the pages were checked.
    guard faults.isEmpty else { return }
    do throws(StoreError) {
      for fault in try file.liveBytesFaults() { try note(fault) }
    } catch {
      try note(error)
    }
  }

  private mutating func checkKept(
    _ file: PageFile, _ medium: any FileSystem
  ) throws(StoreError) {
    for fault in file.keptFaults { try note(fault) }
    for state in file.footer.keptStates {
      let watch = watch(.keptPages, file.footer.pageBytes)
      let known = faults.count
      add(PageFile.report(state.footer, of: file.pages.identity, in: medium, watch: watch))
      for fault in faults[known...] { keptVersions[fault] = Int(state.version) }
    }
  }
}

/// A number that closures count.
private final class CheckedCount {
  var count = 0
}

extension StoreError {
  /// True if the store's files are not as they were written, or some are missing.
  fileprivate var isDamage: Bool {
    switch self {
    case .corrupt, .missing: true
    default: false
    }
  }
}

extension PageFile {
  /// The states that are kept, and whose footers the segment table does not cover.
  fileprivate var keptFaults: [StoreError] {
    footer.keptStates.compactMap { state in
      let number = state.footer.position.segment
      let extent = footer.segments.first { $0.kind == .pages && $0.number == number }
      if let extent, UInt64(state.footer.endBlock) <= extent.end { return nil }
      return .corrupt(
        .page(reference.position), invariant: .keptStates,
        reason: "the footer of the state that is kept of version \(state.version) is at"
          + " \(state.footer.position), which is not published")
    }
  }
}

extension Footer {
  /// The bytes of the pages that its trees reach.
  fileprivate var pageBytes: Int {
    trees.reduce(0) { $0 + Int(clamping: $1.root?.reference.liveBytes ?? 0) }
  }
}

/// Checks that the names of metadata are UTF-8, and their values JSON.
enum MetadataCheck {
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(in trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) -> [StoreError] {
    var faults: [StoreError] = []
    do throws(StoreError) {
      let cursor = try trees.cursor(in: slot)
      while faults.count < RecordCheck.faultsMax, try cursor.advance() {
        let (name, value) = (cursor.key.array(), try cursor.value().array())
        if let reason = reason(against: name, value) {
          faults.append(
            .corrupt(
              .entry(tree: Entities.metadataName, key: name), invariant: .metadata,
              reason: reason))
        }
      }
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
    }
    return faults
  }

  /// Why an entry cannot be; nil if it can.
  static func reason(against name: [UInt8], _ value: [UInt8]) -> String? {
    if String(validating: name, as: UTF8.self) == nil { return "its name is not UTF-8" }
    do {
      _ = try JSONDecoder().decode(AnyJSON.self, from: Data(value))
      return nil
    } catch {
      return "its value is not JSON"
    }
  }
}

/// Any JSON there is, read to the last value.
private struct AnyJSON: Decodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(intValue: Int) { nil }
    init(stringValue: String) { self.stringValue = stringValue }
  }

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      while !list.isAtEnd { _ = try list.decode(AnyJSON.self) }
    } else if let object = try? decoder.container(keyedBy: Key.self) {
      for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() { return }
      if (try? value.decode(Bool.self)) != nil { return }
      if (try? value.decode(Double.self)) != nil { return }
      _ = try value.decode(String.self)
    }
  }
}
