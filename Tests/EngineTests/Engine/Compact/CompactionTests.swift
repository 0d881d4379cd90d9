import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Segments are emptied and given back while the store is in use.
@Suite struct CompactionTests {
  /// A store with garbage, in several segments.
  private static func engine(
    in medium: SimulatedFileSystem, rounds: Int = 6, options: EngineOptions = .small()
  ) throws -> (SimulatedEngine, [Bytes: Bytes]) {
    let engine = try SimulatedEngine.open(medium, options: options)
    var random = SplitMix64(seed: 5)
    var model: [Bytes: Bytes] = [:]
    for round in 0..<rounds {
      for _ in 0..<60 {
        let key: Bytes = [UInt8(random.next() % 100), 1, 2]
        let value = Bytes(repeating: UInt8(round), count: [9, 30, 700][Int(random.next() % 3)])
        try engine.put(key, value, .relaxed)
        model[key] = value
      }
      if round % 2 == 0 {
        medium.inject(.error(.ioError), at: .site(.pageWrite, medium.callCount(at: .pageWrite)))
      }
      try engine.foldEverything()
    }
    return (engine, model)
  }

  private static func check(_ engine: SimulatedEngine, holds model: [Bytes: Bytes]) throws {
    let tree = try engine.snapshot().tree(engine.names.slot(of: "t"))
    #expect(tree.count == model.count)
    for (key, value) in model { #expect(try engine.value(key) == value) }
    #expect(engine.working.base.file.check(sizes: engine.options.nodeSizes).isEmpty)
  }

  /// What the page segments take on the medium, of which nobody needs others.
  private static func pageBytes(in medium: SimulatedFileSystem) throws -> UInt64 {
    try medium.names.sorted { "\($0)" < "\($1)" }.reduce(0) { sum, name in
      guard case .pages = name.kind else { return sum }
      let file = try medium.open(name, .read, at: .test)
      return try sum + UInt64(file.size(at: .test))
    }
  }

  @Test func `segments of pending work of another version stay, whatever is folded or compacted`()
    throws
  {
    let medium = SimulatedFileSystem()
    let (engine, _) = try Self.engine(in: medium)
    let root = try #require(engine.working.base.file.footer.trees.first?.root)
    let work = PendingWork(
      kind: 77, cursor: [1], trees: [NamedTree(name: "later", root: root)])
    try engine.plant(work)
    for round in 0..<3 {
      for key in 0..<100 {
        try engine.put([UInt8(key), 1, 2], [UInt8(round)], .relaxed)
      }
      try engine.foldEverything()
    }
    var request = CompactionRequest()
    request.below = try engine.spaceUsage().nextNumber
    var slices = 0
    while try engine.compact(request) != nil, slices < 100 { slices += 1 }
    #expect(slices < 100, "it ends")
    #expect(engine.working.base.file.footer.pendingWork == [work])
    try engine.close()
    let again = try SimulatedEngine.open(medium, creating: false)
    #expect(again.working.base.file.footer.pendingWork == [work])
    #expect(again.working.base.file.check(sizes: again.options.nodeSizes).isEmpty)
  }

  @Test func `a whole compaction leaves one segment with hardly any garbage`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    let before = try engine.spaceUsage()
    #expect(before.segments.count > 1)
    var request = CompactionRequest()
    request.below = before.nextNumber
    let slice = try #require(try engine.compact(request))
    #expect(slice.endsPass && slice.releasedSegments == before.segments.count)
    #expect(slice.entries == model.count)
    #expect(try engine.compact(request) == nil, "nothing is left to be moved")
    let after = try engine.spaceUsage()
    #expect(after.segments.count == 1)
    #expect(after.liveBytes <= before.liveBytes)
    // The header, and the footer twice.
    #expect(after.garbage == 3 * UInt64(Layout.blockSize))
    #expect(try Self.pageBytes(in: medium) == after.size)
    try Self.check(engine, holds: model)
    try engine.close()
  }

  @Test func `slices go on where the last one ended, also after the store was opened anew`() throws
  {
    let medium = SimulatedFileSystem()
    var (engine, model) = try Self.engine(in: medium)
    let usage = try engine.spaceUsage()
    var request = CompactionRequest()
    request.below = usage.nextNumber
    request.bytes = 1
    var slices = 0
    var passEnded = false
    while !passEnded {
      let slice = try #require(try engine.compact(request))
      #expect(slice.below == usage.nextNumber)
      passEnded = slice.endsPass
      slices += 1
      try engine.put([UInt8(slices % 100), 1, 2], [7, 7])
      model[[UInt8(slices % 100), 1, 2]] = [7, 7]
      if slices % 3 == 0 {
        try engine.close()
        engine = try SimulatedEngine.open(medium)
      }
      if slices % 4 == 1 { try engine.foldEverything() }
    }
    #expect(slices > 5)
    let after = try engine.spaceUsage()
    #expect(after.segments.allSatisfy { $0.number >= usage.nextNumber })
    try Self.check(engine, holds: model)
  }

  @Test func `segments go one after the other, those with the least that lives first`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium, rounds: 9)
    let usage = try engine.spaceUsage()
    var request = CompactionRequest(scope: .segments)
    request.below = usage.nextNumber
    request.leastGarbage = 0.5
    let expected = usage.segments.filter { Double($0.garbage) >= 0.5 * Double($0.size) }
    try #require(!expected.isEmpty && expected.count < usage.segments.count)
    while let slice = try engine.compact(request) { #expect(slice.scope == .segments) }
    let after = try engine.spaceUsage()
    let left = Set(after.segments.map(\.number))
    for segment in expected { #expect(!left.contains(segment.number), "\(segment)") }
    try Self.check(engine, holds: model)
  }

  @Test func `one pass empties no more at once than there may be room for`() {
    let usage = SpaceUsage([
      SegmentUsage(number: 1, blocks: 1 << 18, liveBytes: 900 << 20, isKept: false),
      SegmentUsage(number: 2, blocks: 1 << 18, liveBytes: 40 << 20, isKept: false),
      SegmentUsage(number: 3, blocks: 1 << 18, liveBytes: 20 << 20, isKept: false),
      SegmentUsage(number: 4, blocks: 1 << 18, liveBytes: 5 << 20, isKept: true),
      SegmentUsage(number: 5, blocks: 1 << 18, liveBytes: 300 << 20, isKept: false),
    ])
    var request = CompactionRequest(scope: .segments)
    #expect(request.segments(of: usage).numbers == [2, 3])
    #expect(request.candidates(of: usage).map(\.number) == [2, 3, 5])
    request.leastGarbage = 0.1
    #expect(request.candidates(of: usage).map(\.number) == [1, 2, 3, 5])
    request.below = 2
    #expect(request.segments(of: usage).numbers == [1], "one may take what it takes")
    request.scope = .whole
    request.below = 5
    #expect(request.segments(of: usage).numbers == [1, 2, 3])
    #expect(usage.keptBytes == 1019 << 20)
  }

  @Test func `a snapshot that is held is read as before`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    let snapshot = try engine.snapshot()
    for _ in 0..<30 { try engine.put([1, 1, 2], [3]) }
    try engine.compact(.whole, slices: 100)
    let tree = snapshot.tree(try engine.names.slot(of: "t"))
    var value: Bytes = []
    for (key, expected) in model {
      #expect(try tree.copyValue(for: key.rawSpan, to: &value) && value == expected)
    }
  }

  @Test func `a store that nobody writes to lets go of the segments that were emptied`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    let (segments, before) = (try engine.spaceUsage().segments.count, medium.openFileCount)
    var request = CompactionRequest()
    request.below = try engine.spaceUsage().nextNumber
    _ = try engine.compact(request)
    #expect(engine.commits.published.base === engine.working.base)
    // The appender has one open, too.
    #expect(medium.openFileCount <= before - segments + 2)
    try Self.check(engine, holds: model)
  }

  @Test func `two compactions of the same store make the same calls`() throws {
    var calls: [[Call]] = []
    for _ in 0..<3 {
      let medium = SimulatedFileSystem()
      let (engine, _) = try Self.engine(in: medium)
      let first = medium.callCount
      try engine.compact(.segments, slices: 5)
      try engine.compact(.whole, slices: 50)
      try engine.close()
      calls.append(Array(medium.calls[first...]))
    }
    #expect(calls[0].count > 50)
    #expect(calls[1] == calls[0] && calls[2] == calls[0])
  }

  // MARK: Kept states

  @Test func `what a kept state needs stays until it is dropped`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    try engine.write(.durable) { $0.treeWork.keeping = [.keep(version: 1, label: "old")] }
    let shared = try engine.spaceUsage()
    #expect(shared.garbage == 0 || shared.keptBytes > 0)
    let kept = shared.segments.filter(\.isKept).map(\.number)
    try engine.compact(.whole, slices: 500)
    let after = try engine.spaceUsage()
    #expect(after.segments.filter(\.isKept).map(\.number) == kept)
    #expect(engine.working.base.file.footer.keptStates.count == 1)
    try engine.write(.durable) { $0.treeWork.keeping = [.dropBefore(version: .max)] }
    var request = CompactionRequest()
    request.below = try engine.spaceUsage().nextNumber
    _ = try engine.compact(request)
    #expect(try engine.spaceUsage().segments.count == 1)
    #expect(engine.working.base.file.footer.keptStates.isEmpty)
    try Self.check(engine, holds: model)
  }

  // MARK: Failures

  @Test func `a disk on which a fold has no room has room again after a compaction`() throws {
    let medium = SimulatedFileSystem()
    let (engine, _) = try Self.engine(in: medium, rounds: 12)
    // The live bytes and a little can still be written.
    let usage = try engine.spaceUsage()
    for key in 0..<40 as Range<UInt8> {
      try engine.put([key, 9], Bytes(repeating: 1, count: 40), .relaxed)
    }
    engine.freezeIfPossible()
    medium.limitDisk(to: medium.diskUsage + 2 * Layout.blockSize)
    #expect(throws: StoreError.full(path: "simulated/pages")) {
      do {
        while try engine.step() {}
      } catch StoreError.full {
        throw StoreError.full(path: "simulated/pages")
      }
    }
    var request = CompactionRequest(scope: .segments)
    request.below = usage.nextNumber
    request.bytes = 1 << 20
    medium.limitDisk(to: medium.diskUsage + Int(usage.liveBytes) + 40 * Layout.blockSize)
    while try engine.compact(request) != nil {}
    #expect(try engine.spaceUsage().size < usage.size)
    while try engine.step() {}
    #expect(engine.working.frozen == nil)
    #expect(try engine.value([39, 9])?.count == 40)
  }

  @Test func `what a slice made in vain is not left on a disk that is full`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    let before = medium.names
    for room in 0..<6 {
      medium.limitDisk(to: medium.diskUsage + room * Layout.blockSize)
      do {
        try engine.compact(.whole, slices: 1)
      } catch StoreError.full {
        #expect(medium.names == before, "with room for \(room) blocks")
      }
    }
    medium.limitDisk(to: nil)
    try engine.compact(.whole, slices: 1)
    try Self.check(engine, holds: model)
  }

  @Test func `pages that are not what was written are found before they are true`() throws {
    let medium = SimulatedFileSystem()
    let (engine, model) = try Self.engine(in: medium)
    let reference = engine.working.base.file.reference
    // The first write of the slice's pages reaches other blocks than it should.
    medium.inject(.flush(.errorCacheReverts), at: .site(.pageSync, medium.callCount(at: .pageSync)))
    try engine.compact(.whole, slices: 1)
    #expect(engine.working.base.file.reference != reference, "a first failure is made good")
    try Self.check(engine, holds: model)
  }

  @Test func `what cannot be read ends a compaction, and nothing else`() throws {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small()
    options.readMode = .buffered(cacheSize: 1 << 14)
    let (engine, model) = try Self.engine(in: medium, options: options)
    medium.inject(.error(.ioError), at: .site(.pageRead, medium.callCount(at: .pageRead)), .forGood)
    for _ in 0..<3 {
      let error = storeError { try engine.compact(.whole, slices: 1) }
      guard case .io(.ioError, _, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    medium.heal()
    try engine.put([1, 1, 2], [4])
    try engine.compact(.whole, slices: 1)
    var expected = model
    expected[[1, 1, 2]] = [4]
    try Self.check(engine, holds: expected)
  }

  // MARK: Places

  @Test func `a place is read as it was written`() throws {
    var random = SplitMix64(seed: 3)
    for count in [0, 1, 5, CompactionPlace.segmentsMax] {
      var place = CompactionPlace(
        scope: count % 2 == 0 ? .whole : .segments, below: UInt32.max - 1,
        segments: SegmentSet((0..<count).map { UInt32($0 * 3 + 1) }))
      place.tree = String(repeating: "x", count: Int(random.next() % 256))
      place.key = Bytes(repeating: 9, count: Int(random.next() % 1025))
      var footer = Footer(identity: StoreIdentity(low: 1, high: 2))
      footer.pendingWork = [PendingWork(kind: 9, cursor: [1], trees: [])]
      try footer.setCompaction(place)
      try footer.setCompaction(place)
      #expect(footer.pendingWork.count == 2)
      let position = PagePosition(segment: 1, block: 1)
      #expect(try CompactionPlace(in: footer, at: position) == place)
      _ = try footer.encodedSections()
      // Every cut, and every first byte.
      let cursor = footer.pendingWork[1].cursor
      for length in Set([0, 1, 4, 7, cursor.count / 2, cursor.count - 1]) {
        footer.pendingWork[1].cursor = Bytes(cursor.prefix(length))
        #expect(throws: StoreError.self) { try CompactionPlace(in: footer, at: position) }
      }
      footer.pendingWork[1].cursor = cursor + [0]
      #expect(throws: StoreError.self) { try CompactionPlace(in: footer, at: position) }
      try footer.setCompaction(nil)
      #expect(footer.pendingWork.map(\.kind) == [9])
    }
  }
}
