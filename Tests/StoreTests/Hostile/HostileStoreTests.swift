import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores whose checksums are right, in every public way of reading: each ends, in time, with an answer or a
/// `StoreError`.
@Suite struct HostileStoreTests {
  @Test(.timeLimit(.minutes(60)), arguments: HostileStores.names, StoreUse.allCases)
  func `every use of a hostile store ends with an answer or an error`(
    name: String, use: StoreUse
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files(name).write(to: path)
    let time = ContinuousClock().measure {
      do {
        _ = try use.run(at: path, scratch: directory.path + "/copy")
      } catch {
        #expect(error is StoreError, "\(error)")
      }
    }
    // One that doubles with each level, or overflows, would take hours.
    #expect(time < .seconds(180))
  }

  @Test(arguments: [
    ("leaf-cells-behind-page", Invariant.nodeLayout),
    // Its root says what such a branch would have to.
    ("branch-cells-behind-page", .referenceBounds),
    ("live-bytes-of-segments-overflow", .footerSections),
    ("counts-of-trees-overflow", .referenceBounds),
    ("graph-that-doubles", .referenceBounds),
    ("schema-of-20000-fields", .rowLayout),
    ("no-header-of-blobs", .rowExternal),
    ("no-header-of-stored-blobs", .blobAccounts),
    ("stale-index-entry", .indexEntries),
    ("null-bit-over-a-value", .rowNulls),
    ("external-string-not-utf8", .rowValues),
    ("metadata-not-json", .metadata),
    ("no-schema-tree", .schemaContents),
    ("row-of-a-later-version", .rowVersion),
    ("account-that-ends-too-low", .blobEnds),
    ("account-that-ends-too-high", .blobEnds),
    ("empty-mark", .migrationMark),
    ("history-of-the-future", .history),
    ("old-row-that-is-none", .history),
    ("kept-state-outside", .keptStates),
  ])
  func `a deep check says what is wrong with a hostile store`(
    name: String, invariant: Invariant
  ) throws {
    let directory = try TemporaryDirectory()
    try HostileStores.files(name).write(to: directory.path + "/store")
    let faults = try StoreUse.deepCheck.run(
      at: directory.path + "/store", scratch: directory.path + "/copy")
    #expect(faults.contains { $0.breaks(invariant) }, "\(faults)")
  }

  @Test func `an index that is said to be whole, and is not, is found by a deep check`() throws {
    let item = RemovedRecord("Item") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "size", type: .integer)
      if version == 2 { Index("size") }
    }
    let store = try VersionedStore(
      versions: 2, [item], holding: (Int64(0)..<50).map { .of("Item", $0, ["size": 1]) })
    defer { withExtendedLifetime(store) {} }
    let migrated = try store.migrated([], .deferred)
    let pending = try migrated.backend.names.slot(of: PendingSteps.treeName)
    try migrated.backend.commit { trees throws(StoreError) in try trees.removeAll(in: pending) }
    let path = migrated.path
    try migrated.close()
    let faults = try StoreUse.deepCheck.run(at: path, scratch: path + ".copy")
    #expect(faults.contains { $0.breaks(.indexEntries) }, "\(faults)")
  }

  @Test func `a migration that was interrupted after it made blobs leaves a whole store`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files("interrupted-migration-with-blobs").write(to: path)
    for use in [.deepCheck, .backUp, .deepCheck] as [StoreUse] {
      #expect(try use.run(at: path, scratch: directory.path + "/copy").isEmpty)
    }
  }

  @Test(arguments: ["account-that-ends-too-low", "account-that-ends-too-high"])
  func `a backup has all blobs, whatever the accounts say of their ends`(name: String) throws {
    let directory = try TemporaryDirectory()
    let (path, copy) = (directory.path + "/store", directory.path + "/copy")
    try HostileStores.files(name).write(to: path)
    var options = StoreOptions()
    options.access = .reading
    try PersistentStore(untypedAt: path, options: options).backUp(to: copy)
    let faults = try PersistentStore.check(at: copy, .deep).faults
    #expect(faults.allSatisfy { $0.breaks(.blobEnds) }, "\(faults)")
  }

  @Test func `a mark that cannot be read goes when the store is opened for writing`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files("empty-mark").write(to: path)
    try PersistentStore(untypedAt: path).close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  enum WrongMark: CaseIterable {
    case treeOfRecords, bytesBehind, secondEntry
  }

  @Test(arguments: WrongMark.allCases)
  func `a wrong mark costs no record, and goes when the store is opened for writing`(
    wrong: WrongMark
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: .samples)
    try store.save(contentsOf: Account.some(20))
    let number = try store.entities.entity(named: "Account").record.number
    let name = wrong == .treeOfRecords ? Entity.name(ofRows: number) : "m.1.r1"
    // An identity, a task, an empty cursor and no counts; one tree.
    var mark = Bytes(repeating: 0, count: 26)
    mark += [1, 0, 0, 0, UInt8(name.utf8.count)]
    mark += Bytes(name.utf8)
    if wrong == .bytesBehind { mark.append(0) }
    let (bytes, tree) = (mark, try store.backend.names.slot(of: MigrationMark.treeName))
    let keys: [Bytes] = wrong == .secondEntry ? [[1], [2]] : [[1]]
    try store.backend.commit { trees throws(StoreError) in
      for key in keys { try trees.put(key.rawSpan, bytes.rawSpan, in: tree) }
    }
    try store.close()
    let faults = try PersistentStore.check(at: path, .deep).faults
    #expect(!faults.isEmpty && faults.allSatisfy { $0.breaks(.migrationMark) }, "\(faults)")
    try PersistentStore(untypedAt: path).close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    #expect(try PersistentStore.snapshot(at: path).count(record: "Account") == 20)
  }

  @Test func `compacting a store with pending work that nobody knows keeps what it has`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files("unknown-pending-work").write(to: path)
    func run(_ use: StoreUse) throws -> [String] {
      try use.run(at: path, scratch: directory.path + "/copy").map { "\($0)" }
    }
    // Entries of its index without regard to case, and its history, are as an earlier draft of the format had them.
    let faults = try run(.deepCheck)
    for _ in 0..<2 {
      #expect(try run(.compact).isEmpty)
      #expect(try run(.deepCheck) == faults)
    }
  }

  @Test func `a store with a large blob is whole, in every use`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files("blob-of-2-gib").write(to: path)
    // It says too few live bytes: that is reported, and corrected by opening it for writing.
    #expect(
      try StoreUse.deepCheck.run(at: path, scratch: "").map { $0.breaks(.liveBytes) } == [true])
    try PersistentStore(untypedAt: path).close()
    for use in StoreUse.allCases where use != .blobs {
      let faults = try use.run(at: path, scratch: directory.path + "/\(use)")
      #expect(faults.isEmpty, "\(use): \(faults)")
    }
  }
}
