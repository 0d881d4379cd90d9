import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The space that snapshots hold in files that were deleted.
@Suite struct HeldSpaceTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Opened again, so that snapshots read pages, and nothing that is still in memory.
  private func store() throws -> PersistentStore {
    let store = try PersistentStore(at: path, model: .samples, options: .withoutAutomaticCompaction)
    try store.write { transaction in try transaction.save(contentsOf: Account.some(400)) }
    try store.save(Note(key: "large", text: String(repeating: "x", count: 2_000_000)))
    try store.close()
    return try PersistentStore(at: path, model: .samples, options: .withoutAutomaticCompaction)
  }

  /// Processes that other tests start have all open files for a moment.
  private func expectNothingHeld(by store: PersistentStore) throws {
    for _ in 0..<6_000 {
      if try store.heldSpace().bytes == 0 { return }
      usleep(10_000)
    }
    Issue.record("something is held")
  }

  @Test func `space that a snapshot holds in deleted files is in the report and in inspections`()
    throws
  {
    let store = try store()
    try expectNothingHeld(by: store)
    #expect(try store.heldSpace().oldestSnapshotAge == nil)
    var snapshot: StoreSnapshot? = try store.snapshot()
    usleep(50_000)
    let held = try store.compact().heldSpace
    let bytes = try #require(held.bytes)
    #expect(bytes > 2_000_000)
    #expect(held.processes.contains(Int(getpid())))
    let age = try #require(held.oldestSnapshotAge)
    #expect(age >= .milliseconds(50))
    // Whoever looks from outside knows that it is older than the deletion.
    let found = try PersistentStore.inspect(at: path).heldSpace
    #expect(found.bytes == bytes && found.processes.contains(Int(getpid())))
    #expect(found.oldestSnapshotAge != nil)
    #expect(try snapshot?.fetch(Account.self).count == 400)
    snapshot = nil
    try expectNothingHeld(by: store)
    #expect(try store.heldSpace().oldestSnapshotAge == nil)
    #expect(try store.compact().heldSpace.oldestSnapshotAge == nil)
    try store.close()
  }

  @Test func `files of blobs count, too`() throws {
    let store = try PersistentStore(
      at: path, model: Photo.model, options: .withoutAutomaticCompaction)
    for id in 0..<10 { try store.save(Photo(id, image: 40_000)) }
    var snapshot: StoreSnapshot? = try store.snapshot()
    try store.write { transaction in try transaction.deleteAll(Photo.self) }
    try store.collectBlobs()
    #expect(try store.blobStatistics().segments.isEmpty)
    let bytes = try #require(try store.heldSpace().bytes)
    #expect(bytes > 200_000)
    #expect(try snapshot?.fetch(Photo.self).count == 10)
    snapshot = nil
    try expectNothingHeld(by: store)
    try store.close()
  }

  @Test func `a store that is read knows the age of its own snapshots`() throws {
    let store = try store()
    try store.flush()
    var options = StoreOptions.withoutAutomaticCompaction
    options.access = .reading
    let reader = try PersistentStore(at: path, model: .samples, options: options)
    let snapshot = try reader.snapshot()
    usleep(20_000)
    try store.compact()
    try store.save(Note(key: "new"))
    try store.flush()
    try reader.refresh()
    let held = try reader.heldSpace()
    let (bytes, age) = (try #require(held.bytes), try #require(held.oldestSnapshotAge))
    #expect(bytes > 2_000_000 && age >= .milliseconds(20))
    #expect(try snapshot.fetch(Account.self).count == 400)
    try reader.close()
    try store.close()
  }

  @Test func `of a store in memory only the age is known`() throws {
    let store = try PersistentStore(inMemory: .samples, options: .withoutAutomaticCompaction)
    let snapshot = try store.snapshot()
    #expect(try store.heldSpace() == HeldSpace())
    try store.save(Note(key: "new"))
    let held = try store.heldSpace()
    #expect(held.bytes == nil && held.processes.isEmpty && held.oldestSnapshotAge != nil)
    #expect(try snapshot.fetch(Note.self).isEmpty)
    try store.close()
  }
}
