import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store that was closed is opened and closed again without a change, and then with one.
@Suite("A store that was closed") struct UnchangedStoreTests {
  /// The operations that change a file or force it to the disk.
  private static let writing: [Operation] = [
    .write, .sync, .syncDirectory, .truncate, .rename, .unlink,
  ]

  /// The calls of these, but for the process's number in `LOCK`.
  private static func writes(of medium: SimulatedFileSystem) -> [Call] {
    medium.calls.filter { writing.contains($0.operation) && $0.site != .lockWrite }
  }

  /// A closed store of `count` entries, which were folded as often as its small overlays fill. It was opened twice: only a log
  /// in its second use or a later one is known to have its names on the disk.
  private static func closed(_ count: Int) throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let engine = try Engine.open(medium)
    for key in 0..<count { try engine.put(name(key), [UInt8(truncatingIfNeeded: key)]) }
    try engine.close()
    try Engine.open(medium, seed: 9, creating: false).close()
    return medium
  }

  private static func name(_ key: Int) -> Bytes { [UInt8(key >> 8), UInt8(key & 0xff)] }

  private static func content(of medium: any FileSystem, _ count: Int, seed: UInt64) throws
    -> [Bytes?]
  {
    let engine = try Engine.open(medium, seed: seed, creating: false)
    defer { try? engine.close() }
    return try (0..<count).map { try engine.value(name($0)) }
  }

  @Test(arguments: [0, 1, 300])
  func `is opened, read, flushed and closed without a write or a flush`(count: Int) throws {
    let medium = try Self.closed(count)
    for seed in 2...4 as ClosedRange<UInt64> {
      let before = Self.writes(of: medium)
      let engine = try Engine.open(medium, seed: seed, creating: false)
      for key in 0..<count { #expect(try engine.value(Self.name(key)) != nil) }
      try engine.flush()
      try engine.seal()
      while try engine.step() {}
      try engine.close()
      #expect(Self.writes(of: medium) == before)
    }
  }

  @Test func `takes commits after it, of which none is lost at a cut of any call`() throws {
    for count in [0, 1, 300] {
      let medium = try Self.closed(count)
      let engine = try Engine.open(medium, seed: 2, creating: false)
      var committed = 0
      var cuts = 0
      medium.beforeEachCall { number in
        for policy in [CrashPolicy.none, .all, .subset(seed: UInt64(number))] {
          do {
            let after = medium.crashed(policy)
            let found = try Self.content(of: after, count + 3, seed: UInt64(number) + 10)
            let present = found.prefix { $0 != nil }.count
            #expect(found.dropFirst(present).allSatisfy { $0 == nil })
            #expect(present >= count + committed && present <= count + committed + 1)
            cuts += 1
          } catch { Issue.record("\(error), cut before call \(number)") }
        }
      }
      for _ in 0..<3 {
        try engine.put(Self.name(count + committed), [1])
        committed += 1
      }
      medium.beforeEachCall(nil)
      try engine.close()
      #expect(cuts > 12)
    }
  }

  @Test func `whose first commit is made by a footer names a use of the log that is begun`() throws
  {
    let medium = try Self.closed(300)
    let engine = try Engine.open(medium, seed: 2, creating: false)
    let slot = try engine.names.slot(of: "t")
    medium.beforeEachCall { number in
      let after = medium.crashed(.all)
      do { _ = try Self.content(of: after, 1, seed: UInt64(number) + 10) } catch {
        Issue.record("\(error), cut before call \(number)")
      }
    }
    // More than a file of the log takes.
    try engine.write(.durable) { transaction in
      for key in 0..<400 {
        try transaction.put(
          Self.name(1000 + key).rawSpan, Bytes(repeating: 7, count: 1000).rawSpan, schemaVersion: 1,
          in: slot)
      }
    }
    medium.beforeEachCall(nil)
    try engine.close()
    #expect(try Self.content(of: medium, 1300, seed: 5).compactMap { $0 }.count == 600)
  }

  @Test func `whose newest commit is not known to be flushed is written again when it is opened`()
    throws
  {
    let medium = SimulatedFileSystem()
    let engine = try Engine.open(medium)
    try engine.put([1], [1])
    let after = medium.crashed(.all)
    let before = after.callCount(of: .sync)
    let opened = try Engine.open(after, seed: 2, creating: false)
    #expect(after.callCount(of: .sync) > before)
    #expect(try opened.value([1]) == [1])
    try opened.close()
    try engine.close()
  }

  @Test(arguments: [Fault.error(.noSpace), .error(.ioError), .errorAfterAll(.ioError)])
  func `whose first write fails keeps all that it had, and is opened again`(fault: Fault) throws {
    let count = 300
    let rehearsal = try Engine.open(try Self.closed(count), seed: 2, creating: false)
    let first = try #require(rehearsal.medium as? SimulatedFileSystem).callCount
    try rehearsal.put(Self.name(count), [1])
    let end = try #require(rehearsal.medium as? SimulatedFileSystem).callCount
    try rehearsal.close()
    #expect(end - first > 6)
    for call in first..<end {
      let medium = try Self.closed(count)
      let engine = try Engine.open(medium, seed: 2, creating: false)
      medium.inject(fault, at: .call(call))
      let outcome = Result { try engine.put(Self.name(count), [1]) }
      try? engine.close()
      let found = try Self.content(of: medium, count + 1, seed: 3)
      #expect(found.prefix(count).allSatisfy { $0 != nil })
      if case .success = outcome { #expect(found[count] == [1]) }
    }
  }
}
