import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Options with any number in them: a store opens, is written to, read and opened again.
@Suite struct OptionExtremesTests {
  /// One number of the options, set to an extreme.
  struct Extreme: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let set: @Sendable (inout StoreOptions) -> Void
  }

  private static func numbers(
    _ name: String, _ numbers: [Int] = [.min, -1, 0, 1, 1 << 50, .max],
    _ set: @escaping @Sendable (inout StoreOptions, Int) -> Void
  ) -> [Extreme] {
    numbers.map { number in
      Extreme(testDescription: "\(name) \(number)") { set(&$0, number) }
    }
  }

  private static func shares(
    _ name: String, _ set: @escaping @Sendable (inout StoreOptions, Double) -> Void
  ) -> [Extreme] {
    [-Double.infinity, -1, 0, .leastNonzeroMagnitude, 1, 2, .infinity, .nan].map { share in
      Extreme(testDescription: "\(name) \(share)") { set(&$0, share) }
    }
  }

  private static let durations: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(Int64.max),
  ]

  private static let compactions =
    numbers("leastGain") { $0.automaticCompaction?.leastGain = $1 }
    + numbers("sliceBytes") { $0.automaticCompaction?.sliceBytes = $1 }
    + shares("beginsAt") { $0.automaticCompaction?.beginsAt = $1 }
    + shares("endsAt") { $0.automaticCompaction?.endsAt = $1 }

  static let extremes: [Extreme] =
    numbers("foldThreshold") { $0.foldThreshold = $1 }
    + numbers("transactionBudget") { $0.transactionBudget = $1 }
    + numbers("blobSegmentSize") { $0.blobSegmentSize = $1 }
    + numbers("history") { $0.history = .keptCommits($1, oldValues: true) }
    + numbers("sliceCount") { $0.migration.sliceCount = $1 }
    + numbers("oldestVersion", [.min, 0, 1]) { $0.migration.oldestVersion = $1 }
    + durations.map { age in
      Extreme(testDescription: "age \(age)") { $0.history = .kept(for: age) }
    }
    + durations.map { time in
      Extreme(testDescription: "lock \(time)") { $0.lock = .wait(for: time) }
    }
    + durations.map { delay in
      Extreme(testDescription: "flushWithin \(delay)") {
        $0.durability = .relaxed(flushWithin: delay)
      }
    }
    + compactions

  @Test(arguments: extremes)
  func `a store works with any number in its options`(_ extreme: Extreme) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    var options = StoreOptions()
    extreme.set(&options)
    let store = try PersistentStore(at: path, model: Photo.model, options: options)
    try store.write { transaction in
      for id in 0..<20 { try transaction.save(Photo(id, image: 150)) }
      #expect(try transaction.fetch(Photo.self, key: 3) == Photo(3, image: 150))
      try transaction.delete(Photo.self, key: 4)
    }
    for id in 20..<25 { try store.save(Photo(id, image: 150)) }
    try store.save(Photo(4, image: 0))
    try store.close()
    let again = try PersistentStore(at: path, model: Photo.model, options: options)
    #expect(try again.count(Photo.self) == 25)
    #expect(try again.fetch(Photo.self, key: 24) == Photo(24, image: 150))
    try again.expectSound()
    try again.close()
  }

  @Test(arguments: [Int.min, 0, 1, 1 << 50, .max])
  func `a store is migrated in slices of any count`(_ count: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 60)
    var options = StoreOptions()
    options.migration.sliceCount = count
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") { UpdateField("price", by: { _ in 1 }) }
      }
    ]
    let error = storeError {
      let store = try PersistentStore(
        at: path, model: Priced.second, steps: steps, options: options)
      try store.expectSound()
      try store.close()
    }
    #expect(error == nil)
  }

  /// Of all that can be asked of it, what moves most.
  @Test(arguments: compactions)
  func `automatic compaction comes to rest`(_ extreme: Extreme) throws {
    let directory = try TemporaryDirectory()
    var options = StoreOptions()
    options.foldThreshold = 64 << 10
    options.automaticCompaction?.leastGain = 0
    options.automaticCompaction?.beginsAt = 0
    extreme.set(&options)
    let store = try PersistentStore(
      at: directory.path + "/store", model: .samples, options: options)
    let text = String(repeating: "x", count: 500)
    for round in 0..<4 {
      try store.write(durability: .relaxed) { transaction in
        for id in 0..<300 { try transaction.save(Note(key: "\(id)", text: "\(round)" + text)) }
      }
    }
    try store.flush()
    let backend = try #require(store.backend as? EngineBackend)
    let medium = try #require(backend.engine.medium as? PosixFileSystem)
    // A busy machine may let its thread wait for a while: it rests if it has written nothing for three times.
    var (written, rests) = (-1, 0)
    for _ in 0..<400 where rests < 3 {
      let found = medium.bytesWritten
      rests = found == written ? rests + 1 : 0
      written = found
      usleep(100_000)
    }
    #expect(rests == 3, "it writes for ever")
    #expect(try store.count(Note.self) == 300)
    try store.expectSound()
    try store.close()
  }

  @Test func `a filter for any number of keys takes little memory`() {
    for count in [Int.min, -1, 0, 1, 1 << 50, .max] {
      let filter = KeyFilter(wordCount: count)
      filter.insert(5)
      let isThere = filter.mayContain(5)
      #expect(isThere)
    }
  }
}
