import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A follower")
struct FollowerTests {
  private typealias Simulated = SimulatedFileSystem
  private typealias Interposed = InterposedFileSystem

  @Test func `shows a closed store without a writing call`() throws {
    let medium = SimulatedFileSystem()
    let writer = try WrittenHistory(medium, seed: 1)
    for _ in 0..<50 { try writer.step() }
    try writer.close()
    let files = medium.names
    for removesLock in [false, true] {
      if removesLock { try medium.unlink(.lock, at: .test) }
      let start = medium.callCount
      let follower = try Follower(medium, options: .small())
      try writer.verify(follower.snapshot(), follower.names)
      #expect(follower.snapshot().state.sequence == writer.contents.keys.max())
      #expect(try !follower.refresh())
      let reading: Set<TestSupport.Operation> = [
        .list, .open, .size, .read, .isLocked, .map, .willNeed,
      ]
      #expect(medium.calls[start...].allSatisfy { reading.contains($0.operation) })
      #expect(medium.names.subtracting(files).isEmpty)
    }
    #expect(medium.openFileCount == 0)
  }

  @Test func `finds no store where there is none`() {
    let medium = SimulatedFileSystem()
    #expect(throws: StoreError.missing(path: "simulated/log-0")) { _ = try Follower(medium) }
  }

  @Test func `shows a commit when it is known to be flushed, and all once there is no writer`()
    throws
  {
    let medium = SimulatedFileSystem()
    var engine: SimulatedEngine? = try SimulatedEngine.open(medium)
    let follower = try Follower(medium, options: .small())
    func sequence() throws -> UInt64 {
      _ = try follower.refresh()
      return follower.snapshot().state.sequence
    }
    try engine?.put([1], [1])
    #expect(try sequence() == 0)
    try engine?.put([2], [2])
    #expect(try sequence() == 1)
    try engine?.seal()
    #expect(try sequence() == 2)
    try engine?.put([3], [3])
    #expect(try sequence() == 2)
    let held = follower.snapshot()
    engine = nil
    #expect(try sequence() == 3)
    #expect(held.state.sequence == 2)
    // Now that it was seen, a writer that comes does not take it away.
    engine = try SimulatedEngine.open(medium)
    #expect(try sequence() == 3)
    withExtendedLifetime(engine) {}
  }

  /// The next writer begins with all commits in one overlay, in which such a key is not.
  @Test func `notes a key that was added and removed again, whoever writes by now`() throws {
    let medium = SimulatedFileSystem()
    var engine: SimulatedEngine? = try SimulatedEngine.open(medium)
    try engine?.put([1], [1])
    try engine?.seal()
    let follower = try Follower(medium, options: .small())
    #expect(follower.snapshot().state.sequence == 1)
    try engine?.remove([1] as Bytes)
    try engine?.put([2], [2])
    engine = nil
    engine = try SimulatedEngine.open(medium)
    let tree = try follower.names.slot(of: "t")
    let notes = KeyNotes(of: ObservedTrees([tree]))
    #expect(try follower.refresh(noting: notes))
    #expect(follower.snapshot().state.sequence == 3)
    let keys = notes.keys(of: tree)
    let isNoted = (0..<keys.count).contains { keys.key($0).array() == [1] }
    #expect(!keys.isComplete || isNoted)
    withExtendedLifetime(engine) {}
  }

  @Test func `refuses a log that has lost what was shown of it`() throws {
    let medium = SimulatedFileSystem()
    var engine: SimulatedEngine? = try SimulatedEngine.open(medium)
    try engine?.put([1], [1])
    engine = nil
    let logs = [FileName.log(0), .log(1)]
    let older = logs.map { medium.bytes(of: $0) ?? [] }
    engine = try SimulatedEngine.open(medium)
    for key in 2...5 as ClosedRange<UInt8> { try engine?.put([key], [key]) }
    engine = nil
    let follower = try Follower(medium, options: .small())
    #expect(follower.snapshot().state.sequence == 5)
    for (name, bytes) in zip(logs, older) { medium.replaceBytes(of: name, with: bytes) }
    engine = try SimulatedEngine.open(medium, seed: 7)
    try engine?.put([6], [6])
    let error = #expect(throws: StoreError.self) { _ = try follower.refresh() }
    guard case .corrupt(.log, .logFlushed, _) = error else {
      Issue.record("\(error.map(String.init(describing:)) ?? "nothing")")
      return
    }
    #expect(follower.snapshot().state.sequence == 5)
    withExtendedLifetime(engine) {}
  }

  @Test func `asks little where nothing is new`() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    for index in 0..<50 as Range<UInt8> { try engine.put([index], [1]) }
    try engine.seal()
    let follower = try Follower(medium, options: .small())
    let start = medium.callCount
    #expect(try !follower.refresh())
    #expect(medium.callCount - start <= 10)
    let before = follower.snapshot()
    #expect(before === follower.snapshot())
    #expect(before.state.sequence == 50)
    withExtendedLifetime(engine) {}
  }

  /// At every call of a writer a follower looks, and another that has followed from the beginning.
  @Test func `never shows what a power cut takes, whatever the writer is doing`() throws {
    var count = 0
    for seed in 1...UInt64(scaled(16, debug: 12)) {
      let inner = SimulatedFileSystem()
      let medium = Interposed(inner)
      let writer = try WrittenHistory(medium, seed: seed)
      let follower = try Follower(inner, options: .small())
      var last: UInt64 = 0
      var failure: (any Error)?
      func look() throws {
        count += 1
        let kept = follower.snapshot()
        let notes = KeyNotes(
          of: ObservedTrees(try WrittenHistory.slots(follower.names)))
        _ = try follower.refresh(noting: notes)
        let shown = follower.snapshot()
        try writer.verify(notes, from: kept, to: shown, follower.names)
        try agree(shown.state.sequence >= last, "it went back")
        last = shown.state.sequence
        let fresh = try Follower(inner, options: .small())
        let sequence = max(fresh.snapshot().state.sequence, last)
        let isWriting = try WriterLock.isHeld(in: inner)
        if isWriting {
          let image = try SimulatedEngine.open(inner.crashed(.none), creating: false)
          try agree(
            image.report.sequence >= sequence, "\(sequence), after a cut \(image.report.sequence)")
        }
        try writer.verify(shown, follower.names)
        try writer.verify(fresh.snapshot(), fresh.names)
        try writer.verify(kept, follower.names)
      }
      for step in 0..<120 {
        medium.beforeCalls { _ in
          do { try look() } catch { failure = failure ?? error }
        }
        try writer.step()
        if step % 40 == 39 {
          if step % 80 == 79 { try writer.close() } else { writer.drop() }
          try writer.open()
        }
        medium.beforeCalls(nil)
        if step % 10 == 9 {
          try writer.seal()
          try look()
          try agree(last == writer.lastSequence, "after a seal it shows \(last)")
        }
        if let failure { throw Disagreement(description: "seed \(seed), \(step): \(failure)") }
      }
    }
    print("Follower: looked at \(count) moments of a writer")
  }

  /// At every call of a follower a writer goes on.
  @Test func `finds its way whatever a writer does meanwhile`() throws {
    var refreshes = 0
    var tooFast = 0
    for seed in 1...UInt64(scaled(150, debug: 4)) {
      let inner = SimulatedFileSystem()
      let writer = try WrittenHistory(inner, seed: seed)
      for _ in 0..<(seed * 7 % 60) { try writer.step() }
      try writer.seal()
      let medium = Interposed(inner)
      var generator = SplitMix64(seed: seed)
      let pace = [5, 12, 30, 80][Int(seed % 4)]
      var failure: (any Error)?
      func meanwhile() {
        do {
          guard generator.next() % UInt64(pace) == 0 else { return }
          for _ in 0..<(generator.next() % 12) { try writer.step() }
        } catch { failure = failure ?? error }
      }
      medium.beforeCalls { _ in meanwhile() }
      func run() throws {
        let least = writer.lastSequence
        let follower = try Follower(medium, options: .small())
        try agree(follower.snapshot().state.sequence >= least, "it shows less than was sealed")
        var kept: [Snapshot] = []
        var last: UInt64 = 0
        for round in 0..<20 {
          var sealed = last
          if round % 5 == 0 {
            try writer.seal()
            sealed = writer.lastSequence
          }
          do throws(StoreError) {
            _ = try follower.refresh()
          } catch {
            // A writer that goes through several uses of the log in one refresh.
            guard case .io(.wouldBlock, _, _) = error else { throw error }
            tooFast += 1
            continue
          }
          refreshes += 1
          let snapshot = follower.snapshot()
          try agree(snapshot.state.sequence >= sealed, "it shows less than was sealed before")
          last = snapshot.state.sequence
          kept.append(snapshot)
        }
        for snapshot in kept { try writer.verify(snapshot, follower.names) }
      }
      do {
        try run()
        if let failure { throw failure }
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
    print("Follower: \(refreshes) refreshes under a writer, \(tooFast) given up")
    #expect(tooFast <= refreshes / 10)
  }
}
