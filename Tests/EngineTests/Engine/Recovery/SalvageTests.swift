import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Salvage")
struct SalvageTests {
  /// A store that was closed after several folds, with a writer that knows what was in it when.
  private func written(seed: UInt64, steps: Int = 60) throws -> (
    WrittenHistory, SimulatedFileSystem
  ) {
    let medium = SimulatedFileSystem()
    let writer = try WrittenHistory(medium, seed: seed)
    for _ in 0..<steps { try writer.step() }
    try writer.close()
    return (writer, medium)
  }

  private func loseLog(of medium: SimulatedFileSystem) throws {
    for number in LogLayout.fileNumbers { try medium.unlink(.log(number), at: .test) }
  }

  private func salvage(
    _ medium: SimulatedFileSystem, to other: SimulatedFileSystem = SimulatedFileSystem(),
    choosing choice: SalvageChoice = .newestWhole
  ) throws -> (SimulatedFileSystem, SalvagedState) {
    let salts = Salts(seed: 99)
    let report = try Salvage.run(from: medium, to: other, choosing: choice, options: .small()) {
      salts.next()
    }
    return (other, report)
  }

  /// What the engine opens in `medium`, checked.
  private func opened(_ medium: SimulatedFileSystem) throws -> SimulatedEngine {
    let engine = try SimulatedEngine.open(medium, creating: false)
    #expect(engine.report.discardedTail == nil && engine.report.healed.isEmpty)
    #expect(engine.working.base.file.check(sizes: EngineOptions.small().nodeSizes).isEmpty)
    return engine
  }

  @Test(arguments: 1...UInt64(scaled(20, debug: 4)))
  func `a store whose log is lost is copied whole`(seed: UInt64) throws {
    let (writer, medium) = try written(seed: seed)
    try loseLog(of: medium)
    let (start, bytes) = (medium.callCount, medium.bytesWritten)
    let (other, report) = try salvage(medium)
    #expect(medium.bytesWritten == bytes)
    #expect(medium.calls[start...].allSatisfy { $0.operation != .unlink })
    #expect(report.losses.isEmpty)
    #expect(report.faults.allSatisfy { if case .missing = $0 { true } else { false } })
    #expect(report.chosen == 0)
    let engine = try opened(other)
    #expect(engine.report.sequence == writer.contents.keys.max())
    try writer.verify(try engine.snapshot(), engine.names)
    // It is a store like any other.
    try engine.put([1], [2], in: "a")
    try engine.close()
    #expect(try opened(other).value([1], in: "a") == [2])
  }

  @Test(arguments: 1...UInt64(scaled(20, debug: 4)))
  func `of a damaged newest state what is left, or the one before it whole`(seed: UInt64) throws {
    let (writer, medium) = try written(seed: seed)
    try loseLog(of: medium)
    let before = try Salvage.search(medium, isComplete: true)
    let newest = try #require(before.candidates.first)
    #expect(newest.isWhole)
    // Some page right before the newest footer belongs to its trees alone.
    let position = newest.position
    let name = FileName.pages(position.segment)
    guard position.block > 2 else { return }
    medium.flipBit((Int(position.block) - 1) * Layout.blockSize * 8 + 777, of: name)
    let after = try Salvage.search(medium, isComplete: true)
    #expect(after.candidates.map(\.position) == before.candidates.map(\.position))
    if after.candidates[0].isWhole { return }
    let (other, report) = try salvage(medium, choosing: .newest)
    #expect(report.chosen == 0 && !report.losses.isEmpty)
    try verify(other, writer, losses: report.losses)
    guard let whole = after.candidates.firstIndex(where: \.isWhole) else { return }
    let (third, second) = try salvage(medium)
    #expect(second.chosen == whole && second.losses.isEmpty)
    let engine = try opened(third)
    #expect(engine.report.sequence == after.candidates[whole].coveredSequence)
    try writer.verify(try engine.snapshot(), engine.names)
  }

  /// All keys are there but those that the report says were lost.
  private func verify(
    _ medium: SimulatedFileSystem, _ writer: WrittenHistory,
    losses: [SalvagedState.Loss]
  ) throws {
    let engine = try opened(medium)
    let content = try #require(writer.contents[engine.report.sequence])
    var lost: UInt64 = 0
    for (tree, entries) in content {
      for (key, value) in entries {
        let isLost = losses.contains { loss in
          loss.tree == tree && key.rawSpan.compare(loss.low.rawSpan) >= 0
            && (loss.high.map { key.rawSpan.compare($0.rawSpan) < 0 } ?? true)
        }
        #expect(try engine.value(key, in: tree) == (isLost ? nil : value))
        lost += isLost ? 1 : 0
      }
    }
    #expect(losses.reduce(0) { $0 + ($1.count ?? 0) } == lost)
  }

  @Test func `a footer of which one copy is damaged is found by the other`() throws {
    for copy in 0..<2 as Range<UInt32> {
      let (writer, medium) = try written(seed: 3)
      try loseLog(of: medium)
      let position = try #require(try Salvage.search(medium).candidates.first).position
      medium.flipBit(
        Int(position.block + copy) * Layout.blockSize * 8 + 999, of: .pages(position.segment))
      let (other, report) = try salvage(medium)
      #expect(report.chosen == 0)
      #expect(report.candidates[0].otherFaults.count == 1)
      let engine = try opened(other)
      try writer.verify(try engine.snapshot(), engine.names)
    }
  }

  @Test func `a header, a whole segment and all footers may be gone`() throws {
    let (writer, medium) = try written(seed: 5, steps: 120)
    try loseLog(of: medium)
    let segments = medium.names.filter { if case .pages = $0.kind { true } else { false } }
    for name in segments {
      let image = medium.crashed(.all)
      image.flipBit(100, of: name)
      _ = try salvage(image, choosing: .newest)
      try image.unlink(name, at: .test)
      let (other, report) = try salvage(image, choosing: .newest)
      if report.chosen != nil { try verify(other, writer, losses: report.losses) }
    }
    for name in segments { try medium.unlink(name, at: .test) }
    let (other, report) = try salvage(medium)
    #expect(report.candidates.isEmpty && report.chosen == nil && report.losses.isEmpty)
    #expect(other.names == [])
  }

  @Test func `a crash on the way leaves no store, or the whole one`() throws {
    let (writer, medium) = try written(seed: 7)
    try loseLog(of: medium)
    let whole = SimulatedFileSystem()
    _ = try salvage(medium, to: whole)
    for call in stride(from: 0, to: whole.callCount, by: scaled(1, debug: 5)) {
      let other = SimulatedFileSystem()
      other.inject(.stop, at: .call(call))
      #expect(throws: StoreError.self) { _ = try salvage(medium, to: other) }
      for policy in [CrashPolicy.none, .all] {
        let image = other.crashed(policy)
        guard image.names.contains(.log(0)) else { continue }
        let engine = try opened(image)
        try writer.verify(try engine.snapshot(), engine.names)
      }
    }
  }

  @Test func `neither store may be in use, and the new one not be there`() throws {
    let medium = SimulatedFileSystem()
    let writer = try WrittenHistory(medium, seed: 9)
    for _ in 0..<20 { try writer.step() }
    #expect(throws: StoreError.locked(path: "simulated", holder: nil)) {
      _ = try salvage(medium)
    }
    try writer.close()
    let (other, otherMedium) = try written(seed: 2)
    #expect(throws: StoreError.self) { _ = try salvage(medium, to: otherMedium) }
    try other.open()
    #expect(throws: StoreError.self) { _ = try salvage(medium, to: otherMedium) }
  }

  /// A value that holds a footer, with the right checksum for the place where it comes to lie.
  @Test func `a footer that a user put into a value is not found in a whole page`() throws {
    func store(_ value: Bytes) throws -> SimulatedFileSystem {
      let medium = SimulatedFileSystem()
      let engine = try SimulatedEngine.open(medium)
      try engine.put([1], value)
      try engine.close()
      return medium
    }
    let length = 3 * Layout.blockSize
    let first = try store(Bytes(repeating: 0, count: length))
    let file = try Follower(first, options: .small()).snapshot().state.base.file
    let tree = Tree(pages: file.pages, root: file.footer.trees.first?.root)
    let entry = try #require(try tree.entry(for: ([1] as Bytes).rawSpan))
    let page = PageReference(decoding: entry.storedValue, at: 0).position
    // The second block of the value's page begins within the value.
    let position = PagePosition(segment: page.segment, block: page.block + 1)
    var forged = Footer(identity: file.pages.identity)
    forged.coveredSequence = 1_000_000
    var value = Bytes(repeating: 0, count: length)
    let bytes = try Self.page(of: forged, at: position)
    let offset = Layout.blockSize - LargeValue.partHeaderSize
    value.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    let medium = try store(value)
    try loseLog(of: medium)
    let found = try Salvage.search(medium, isComplete: true)
    #expect(!found.candidates.contains { $0.position == position })
    #expect(found.candidates.first?.coveredSequence == 1)
    // Where the page around it is damaged there is no telling.
    medium.flipBit(Int(page.block) * Layout.blockSize * 8 + 400, of: .pages(page.segment))
    let deceived = try Salvage.search(medium)
    #expect(deceived.candidates.first?.position == position)
  }

  private static func page(of footer: Footer, at position: PagePosition) throws -> Bytes {
    let buffer = PageBuffer(count: Layout.blockSize)
    var span = buffer.mutableBytes
    footer.encode(try footer.encodedSections(), to: &span)
    PageHeader(kind: .footer, level: 0, blocks: 1, checksum: PageChecksum()).encode(to: &span)
    let checksum = PageChecksum.of(buffer.bytes, at: position, in: footer.identity)
    span.store(checksum.rawValue, at: 0)
    return buffer.bytes.array()
  }
}
