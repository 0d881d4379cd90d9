import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The trees that a log names, each of which takes memory.
@Suite struct ReplayedTreesTests {
  private static let identity = StoreIdentity(low: 61, high: 62)

  /// A store without pages, with a log of one commit of `count` operations, each of a tree of its own.
  private static func medium(trees count: Int) throws -> InMemoryFileSystem {
    let medium = InMemoryFileSystem()
    let appender = PageAppender(to: medium, of: identity, from: 1, output: .buffered)
    let footer = try appender.publish(Footer(identity: identity))
    let operations = FrameBuffer()
    for number in 0..<count {
      operations.appendTree(Bytes("\(number)".utf8).rawSpan)
      operations.appendSchemaVersion(1)
      operations.appendAdd(key: RawSpan(), value: RawSpan())
    }
    let commits = FrameBuffer()
    commits.appendCommit(operations.payload)
    var header = LogHeader(
      identity: identity, number: 1, blocks: 256, salt: 9, firstSequence: 1,
      footer: footer)
    let frame = FrameHeader(
      .commits, sequences: 1...1, length: commits.payloadCount, previous: header.checksum, salt: 9,
      block: UInt32(LogLayout.firstFrameBlock), flushedThrough: UInt32(LogLayout.firstFrameBlock),
      time: 0)
    var payload = Bytes(repeating: 0, count: FrameHeader.size) + commits.payload.array()
    write(to: &payload) { bytes in _ = frame.encode(to: &bytes, in: identity) }
    _ = try medium.create(.log(0), file(header, payload))
    header.number = 0
    header.file = 1
    _ = try medium.create(.log(1), file(header, []))
    return medium
  }

  private static func file(_ header: LogHeader, _ frames: Bytes) -> Bytes {
    var block = Bytes(repeating: 0, count: Layout.blockSize)
    write(to: &block) { bytes in header.encode(to: &bytes) }
    let unused = Bytes(repeating: 0, count: (LogLayout.firstFrameBlock - 2) * Layout.blockSize)
    let rest =
      (Int(header.blocks) - LogLayout.firstFrameBlock) * Layout.blockSize - frames.count
    return block + unused + block + frames + Bytes(repeating: 0, count: rest)
  }

  private static func write(to bytes: inout Bytes, _ body: (inout MutableRawSpan) -> Void) {
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    body(&raw)
  }

  @Test func `a log of as many trees as a footer has room for is replayed`() throws {
    let count = Footer.treeCountMax
    let follower = try Follower(try Self.medium(trees: count))
    #expect(follower.snapshot().state.overlays.first?.trees.count == count)
  }

  @Test func `a log of many more trees than a footer has room for is refused`() throws {
    let medium = try Self.medium(trees: 3 * Footer.treeCountMax)
    let fault = storeError { () throws(StoreError) in _ = try Follower(medium) }
    #expect(fault?.invariant == .logOperations)
  }

  @Test func `a transaction refuses more trees than a footer has room for`() throws {
    let engine = try SimulatedEngine.open(SimulatedFileSystem())
    do {
      try engine.write(.durable) { transaction in
        for number in 0...Footer.treeCountMax {
          let tree = try engine.names.slot(of: "\(number)")
          try transaction.put(
            Bytes([1]).rawSpan, Bytes([2]).rawSpan, schemaVersion: 1, in: tree)
        }
      }
      Issue.record("it is not refused")
    } catch StoreError.limitExceeded(.footerSize, _) {
      // Nothing of it is there.
      #expect(try engine.snapshot().state.sequence == 0)
    }
    try engine.close()
  }
}
