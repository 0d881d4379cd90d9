import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium

/// Small stores, sound and hostile ones, changed at random with their checksums mended: nothing that reads them may
/// trap, hang, or throw what is no `StoreError`.
///
/// Where it traps, the store and its seed are left behind in a temporary directory: the files `store` and `seed`.
@Suite(.serialized) struct MutatedStoreTests {
  @Test(.timeLimit(.minutes(5)))
  func `stores changed at random are read or refused, in time`() throws {
    let directory = try TemporaryDirectory()
    let bases = try Self.bases(in: directory.path)
    let first = UInt64(unsafe getenv("CAMBIUM_SOAK").map { unsafe String(cString: $0) } ?? "") ?? 0
    let clock = ContinuousClock()
    let end = clock.now + .seconds(30 * Int(max(1, first)))
    let seeds = (0..<UInt64(scaled(100_000, debug: 60))).lazy.map { first << 32 | $0 }
    var count = 0
    replaying(seeds.prefix { _ in clock.now < end }) { seed in
      count += 1
      let began = clock.now
      try Self.run(seed, bases, directory.path)
      try agree(clock.now - began < .seconds(20), "it took \(clock.now - began)")
    }
    print("Read \(count) stores that were changed at random, from seed \(first << 32) on.")
  }

  @Test func `mending a sound store changes nothing`() throws {
    let directory = try TemporaryDirectory()
    for (name, files) in try Self.bases(in: directory.path) where !name.contains("-") {
      for mendsAggregates in [false, true] {
        var mender = StoreMender(files, mendsAggregates: mendsAggregates)
        mender.mend()
        #expect(mender.files.contents == files.contents, "\(name)")
        let kinds = Set(mender.pieces.map(\.kind))
        #expect(kinds.isSuperset(of: [.footer, .logHeader]))
        #expect(kinds.contains(.leaf) == (name != "unfolded"), "\(name)")
      }
    }
  }

  private static func run(_ seed: UInt64, _ bases: [(String, StoreFiles)], _ folder: String) throws
  {
    var random = SplitMix64(seed: seed)
    guard let (name, files) = bases.randomElement(using: &random) else { return }
    var mender = StoreMender(files, mendsAggregates: Bool.random(using: &random))
    mender.mend()
    var changed = mender.files
    var isStructural = true
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let mutation = StoreMutation(of: mender.pieces, using: &random)
      mutation.apply(to: &changed)
      if !mutation.isStructural { isStructural = false }
    }
    mender.replace(changed)
    mender.mend()
    try mender.files.write(to: folder + "/store")
    try Data("seed \(seed), \(name)\n".utf8).write(to: URL(filePath: folder + "/seed"))
    let isWhole = try use(.deepCheck, folder) ?? false
    for use in StoreUse.allCases where use != .deepCheck {
      let isAnswered = try self.use(use, folder) != nil
      // A write or a compaction refuses what reading does not meet.
      guard isWhole, isStructural, ![.backUp, .write, .compact].contains(use) else { continue }
      try agree(isAnswered, "\(name): a deep check finds nothing, and \(use) fails")
    }
  }

  /// - Returns: whether no fault was found; nil where an error was thrown.
  private static func use(_ use: StoreUse, _ folder: String) throws -> Bool? {
    let copy = folder + "/copy"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    do {
      return try use.run(at: folder + "/store", scratch: copy).isEmpty
    } catch {
      try agree(error is StoreError, "\(use) throws \(error)")
      return nil
    }
  }

  // MARK: What is changed

  private static func bases(in folder: String) throws -> [(String, StoreFiles)] {
    var bases: [(String, StoreFiles)] = []
    for (name, make) in [
      ("accounts", makeAccounts), ("photos", makePhotos), ("history", makeHistory),
      ("unfolded", makeUnfolded),
    ] as [(String, (String) throws -> Void)] {
      let path = "\(folder)/\(name)"
      try make(path)
      bases.append((name, try StoreFiles(at: path)))
    }
    // Those that take long to read are read once, elsewhere.
    for name in HostileStores.names
    where !["blob-of-2-gib", "schema-of-20000-fields"].contains(name) {
      bases.append((name, try HostileStores.files(name)))
    }
    return bases
  }

  private static func makeAccounts(at path: String) throws {
    let store = try PersistentStore(at: path, model: .samples)
    try store.write { transaction in
      for account in Account.some(700) { try transaction.save(account) }
      for number in 0..<20 { try transaction.save(Seat(row: "R\(number % 3)", number: number)) }
      try transaction.save(Note(key: "long", text: PhotoContent.text(30_000)))
    }
    try store.write { transaction in
      try transaction.setMetadata(["a": 1], for: "meta")
      for id in 0..<50 { _ = try transaction.delete(Account.self, key: id * 3) }
    }
    try store.close()
  }

  private static func makePhotos(at path: String) throws {
    let store = try PersistentStore(at: path, model: Photo.model)
    for id in 1...8 { try store.save(Photo(id, image: id * 700, preview: id % 3 * 90, notes: 250)) }
    try store.close()
  }

  private static func makeHistory(at path: String) throws {
    var options = StoreOptions()
    options.history = .keptCommits(20)
    let store = try PersistentStore(at: path, model: .samples, options: options)
    for id in 0..<30 { try store.save(Note(key: "\(id % 9)", text: PhotoContent.text(id * 20))) }
    try store.close()
  }

  /// One that was not closed: its commits are in the log alone.
  private static func makeUnfolded(at path: String) throws {
    let store = try PersistentStore(at: path + ".open", model: .samples)
    for account in Account.some(20) { try store.save(account) }
    try store.save(Note(key: "a", text: "b"))
    try StoreFiles(at: path + ".open").write(to: path)
    try store.close()
  }
}
