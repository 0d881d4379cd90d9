import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("An engine")
struct EngineTests {
  @Test("has what was committed, before and after it is closed")
  func commits() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    #expect(engine.report.isNew)
    for index in 0..<200 as Range<UInt8> {
      try engine.put([index], Bytes(repeating: index, count: 50))
    }
    for index in 0..<200 as Range<UInt8> {
      #expect(try engine.value([index]) == Bytes(repeating: index, count: 50))
    }
    while try engine.step() {}
    for index in 0..<200 as Range<UInt8> {
      #expect(try engine.value([index]) == Bytes(repeating: index, count: 50))
    }
    try engine.close()
    let again = try SimulatedEngine.open(medium.crashed(.none), creating: false)
    #expect(!again.report.isNew)
    #expect(again.report.replayedCommits == 0)
    for index in 0..<200 as Range<UInt8> {
      #expect(try again.value([index]) == Bytes(repeating: index, count: 50))
    }
  }

  @Test("has every durable commit after a crash without closing")
  func crash() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    for index in 0..<100 as Range<UInt8> {
      try engine.put([index], Bytes(repeating: index, count: 50))
      let again = try SimulatedEngine.open(medium.crashed(.none), seed: UInt64(index))
      for before in 0...index {
        #expect(try again.value([before]) == Bytes(repeating: before, count: 50))
      }
      #expect(try again.value([index + 1]) == nil)
    }
  }

  @Test("puts it into the trees too, when it is closed, that a tree was cleared")
  func closesCleared() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    try engine.put([1], [2])
    engine.freezeIfPossible()
    while try engine.step() {}
    let slot = try engine.names.slot(of: "t")
    try engine.write(.durable) { $0.removeAll(in: slot) }
    try engine.close()
    let again = try SimulatedEngine.open(medium.crashed(.none), creating: false)
    #expect(again.report.replayedCommits == 0)
    #expect(try again.value([1]) == nil)
  }

  @Test("goes over to the log's other file while nothing is frozen that rows are made new by")
  func opensWithNothingFrozen() throws {
    let medium = SimulatedFileSystem()
    let engine = try SimulatedEngine.open(medium)
    try engine.put([1], [1])
    engine.freezeIfPossible()
    while try engine.step() {}
    engine.freezeNothing()
    try engine.beginUse(with: engine.working)
    try engine.put([2], [2])
    try engine.beginUse(with: engine.working)
    for step in 0..<2 {
      let again = try SimulatedEngine.open(medium.crashed(.none), seed: 2, creating: false)
      #expect(try again.value([1]) == [1])
      #expect(try again.value([2]) == [2])
      if step == 0 { while try engine.step() {} }
    }
    try engine.close()
  }

  @Test("is made anew where the sync of its name failed, which nothing else would repeat")
  func createsAgain() throws {
    let medium = SimulatedFileSystem()
    medium.inject(.flush(.errorCacheShowsNew), at: .site(.logDirectorySync, 1))
    #expect(throws: StoreError.self) { try SimulatedEngine.open(medium) }
    medium.heal()
    let engine = try SimulatedEngine.open(medium, seed: 2)
    try engine.put([1], [2])
    let again = try SimulatedEngine.open(medium.crashed(.none), seed: 3, creating: false)
    #expect(try again.value([1]) == [2])
  }
}
