import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Small stores, sound and hostile ones, changed at random with their checksums mended: nothing that reads them may
/// trap, hang, or throw what is no `StoreError`.
///
/// Where it traps, the store and its seed are left behind in a temporary directory: the files `store` and `seed`.
@Suite(.serialized) struct MutatedStoreTests {
  @Test(.timeLimit(.minutes(60)))
  func `stores changed at random are read or refused, in time`() throws {
    let directory = try TemporaryDirectory()
    let bases = try MutatedStores.bases(in: directory.path)
    let first = UInt64(unsafe getenv("CAMBIUM_SOAK").map { unsafe String(cString: $0) } ?? "") ?? 0
    let clock = ContinuousClock()
    let end = clock.now + .seconds(30 * Int(max(1, first)))
    let seeds = (0..<UInt64(scaled(100_000, debug: 60))).lazy.map { first << 32 | $0 }
    var count = 0
    replaying(seeds.prefix { _ in clock.now < end }) { seed in
      count += 1
      let began = clock.now
      try Self.run(seed, bases, directory.path)
      try agree(clock.now - began < .seconds(120), "it took \(clock.now - began)")
    }
    print("Read \(count) stores that were changed at random, from seed \(first << 32) on.")
  }

  @Test func `mending a sound store changes nothing`() throws {
    let directory = try TemporaryDirectory()
    for (name, files) in try MutatedStores.sound(in: directory.path) {
      for mendsAggregates in [false, true] {
        var mender = StoreMender(files, mendsAggregates: mendsAggregates)
        mender.mend()
        #expect(mender.files.contents == files.contents, "\(name)")
        let kinds = Set(mender.pieces.map(\.kind))
        #expect(kinds.isSuperset(of: [.footer, .logHeader]))
        #expect(kinds.contains(.leaf) == (name != "unfolded"), "\(name)")
        #expect(kinds.contains(.schema) == (name != "unfolded"), "\(name)")
        #expect(kinds.contains(.value) == (name == "accounts"), "\(name)")
        #expect(kinds.contains(.blobTail) == (name == "photos"), "\(name)")
      }
    }
  }

  /// The command for `Tests/Fuzzing/Corpus/store`: `CAMBIUM_WRITE_SEEDS=DIRECTORY swift test --filter MutatedStoreTests`
  @Test(.enabled(if: MutatedStores.seedPath != nil))
  func `sound stores are written as seeds where the environment says`() throws {
    let path = try #require(MutatedStores.seedPath)
    let directory = try TemporaryDirectory()
    for (name, files) in try MutatedStores.sound(in: directory.path) {
      try Data(files.archived(level: 19)).write(to: URL(filePath: "\(path)/\(name).tar.zst"))
    }
  }

  @Test func `an archive of a store has its files, for other tools as well`() throws {
    let directory = try TemporaryDirectory()
    let (archive, copy) = (directory.path + "/store.tar.zst", directory.path + "/copy")
    for (name, files) in try MutatedStores.sound(in: directory.path) {
      let bytes = files.archived()
      #expect(StoreFiles(archive: bytes)?.contents == files.contents, "\(name)")
      for count in stride(from: 0, to: bytes.count, by: 97) {
        #expect(StoreFiles(archive: Bytes(bytes.prefix(count))) == nil)
      }
      try Data(bytes).write(to: URL(filePath: archive))
      try StoreFiles().write(to: copy)
      try #require(unsafe system("tar --zstd -xf \(archive) -C \(copy)") == 0)
      #expect(try StoreFiles(at: copy).contents == files.contents, "\(name)")
    }
  }

  private static func run(_ seed: UInt64, _ bases: [(String, StoreFiles)], _ folder: String) throws
  {
    var random = SplitMix64(seed: seed)
    guard let (name, files) = bases.randomElement(using: &random) else { return }
    var mender = StoreMender(files, mendsAggregates: Bool.random(using: &random))
    mender.mend()
    var changed = mender.files
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      StoreMutation(of: mender.pieces, using: &random)?.apply(to: &changed)
    }
    mender.replace(changed)
    mender.mend()
    try mender.files.write(to: folder + "/store")
    try Data("seed \(seed), \(name)\n".utf8).write(to: URL(filePath: folder + "/seed"))
    do {
      try StoreUse.tryAll(at: folder + "/store", scratch: folder + "/copy")
    } catch {
      throw Disagreement(description: "\(name): \(error)")
    }
  }
}
