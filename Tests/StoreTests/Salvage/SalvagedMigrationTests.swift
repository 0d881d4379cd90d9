import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record in four versions. The steps to the second and the fourth can be deferred.
private enum Moved {
  struct Item1: Record, Equatable {
    var id: Int
    var color: String
    var size: Int16
    var note: String?
    var rest = "r"
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  struct Item2: Record, Equatable {
    var id: Int
    var paint: String
    var size: Int32
    var note: String?
    var count: Int32
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  struct Item4: Record, Equatable {
    var id: Int
    var paint: String
    var size: Int64
    var note: String
    var count: Int32
    var more: [String]
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  struct Gone: Record, Equatable {
    var id: Int
    var name: String
    static func recordDescription(for version: Int) -> RecordDescription { gone(version) }
  }

  /// Another second version, in which the size is as it was.
  struct Other: Record, Equatable {
    var id: Int
    var color: String
    var size: Int16
    var extra: Int32

    static func recordDescription(for version: Int) -> RecordDescription {
      if version == 1 {
        item(1)
      } else {
        RecordName("Item")
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "color", type: .string, indexed: true)
        Field(name: "size", type: .int16)
        Field(name: "extra", type: .int32, migrationInfo: .init(default: 9))
      }
    }
  }

  /// A record that only the first version has.
  @RecordDescription.ResultBuilder
  static func gone(_ version: Int) -> RecordDescription {
    if version == 1 {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, indexed: true)
    }
  }

  @RecordDescription.ResultBuilder
  static func item(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    if version == 1 {
      Field(name: "color", type: .string, indexed: true)
      Field(name: "size", type: .int16)
      Field(name: "note", type: .string, optional: true)
      Field(name: "rest", type: .string)
    } else {
      Field(
        name: "paint", type: .string, indexed: true, migrationInfo: .init(renamingID: "color"))
      Field(name: "size", type: version < 4 ? .int32 : .int64, indexed: true)
      Field(
        name: "note", type: .string, optional: version < 4,
        migrationInfo: version < 4 ? nil : .init(default: "none"))
      Field(name: "count", type: .int32, migrationInfo: .init(default: 7))
      if version == 4 { Field(name: "more", type: .array(of: .string), default: ["a", "b"]) }
    }
  }

  static func first(_ id: Int) -> Item1 {
    Item1(id: id, color: "c\(id % 97)", size: Int16(id % 300 - 100), note: id % 3 == 0 ? nil : "n")
  }

  static func second(_ id: Int) -> Item2 {
    let first = first(id)
    return Item2(
      id: id, paint: first.color, size: Int32(first.size), note: first.note, count: 7)
  }

  static func fourth(_ id: Int) -> Item4 {
    let second = second(id)
    return Item4(
      id: id, paint: second.paint, size: Int64(second.size), note: second.note ?? "none", count: 7,
      more: ["a", "b"])
  }
}

/// Rows of older versions, in pages of before a migration ended, are read as what they became, or not at all.
@Suite struct SalvagedMigrationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private var copy: String { directory.path + "/copy" }
  private static let count = scaled(20_000, debug: 2_000)

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static let first = StoreModel(version: 1, records: [Moved.Item1.self, Moved.Gone.self])
  private static let removed = [RemovedRecord("Gone", description: Moved.gone)]
  private static let second = StoreModel(
    version: 2, records: [Moved.Item2.self], removed: removed)
  private static let fourth = StoreModel(
    version: 4, records: [Moved.Item4.self], removed: removed)

  private func open(_ model: StoreModel, _ mode: MigrationMode = .deferred) throws
    -> PersistentStore
  {
    try PersistentStore(at: path, model: model, migration: mode)
  }

  private func make() throws {
    let store = try open(Self.first)
    try store.write { transaction in
      try transaction.insert(contentsOf: (0..<Self.count).map(Moved.first))
      try transaction.insert(contentsOf: (0..<50).map { Moved.Gone(id: $0, name: "g\($0)") })
    }
    try store.close()
  }

  /// Spoils the newest footers, both copies of each.
  ///
  /// - Returns: how many are left.
  @discardableResult
  private func spoilFooters(_ count: Int) throws -> Int {
    let source = try SalvageSource(try PosixFileSystem(at: path))
    for found in source.candidates.prefix(count) {
      for copy in found.reference.copies {
        try spoil(copy.position)
      }
    }
    return max(0, source.candidates.count - count)
  }

  private func spoil(_ position: PagePosition) throws {
    let file = URL(filePath: "\(path)/\(FileName.pages(position.segment))")
    var bytes = try Data(contentsOf: file)
    let place = Int(position.block) * Layout.blockSize + 1000
    // The second copy of a footer may not exist.
    if place < bytes.count { bytes[place] ^= 4 }
    try bytes.write(to: file)
  }

  private func removeLogs() throws {
    for log in 0...1 { try FileManager.default.removeItem(atPath: "\(path)/log-\(log)") }
  }

  /// Salvages, and compares every record that was found.
  ///
  /// - Parameters:
  ///   - changed: The records that were changed since the migration, which may come back as they were before.
  ///   - deleted: The keys of records that were deleted since, which may come back.
  private func expectAll(
    changed: [Int: Moved.Item2] = [:], deleted: Set<Int> = [],
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let report = try PersistentStore.salvage(at: path, to: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    #expect(report.remainingFaults.isEmpty, "\(report)", sourceLocation: sourceLocation)
    #expect(
      report.omissions.isEmpty, "\(report.omissions.prefix(3)) of \(report.omissions.count)",
      sourceLocation: sourceLocation)
    let store = try PersistentStore(at: copy, model: Self.second, migration: .refuse)
    defer { try? store.close() }
    let found = try store.fetch(Moved.Item2.self)
    #expect(
      Set(found.map(\.id)).isSuperset(of: Set(0..<Self.count).subtracting(deleted)),
      "\(found.count) of \(Self.count)", sourceLocation: sourceLocation)
    let wrong = found.filter { $0 != Moved.second($0.id) && $0 != changed[$0.id] }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))", sourceLocation: sourceLocation)
    // Its indexes are those of a store like any other, also after the rest of the migration.
    let expected = found.filter { $0.paint == "c5" }.map(\.id)
    #expect(
      try store.fetch(Moved.Item2.where { $0.paint == "c5" }).map(\.id) == expected,
      sourceLocation: sourceLocation)
    #expect(try !store.finishMigration(), sourceLocation: sourceLocation)
    #expect(try store.fetch(Moved.Item2.self) == found, sourceLocation: sourceLocation)
    #expect(try store.snapshot().check() == [], sourceLocation: sourceLocation)
  }

  enum Progress: CaseIterable { case published, partlyDone, finished, compacted, changed }

  @Test(arguments: Progress.allCases)
  func `whatever footers of a deferred migration are lost, rows of both versions come back right`(
    progress: Progress
  ) throws {
    try make()
    let store = try open(Self.second)
    var changed: [Int: Moved.Item2] = [:]
    var deleted: Set<Int> = []
    switch progress {
    case .published: break
    case .partlyDone:
      #expect(try store.finishMigration(budget: .records(Self.count / 3)))
    case .finished, .compacted, .changed:
      #expect(try !store.finishMigration())
    }
    if progress == .compacted { try store.compact() }
    if progress == .changed {
      for id in stride(from: 3, to: Self.count, by: Self.count / 40) {
        var item = Moved.second(id)
        item.paint = "changed"
        item.count = -1
        changed[id] = item
        try store.save(item)
      }
      for id in stride(from: 5, to: Self.count, by: Self.count / 20) {
        try store.delete(Moved.second(id))
        deleted.insert(id)
      }
    }
    try store.close()
    let files = try StoreFiles(at: path)
    for isWithoutLog in [false, true] {
      for lost in 1...6 {
        try FileManager.default.removeItem(atPath: path)
        try files.write(to: path)
        let rest = try spoilFooters(lost)
        if isWithoutLog { try removeLogs() }
        try expectAll(changed: changed, deleted: deleted)
        if rest == 0 { break }
      }
    }
  }

  @Test func `rows whose steps are lost are left out with a reason, and never read as others`()
    throws
  {
    try make()
    let store = try open(Self.second)
    #expect(try store.finishMigration(budget: .records(Self.count / 3)))
    try store.close()
    // Every page that says what the steps are, and every state.
    let source = try SalvageSource(try PosixFileSystem(at: path))
    let pages = try #require(source.pages)
    var spoiled: Set<PagePosition> = []
    for found in source.candidates {
      for tree in found.footer.trees where tree.name == PendingSteps.treeName {
        if let root = tree.root { spoiled.insert(root.reference.position) }
      }
    }
    let loose = LooseLeaves(of: pages, in: source.segments, use: LooseLeaves.isOfSystem)
    #expect(loose.hasLeaves(of: TreeTag(of: PendingSteps.treeName), behind: nil))
    for position in spoiled { try spoil(position) }
    try spoilFooters(100)
    try removeLogs()
    let report = try PersistentStore.salvage(at: path, to: copy)
    #expect(report.remainingFaults.isEmpty, "\(report.remainingFaults)")
    #expect(!report.isWhole && !report.omissions.isEmpty)
    for omission in report.omissions {
      guard case .corrupt(_, invariant: .rowVersion, _) = omission.error else {
        Issue.record("\(omission)")
        break
      }
    }
    let copied = try PersistentStore(at: copy, model: Self.second, migration: .refuse)
    let found = try copied.fetch(Moved.Item2.self)
    #expect(!found.isEmpty && found.allSatisfy { $0 == Moved.second($0.id) })
    #expect(found.count + report.omissions.count == Self.count)
    #expect(try copied.pendingMigration == nil)
    try copied.close()
  }

  @Test func `through steps one after the other rows of every version come back right`() throws {
    try make()
    let store = try open(Self.second)
    #expect(try store.finishMigration(budget: .records(Self.count / 2)))
    try store.close()
    let later = try open(Self.fourth)
    #expect(try later.finishMigration(budget: .records(Self.count / 3)))
    try later.close()
    let files = try StoreFiles(at: path)
    for lost in 1...6 {
      try FileManager.default.removeItem(atPath: path)
      try files.write(to: path)
      let rest = try spoilFooters(lost)
      if lost % 2 == 0 { try removeLogs() }
      let report = try PersistentStore.salvage(at: path, to: copy)
      #expect(report.remainingFaults.isEmpty && report.omissions.isEmpty, "\(report)")
      let copied = try PersistentStore(at: copy, model: Self.fourth, migration: .refuse)
      #expect(try copied.fetch(Moved.Item4.self) == (0..<Self.count).map(Moved.fourth))
      try copied.close()
      try FileManager.default.removeItem(atPath: copy)
      if rest == 0 { break }
    }
  }

  @Test func `rows of an abandoned version are not taken for those of another with its number`()
    throws
  {
    try make()
    let store = try open(Self.second)
    #expect(try !store.finishMigration())
    try store.close()
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    var options = StoreOptions()
    options.allowsMigrationAfterRollback = true
    let other = StoreModel(version: 2, records: [Moved.Other.self], removed: Self.removed)
    let again = try PersistentStore(
      at: path, model: other, migration: .deferred, options: options)
    #expect(try again.finishMigration(budget: .records(Self.count / 3)))
    try again.close()
    let files = try StoreFiles(at: path)
    for lost in 1...4 {
      try FileManager.default.removeItem(atPath: path)
      try files.write(to: path)
      let rest = try spoilFooters(lost)
      let report = try PersistentStore.salvage(at: path, to: copy)
      #expect(report.remainingFaults.isEmpty, "\(report)")
      let schema = try PersistentStore.snapshot(at: copy).schema
      let isOther = schema.record(named: "Item")?.fields.contains { $0.name == "extra" } ?? false
      if isOther {
        let copied = try PersistentStore(at: copy, model: other, migration: .refuse)
        let found = try copied.fetch(Moved.Other.self)
        let wrong = found.filter { item in
          let first = Moved.first(item.id)
          return item
            != Moved.Other(id: item.id, color: first.color, size: first.size, extra: 9)
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        try copied.close()
      }
      try FileManager.default.removeItem(atPath: copy)
      if rest == 0 { break }
    }
  }
}
