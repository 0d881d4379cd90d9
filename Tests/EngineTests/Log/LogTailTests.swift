import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Whether a log ends where there is no frame, or is damaged: a table to be read across.
@Suite struct LogTailTests {
  /// What is at the block where the next frame could be.
  private enum Found: CaseIterable {
    case nothing
    /// Whole: of another use; of another block; not after the frame before it.
    case stale, misplaced, unrelated
    case damaged
    /// Whole, after the frame before it, and impossible.
    case unknownKind, unknownFlag, gap, backwards, flushedAhead, earlier, malformed, twoCommits
    /// Impossible, and not after the frame before it.
    case unrelatedKind
  }

  /// What is in the block behind it.
  private enum Later: CaseIterable {
    case nothing
    /// Whole, and says that the block before it was not flushed, or was.
    case unflushed, flushed
    /// Says that it was, and is damaged, of another use, of another block.
    case damaged, stale, misplaced
  }

  private enum Verdict: Equatable {
    case clean, torn
    case corrupt(Invariant)
    case newerFormat
  }

  private func verdict(_ found: Found, _ later: Later) throws -> Verdict {
    let log = try CraftedLog()
    var before = log.frame(17, sequence: 1)
    before.time = 5
    let first = try log.write(before)
    var frame = log.frame(18, sequence: 3, after: first)
    frame.time = 5
    // Sequence 2 would be two blocks long: a footer takes the place.
    frame.first = 2
    frame.last = 2
    let payload = LogWorld.commits(3...3)
    var damage: (inout Bytes) -> Void = { _ in }
    switch found {
    case .nothing: break
    case .stale: frame.salt += 1
    case .misplaced: frame.block = 20
    case .unrelated: frame.previous = PageChecksum(rawValue: 1)
    case .damaged: damage = { $0[80] ^= 1 }
    case .unknownKind: frame.kind = 9
    case .unknownFlag: frame.flags = 4
    case .earlier: frame.time = 4
    case .gap:
      frame.first = 3
      frame.last = 3
    case .backwards: frame.first = 3
    case .flushedAhead: frame.flushedThrough = 19
    case .malformed: damage = { $0[64] ^= 1 }
    case .twoCommits: frame.last = 3
    case .unrelatedKind:
      frame.kind = 9
      frame.previous = PageChecksum(rawValue: 1)
    }
    if found == .malformed {
      let buffer = FrameBuffer()
      buffer.appendCommit { $0.appendClear() }
      frame.length = UInt32(buffer.payloadCount)
      try log.write(frame, at: 18, buffer)
    } else if found != .nothing {
      try log.write(frame, at: 18, payload, damage: damage)
    }

    var behind = log.frame(
      19, sequence: 3, after: PageChecksum(rawValue: 5), flushed: later == .unflushed ? 18 : 19)
    if later == .stale { behind.salt += 1 }
    if later == .misplaced { behind.block = 21 }
    if later != .nothing {
      try log.write(behind, at: 19) { if later == .damaged { $0[80] ^= 1 } }
    }
    do throws(StoreError) {
      let (frames, end) = try log.read()
      #expect(frames.map(\.blocks) == [17..<18])
      switch end {
      case .clean(block: 18): return .clean
      case .torn(block: 18, _): return .torn
      default: throw .missing(path: "end \(String(describing: end))")
      }
    } catch {
      if case .newerFormat = error { return .newerFormat }
      guard case .corrupt(.log(file: 0, block: 18), let invariant, _) = error else { throw error }
      return .corrupt(invariant)
    }
  }

  @Test func `a log ends where nothing says that more was flushed`() throws {
    let flushed = Verdict.corrupt(.logFlushed)
    let table: [(Found, nothing: Verdict, unflushed: Verdict, flushed: Verdict)] = [
      (.nothing, .clean, .torn, flushed),
      (.stale, .clean, .torn, flushed),
      (.misplaced, .torn, .torn, flushed),
      (.unrelated, .torn, .torn, flushed),
      (.unrelatedKind, .torn, .torn, flushed),
      (.damaged, .torn, .torn, flushed),
    ]
    for row in table {
      #expect(try verdict(row.0, .nothing) == row.nothing, "\(row.0)")
      #expect(try verdict(row.0, .unflushed) == row.unflushed, "\(row.0)")
      #expect(try verdict(row.0, .flushed) == row.flushed, "\(row.0)")
      // What is no frame of the use says nothing.
      for later in [Later.damaged, .stale, .misplaced] {
        #expect(try verdict(row.0, later) == row.nothing, "\(row.0), \(later)")
      }
    }
  }

  @Test func `a frame that is whole and in its place is damage if it is impossible`() throws {
    for later in Later.allCases {
      for found in [Found.gap, .backwards, .flushedAhead, .earlier] {
        #expect(try verdict(found, later) == .corrupt(.logFrame), "\(found), \(later)")
      }
      #expect(try verdict(.malformed, later) == .corrupt(.logOperations))
      #expect(try verdict(.twoCommits, later) == .corrupt(.logOperations))
    }
  }

  @Test func `a frame of an unknown kind or with an unknown flag is of a newer version`() throws {
    for later in Later.allCases {
      #expect(try verdict(.unknownKind, later) == .newerFormat, "\(later)")
      #expect(try verdict(.unknownFlag, later) == .newerFormat, "\(later)")
    }
  }

  @Test func `a log with a frame of a newer version is neither followed, recovered nor salvaged`()
    throws
  {
    func isNewer(_ body: () throws(StoreError) -> Void) -> Bool {
      guard let error = storeError(body) else { return false }
      if case .newerFormat(path: "memory", _) = error { return true }
      return false
    }
    let log = try CraftedLog()
    var frame = log.frame(17, sequence: 1)
    frame.kind = 9
    try log.write(frame)
    let before = try log.medium.contents(of: .log(0))
    #expect(isNewer { () throws(StoreError) in _ = try log.read() })
    #expect(isNewer { () throws(StoreError) in _ = try SimulatedEngine.open(log.medium) })
    #expect(isNewer { () throws(StoreError) in _ = try SalvageSource(log.medium) })
    #expect(try log.medium.contents(of: .log(0)) == before)
  }

  @Test func `frames of footers and seals must say what can be`() throws {
    func fault(_ change: (inout FrameHeader) -> Void, _ payload: FrameBuffer) throws -> Invariant? {
      let log = try CraftedLog()
      let first = try log.write(log.frame(17, sequence: 1))
      var frame = log.frame(18, sequence: 1, after: first, payload: payload.payloadCount)
      change(&frame)
      try log.write(frame, payload)
      let error = storeError { () throws(StoreError) in _ = try log.read() }
      guard case .corrupt(_, let invariant, _) = error else { return nil }
      return invariant
    }
    func footer(_ covered: UInt64, extra: Bool = false) -> FrameBuffer {
      let buffer = FrameBuffer()
      buffer.append(LogWorld.footer(covered))
      if extra { buffer.appendClear() }
      return buffer
    }
    func set(_ kind: FrameKind, _ sequence: UInt64) -> (inout FrameHeader) -> Void {
      return {
        $0.kind = kind.rawValue
        $0.first = sequence
        $0.last = sequence
      }
    }
    #expect(try fault(set(.footer, 1), footer(1)) == nil)
    #expect(try fault(set(.footer, 0), footer(0)) == nil)
    // A commit too large for the log.
    #expect(try fault(set(.footer, 2), footer(2)) == nil)
    #expect(try fault(set(.footer, 3), footer(3)) == .logFrame)
    #expect(try fault(set(.footer, 1), footer(0)) == .logFrame)
    #expect(try fault(set(.footer, 1), footer(1, extra: true)) == .logFrame)
    #expect(try fault(set(.footer, 1), FrameBuffer()) == .logFrame)
    #expect(try fault(set(.seal, 1), FrameBuffer()) == nil)
    #expect(try fault(set(.seal, 0), FrameBuffer()) == .logFrame)
    #expect(try fault(set(.seal, 1), footer(1)) == .logFrame)
    #expect(try fault(set(.overlay, 2), FrameBuffer()) == nil)
    #expect(try fault(set(.overlay, 1), FrameBuffer()) == .logFrame)
  }

  @Test func `a footer does not part an overlay, and is not older than the one before`() throws {
    let log = try CraftedLog()
    var overlay = log.frame(17, sequence: 1, payload: 0)
    overlay.kind = FrameKind.overlay.rawValue
    overlay.last = 3
    let first = try log.write(overlay, FrameBuffer())
    func read(_ covered: [UInt64]) throws -> Bool {
      var previous = first
      for (number, covered) in covered.enumerated() {
        var frame = log.frame(
          18 + UInt32(number), sequence: covered, after: previous, payload: FooterReference.size)
        frame.kind = FrameKind.footer.rawValue
        let payload = FrameBuffer()
        payload.append(LogWorld.footer(covered))
        previous = try log.write(frame, payload)
      }
      return storeError { () throws(StoreError) in _ = try log.read() } == nil
    }
    #expect(try read([0, 0]))
    #expect(try read([0, 3]))
    #expect(try read([3, 3]))
    #expect(try read([3, 4]))
    #expect(try !read([1]))
    #expect(try !read([2]))
    #expect(try !read([3, 0]))
  }
}
