import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("An upgrade beside another")
struct HeldUpgradeTests {
  /// The first is done, but for the files that nothing needs any more; then the second begins, and there is no room.
  /// Whichever thread folds then, the second was not done.
  @Test func `two upgrades at a time are each told what became of it`() async throws {
    for _ in 0..<20 {
      let medium = InterposedFileSystem(InMemoryFileSystem())
      let engine = try Engine.open(medium, options: HeldWorld.options)
      let slot = try engine.names.slot(of: "t")
      for key in 0..<20 as Range<UInt8> { try engine.put([key], [1]) }
      try engine.foldEverything()
      engine.appender = engine.appender.successor()
      for key in 0..<20 as Range<UInt8> { try engine.put([key], [2]) }
      let (unlinks, mayUnlink) = (Signal(), Signal())
      medium.beforeCalls { site in
        guard site == .segmentUnlink else { return }
        unlinks.set()
        mayUnlink.wait()
      }
      let crew = Crew()
      let answers = Mutex<[Int: LifeAnswer]>([:])
      let upgrade = { @Sendable (number: Int) in
        let answer = LifeAnswer { try engine.upgrade(SoughtUpgrade(tree: slot, count: 1)) }
        answers.withLock { $0[number] = answer }
      }
      try crew.start { _ in upgrade(1) }
      try #require(await comesTrue { unlinks.isSet })
      try engine.put([1], [3])
      try crew.start { _ in upgrade(2) }
      try #require(await engine.reaches(engine.sought != nil))
      medium.failWriting { $0 == .pageWrite ? .noSpace : nil }
      mayUnlink.set()
      try #require(await crew.ends())
      #expect(answers.withLock { $0 } == [1: .returned, 2: .full])
      medium.failWriting(nil)
      try engine.close()
    }
  }
}
