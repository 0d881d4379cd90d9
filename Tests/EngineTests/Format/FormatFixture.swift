import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The store that `FORMAT.md` shows byte by byte: two published states of two trees.
///
///     segment 1   header · a value · leaves of versions 1, 2, 1 · branch · footer · its copy
///     segment 2   header · a leaf and the branch anew · footer · its copy
///     log-0       header · its copy · the commits between the states · state 2's footer · a seal
///     log-1       header · its copy
///
/// Where its leaves are divided follows from their schema versions, not from how full they are, so a
/// change of that is no change of these bytes.
enum FormatFixture {
  static let identity = StoreIdentity(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
  static let sizes = NodeSizes(leaf: 384, branch: 384)
  static let names = [FileName.pages(1), .pages(2), .log(0), .log(1)]
  static let treeName = "notes"
  static let largeValue = Bytes((0..<120).map { 0x41 + UInt8($0 % 26) })

  /// The first state's entries, in order, each with its schema version.
  static let entries: [(key: Bytes, value: Bytes, version: UInt32)] = [
    ("leaf/", "", 1),
    ("leaf/a", "short", 1),
    ("leaf/a\0", "tie", 1),
    ("leaf/large", String(decoding: largeValue, as: UTF8.self), 1),
    ("leaf/long-enough-for-a-tail", "tail", 1),
    ("num/00000001", "one.", 2),
    ("num/10000002", "two.", 2),
    ("num/20000003", "tri.", 2),
    ("zone/00000001/a", "north-west", 1),
    ("zone/10000002/b", "", 1),
  ].map { (Bytes($0.utf8), Bytes($1.utf8), $2) }

  /// What the second state changes; nil removes.
  static let changes: [Bytes: Bytes?] = [
    Bytes("num/10000002".utf8): nil, Bytes("num/30000004".utf8): Bytes("four".utf8),
  ]

  /// Of the log's first use: `5a a5 17 71 e8 8e 3c c3` in the file.
  static let salt: UInt64 = 0xc33c_8ee8_7117_a55a

  /// Of its frames: 2026-01-02, 03:04:05.678 901 234 in UTC.
  static let time: UInt64 = 1_767_323_045_678_901_234

  static let oldModel = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
  static var newModel: [Bytes: Bytes] {
    var model = oldModel
    for (key, value) in changes { model[key] = value }
    return model
  }

  /// Where the files are that were written when this format was new.
  static let path = Repository.path("Tests/Fixtures/format-1")

  /// The files as they lie in the repository.
  static func files() throws -> [FileName: Bytes] {
    let medium = try PosixFileSystem(at: path)
    return Dictionary(
      uniqueKeysWithValues: try names.map { ($0, try medium.contents(of: $0)) })
  }
}

// MARK: Writing

extension FormatFixture {
  /// Writes both states and returns what opens them.
  static func write(
    to medium: some FileSystem
  ) throws -> (old: FooterReference, new: FooterReference) {
    let old = try writeOld(to: medium)
    let log = try Log.create(in: medium, of: identity, footer: old, salt: salt) { time }
    try log.append(.commits, sequences: 6...9, commits())
    try log.flush()
    let new = try writeNew(over: old, to: medium)
    try log.appendFooter(new)
    try log.flush()
    try log.appendSeal()
    try log.flush()
    return (old, new)
  }

  /// The commits that lead from the first state to the second, one with each kind of operation.
  private static func commits() -> FrameBuffer {
    let buffer = FrameBuffer()
    let (removed, added) = (Bytes("num/10000002".utf8), Bytes("num/30000004".utf8))
    commit(to: buffer, treeName) { $0.appendRemove(key: removed.rawSpan) }
    commit(to: buffer, treeName) {
      $0.appendSchemaVersion(2)
      $0.appendAdd(key: added.rawSpan, value: Bytes("foul".utf8).rawSpan)
    }
    commit(to: buffer, treeName) {
      $0.appendSchemaVersion(2)
      $0.appendReplace(key: added.rawSpan, value: Bytes("four".utf8).rawSpan)
    }
    commit(to: buffer, "empty") { $0.appendClear() }
    return buffer
  }

  private static func commit(
    to buffer: FrameBuffer, _ tree: String, _ operations: (FrameBuffer) -> Void
  ) {
    buffer.appendCommit { commit in
      commit.appendTree(Bytes(tree.utf8).rawSpan)
      operations(commit)
    }
  }

  private static func writeOld(to medium: any FileSystem) throws -> FooterReference {
    let appender = PageAppender(to: medium, of: identity, from: 1, output: .buffered)
    var builder = TreeBuilder(appendingTo: appender, base: nil, sizes: sizes)
    for entry in entries {
      try builder.append(
        entry.key.rawSpan, entry.value.rawSpan, schemaVersion: entry.version)
    }
    var footer = Footer(identity: identity)
    footer.coveredSequence = 5
    footer.trees = [
      NamedTree(name: "empty"), NamedTree(name: treeName, root: try builder.finish()),
    ]
    footer.segments = [SegmentExtent(kind: .pages, number: 1, end: 6, liveBytes: 5 << 12)]
    return try appender.publish(footer)
  }

  private static func writeNew(
    over old: FooterReference, to medium: any FileSystem
  ) throws -> FooterReference {
    let base = try PageFile(opening: old, in: medium, reading: .mapped)
    let appender = PageAppender(to: medium, of: identity, from: 2, output: .buffered)
    var footer = base.footer
    footer.coveredSequence = 9
    footer.trees[1].root = try TreeMerge.run(
      ListInput(changes, version: 2), into: footer.trees[1].root, of: base.pages, sizes: sizes,
      appendingTo: appender)
    footer.segments = [
      SegmentExtent(kind: .pages, number: 1, end: 6, liveBytes: 3 << 12),
      SegmentExtent(kind: .pages, number: 2, end: 3, liveBytes: 2 << 12),
    ]
    footer.keptStates = [KeptState(version: 1, label: "before", footer: old)]
    footer.pendingWork = [
      PendingWork(kind: 7, cursor: Bytes("num/2".utf8), trees: [NamedTree(name: "next")])
    ]
    footer.previous = old
    return try appender.publish(footer)
  }
}
