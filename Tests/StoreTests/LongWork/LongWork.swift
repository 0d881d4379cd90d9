import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A long operation on a store, and the states that it may be found in whenever it is interrupted.
struct LongWork: Sendable, CustomTestStringConvertible {
  enum Kind: Hashable, Sendable {
    case migration, rehearsal, publishing, finishing, rollback, load, batches, compaction
    case partialCompaction, collection, backup, salvage
  }

  let name: String
  let kind: Kind
  /// What each version after the first changes.
  let versions: [LongChange.Changes]
  var records = LongRecords.wide

  init(_ name: String, _ kind: Kind = .migration, _ versions: LongChange.Changes...) {
    self.name = name
    self.kind = kind
    self.versions = versions
  }

  var testDescription: String { name }
}

// MARK: The table

extension LongWork {
  static let all: [LongWork] = [
    LongWork("widened", .migration, [.widened]),
    LongWork("optional to required", .migration, [.required]),
    LongWork("closures", .migration, [.computed]),
    LongWork("added with an index", .migration, [.added]),
    LongWork("RunBefore", .migration, [.before]),
    LongWork("RunBefore and a closure", .migration, [.before, .computed]),
    LongWork("RunAfter", .migration, [.after]),
    LongWork("both hooks", .migration, [.before, .after, .required]),
    LongWork("to-one to list", .migration, [.listed]),
    LongWork("list to a record that has it", .migration, [.listed], [.gathered]),
    LongWork("key changed", .migration, [.rekeyed]),
    LongWork("TransformRecords", .migration, [.split]),
    LongWork("TransformRecords after RunBefore", .migration, [.before, .split]),
    LongWork("hierarchy entered", .migration, [.entered]),
    LongWork("values become blobs", .migration, [.external]),
    LongWork(
      "several at once", .migration, [.widened, .computed, .added], [.before, .listed, .required],
      [.split, .after]),
    LongWork("derived, then a closure", .migration, [.derived], [.computed, .widened]),
    LongWork("rehearsal of a closure", .rehearsal, [.computed, .widened]),
    LongWork("rehearsal with hooks", .rehearsal, [.before, .listed, .after]),
    LongWork("published, then finished", .publishing, [.added]),
    LongWork("deferred finishing", .finishing, [.added]),
    LongWork("deferred finishing of values for nulls", .finishing, [.required]),
    LongWork("rollback", .rollback, [.before, .computed]),
    LongWork("bulk load", .load),
    LongWork("import in batches", .batches),
    LongWork("compaction", .compaction),
    LongWork("compaction of some files", .partialCompaction),
    LongWork("compaction beside a kept state", .compaction, [.before, .computed]),
    LongWork("blob collection", .collection, [.external]),
    LongWork("backup", .backup),
    LongWork("backup with blobs", .backup, [.external]),
    LongWork("salvage", .salvage),
  ]
}

// MARK: States

/// A version, and the records that a store of it has.
struct LongState: Sendable {
  let version: Int
  let records: [DynamicRecord]

  init(_ version: Int, _ records: [DynamicRecord]) {
    self.version = version
    self.records = records.map { (place: $0.place, record: $0.comparable) }
      .sorted { $0.place < $1.place }.map(\.record)
  }

  init(of store: PersistentStore) throws {
    self.init(Int(store.schema.version), try store.allRecords())
  }
}

extension DynamicRecord {
  /// The record with the content of blobs in place of them.
  fileprivate var comparable: DynamicRecord {
    var record = self
    for (name, value) in fields {
      if case .blob(let blob) = value, let data = try? blob.data() { record[name] = .data(data) }
    }
    return record
  }

  /// Sorts records, the same for the same.
  fileprivate var place: String {
    switch self["id"] {
    case .integer(let id): "\(name) \(10_000_000_000 + id)"
    case let id: "\(name) \(id) \(self["name"])"
    }
  }
}

extension LongWork {
  var model: StoreModel { LongChange.model(versions) }
  var steps: [MigrationStep] {
    versions.enumerated().map { LongChange.step(to: $0.offset + 2, $0.element) }
  }
  /// That of the program which made the store.
  var oldModel: StoreModel { model.dynamic(version: 1) }

  private func before(_ extra: [DynamicRecord]) -> LongState {
    LongState(1, records.all + extra)
  }

  private func after(_ extra: [DynamicRecord]) -> LongState {
    LongState(versions.count + 1, LongChange.records(records.all + extra, after: versions))
  }

  /// All states that may be found, in order.
  ///
  /// - Parameter extra: Further records that the store of the first version has.
  func states(with extra: [DynamicRecord] = []) -> [LongState] {
    switch kind {
    case .migration, .publishing: [before(extra), after(extra)]
    case .rehearsal, .salvage: [before(extra)]
    case .finishing: [after(extra)]
    case .compaction where !versions.isEmpty: [after(extra)]
    case .compaction, .partialCompaction: [before(extra)]
    case .backup: [after(extra)]
    case .rollback: [after(extra), before(extra)]
    case .load: [before(extra), before(extra + loaded(0..<Self.loadCount))]
    case .batches:
      (0...Self.batchCount).map { count in
        before(extra + loaded(0..<count * Self.batchSize))
      }
    case .collection:
      [
        LongState(
          2, LongChange.records(records.all + extra, after: versions).filter(isCollected))
      ]
    }
  }

  private static var loadCount: Int { 90 }
  private static var batchCount: Int { 10 }
  private static var batchSize: Int { 9 }

  private func loaded(_ range: Range<Int>) -> [DynamicRecord] {
    range.map { records.item(records.count + $0) }
  }

  /// Half of the blobs are garbage.
  private func isCollected(_ record: DynamicRecord) -> Bool {
    guard record.name == "Item", case .integer(let id) = record["id"] else { return true }
    return Int(id) % (2 * records.bodies.every) != 3
  }
}

// MARK: Running

extension LongWork {
  /// Makes the store that the operation begins with: of the first version, fresh from a compaction, and what has to come
  /// before the operation.
  ///
  /// - Returns: the share of its published pages that was live after the compaction.
  func make(_ place: LongPlace) throws -> Double {
    let store = try place.open(oldModel)
    for some in records.all.divided(by: 5_000) {
      try store.write { transaction in
        for record in some { try transaction.save(record) }
      }
    }
    try store.compact()
    // Of what is published, by which a footer is judged.
    let share = 1 - (try store.snapshot().footer.garbageShare)
    try store.close()
    try prepare(place)
    return share
  }

  private func prepare(_ place: LongPlace) throws {
    switch kind {
    case .migration, .rehearsal, .publishing, .load, .batches, .salvage: break
    case .finishing: try place.open(model, steps, .deferred).close()
    case .rollback: try place.open(model, steps).close()
    case .backup where versions.isEmpty: break
    case .backup: try place.open(model, steps).close()
    case .collection:
      let store = try place.open(model, steps)
      try store.dropKeptVersions()
      let gone = try store.allRecords().filter { !isCollected($0) }
      try store.write { transaction in
        for record in gone { _ = try transaction.delete(record: "Item", key: record["id"]) }
      }
      try store.close()
    case .compaction, .partialCompaction:
      let store = try place.open(model, steps)
      // What is written again leaves garbage.
      for some in try store.allRecords().filter({ $0.name == "Item" }).divided(by: 40).prefix(3) {
        try store.write { transaction in for record in some { try transaction.touch(record) } }
        try store.backend.fold()
      }
      try store.close()
    }
  }

  /// Runs the operation, or resumes it; afterwards the store is in the last of its states.
  ///
  /// - Parameter target: Of a backup or a salvage.
  func run(_ place: LongPlace, to target: LongPlace? = nil) throws {
    switch kind {
    case .migration: try place.open(model, steps).close()
    case .rehearsal: try place.migrate(model, steps, isRehearsal: true)
    case .publishing, .finishing:
      let store = try place.open(model, steps, .deferred)
      while try store.finishMigration(budget: .records(place.sliceCount)) {}
      try store.close()
    case .rollback:
      do { try place.rollBack(to: 1) } catch StoreError.notKept(version: 1, kept: []) {}
    case .load:
      let store = try place.open(model)
      if try store.count(record: "Item") == records.count {
        try store.write { transaction in
          for record in loaded(0..<Self.loadCount) { try transaction.save(record) }
        }
      }
      try store.close()
    case .batches:
      let store = try place.open(model)
      let done = (try store.count(record: "Item") - records.count) / Self.batchSize
      for batch in done..<Self.batchCount {
        let first = batch * Self.batchSize
        try store.write { transaction in
          for record in loaded(first..<first + Self.batchSize) { try transaction.save(record) }
        }
        try store.backend.fold()
      }
      try store.close()
    case .compaction, .partialCompaction: try compact(place)
    case .collection:
      let store = try place.open(model)
      while try store.collectBlobs(BlobBudget(bytes: 8_000, garbageShare: 0.01)) {}
      try store.close()
    case .backup: try place.backUp(to: target ?? place.another())
    case .salvage: try place.salvage(to: target ?? place.another())
    }
  }

  /// In slices of a few pages, which programs cannot ask for.
  private func compact(_ place: LongPlace) throws {
    let store = try place.open(model)
    let engine = try store.backend.writingEngine()
    var request = CompactionRequest()
    request.scope = kind == .compaction ? .whole : .segments
    request.bytes = place.medium == nil ? 1 << 20 : 32 << 10
    request.below = try engine.spaceUsage().nextNumber
    while let slice = try engine.compact(request) {
      if slice.scope == request.scope { request.below = min(request.below, slice.below) }
    }
    try store.close()
  }

  /// True if the store may still be rolled back to its first version in the end.
  var keepsFirst: Bool {
    switch kind {
    case .migration, .publishing, .finishing: true
    case .compaction: !versions.isEmpty
    default: false
    }
  }

  /// True if a copy is made, and the store is only read.
  var isCopy: Bool { kind == .backup || kind == .salvage }
}

extension WriteTransaction {
  /// Writes a record again as another, and back.
  fileprivate mutating func touch(_ record: DynamicRecord) throws {
    var other = record
    other["text"] = "other"
    try save(other)
    try save(record)
  }
}

extension Array {
  fileprivate func divided(by size: Int) -> [ArraySlice<Element>] {
    Swift.stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
