import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The space that a plan says a migration takes, on a file system that has no more than that.
@Suite(.enabled(if: SmallDisk.isAllowed, "only root may mount a file system"))
struct PlanSpaceTests {
  enum Work: CaseIterable {
    case conversion, index, transformation, newKey
  }

  private static func model(_ work: Work) -> StoreModel {
    StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("R") { version in
          Field(name: "id", type: .integer)
          Field(name: "size", type: work == .conversion && version == 2 ? .int64 : .int32)
          Field(name: "text", type: .string, indexed: work == .index && version == 2)
          if work == .newKey, version == 2 {
            PrimaryKey("size", "id")
          } else {
            PrimaryKey("id")
          }
        }
      ])
  }

  private static func steps(_ work: Work) -> [MigrationStep] {
    guard work == .transformation else { return [] }
    return [
      MigrationStep(to: 2) { TransformRecords("R", into: "R") { old, emit in try emit(old) } }
    ]
  }

  private static func fill(_ path: String, _ work: Work, _ count: Int) throws {
    let store = try PersistentStore(at: path, model: model(work).dynamic(version: 1))
    for start in stride(from: 0, to: count, by: 500) {
      try store.write { transaction in
        for id in start..<min(count, start + 500) {
          try transaction.save(
            DynamicRecord(
              "R",
              [
                "id": .integer(Int64(id)), "size": .integer(Int64(id &* 7919 % 10_007)),
                "text": .string("the text of \(id), which is unlike the others"),
              ]))
        }
      }
    }
    try store.close()
  }

  @Test(arguments: Work.allCases, [100, scaled(60_000, debug: 4_000)])
  func `a migration that the plan says fits does fit`(work: Work, count: Int) throws {
    let disk = try SmallDisk(kibibytes: 256 << 10)
    let path = disk.path + "/store"
    try Self.fill(path, work, count)
    func plan() throws -> MigrationPlan {
      try PersistentStore.migration(at: path, to: Self.model(work), steps: Self.steps(work)).plan
    }
    func leave(_ kibibytes: Int) throws {
      let free = try #require(try plan().bytesFree) / 1024
      try disk.grow(kibibytes: kibibytes - free)
    }
    let first = try plan()
    #expect(first.canRun, "\(first)")
    // The least that the plan takes to be enough.
    var (less, enough) = (0, 160 << 10)
    while enough - less > 16 {
      let middle = (less + enough) / 2
      try leave(middle)
      if try plan().canRun { enough = middle } else { less = middle }
    }
    try leave(enough + 16)
    let migration = try PersistentStore.migration(
      at: path, to: Self.model(work), steps: Self.steps(work))
    #expect(migration.plan.canRun)
    print("\(work) of \(count): \(enough) KiB, \(migration.plan.logBytesToGrow >> 10) of them log")
    #expect(storeError { try migration.run() } == nil)
    let left = try #require(try plan().bytesFree) / 1024
    print("  of which \(enough - left) were taken")
  }
}
