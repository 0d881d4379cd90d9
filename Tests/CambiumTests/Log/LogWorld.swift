import TestSupport

@testable import Cambium

/// Commits that tests append to a log: of each the operations follow from its sequence alone.
enum LogWorld {
  static let identity = StoreIdentity(low: 31, high: 32)

  /// A reference as a fold would make it; no page has to be there.
  static func footer(_ covered: UInt64) -> FooterReference {
    FooterReference(
      position: PagePosition(segment: 1 + UInt32(covered), block: 7), blocks: 1,
      checksum: Checksum(rawValue: 0x1234_0000 | UInt32(covered)),
      copyChecksum: Checksum(rawValue: 0x5678_0000 | UInt32(covered)), coveredSequence: covered)
  }

  /// The operations of commit `sequence`: some need two blocks.
  static func operations(_ sequence: UInt64) -> FrameBuffer {
    let buffer = FrameBuffer()
    buffer.appendTree(Bytes("tree".utf8).rawSpan)
    buffer.appendSchemaVersion(UInt32(sequence))
    let value = Bytes(repeating: UInt8(truncatingIfNeeded: sequence), count: valueLength(sequence))
    buffer.appendAdd(key: Bytes("key \(sequence)".utf8).rawSpan, value: value.rawSpan)
    if sequence % 4 == 1 { buffer.appendRemove(key: Bytes("gone".utf8).rawSpan) }
    return buffer
  }

  private static func valueLength(_ sequence: UInt64) -> Int { sequence % 3 == 2 ? 5_000 : 20 }

  /// A frame of commits, and one overlay, for a range of sequences.
  static func commits(_ sequences: ClosedRange<UInt64>) -> FrameBuffer {
    let buffer = FrameBuffer()
    for sequence in sequences { buffer.appendCommit(operations(sequence).payload) }
    return buffer
  }

  static func overlay(_ sequences: ClosedRange<UInt64>) -> FrameBuffer {
    let buffer = FrameBuffer()
    for sequence in sequences {
      var reader = OperationReader(operations(sequence).payload, at: .log(file: 0, block: 0))
      while let operation = try? reader.next() { buffer.append(operation) }
    }
    return buffer
  }
}

extension FrameBuffer {
  /// Appends what was read from another.
  func append(_ operation: borrowing LogOperation) {
    switch operation.kind {
    case .tree: appendTree(operation.key)
    case .schemaVersion: appendSchemaVersion(operation.schemaVersion)
    case .add: appendAdd(key: operation.key, value: operation.value)
    case .replace: appendReplace(key: operation.key, value: operation.value)
    case .remove: appendRemove(key: operation.key)
    case .clear: appendClear()
    }
  }
}

extension Log {
  func commit(_ sequences: ClosedRange<UInt64>) throws(StoreError) {
    try append(.commits, sequences: sequences, LogWorld.commits(sequences))
  }

  /// Goes on in the spare, with all that is not covered as one overlay.
  func begin(_ footer: FooterReference? = nil, salt: UInt64) throws(StoreError) {
    let footer = footer ?? self.footer
    try begin(opening: .all(after: footer, to: lastSequence), footer: footer, salt: salt)
  }
}

extension [(sequences: ClosedRange<UInt64>, operations: FrameBuffer)] {
  /// One overlay for what `footer` does not cover, or none.
  static func all(after footer: FooterReference, to last: UInt64) -> Self {
    if last <= footer.coveredSequence { return [] }
    let sequences = footer.coveredSequence + 1...last
    return [(sequences, LogWorld.overlay(sequences))]
  }
}

/// All that a log holds, read to its end and compared with what should be there.
struct LogContents: Equatable {
  var frames: [LogFrame] = []
  var footer: FooterReference
  var lastSequence: UInt64
  var end: LogEnd
  var isSealed: Bool
  var faults: [StoreError]

  /// - Throws: also if an operation is not what its sequence says.
  init<Medium: FileSystem>(reading files: LogFiles<Medium>) throws {
    var reader = LogReader(files)
    while let frame = try reader.next() {
      frames.append(frame)
      let expected: Bytes =
        switch frame.kind {
        case .commits: LogWorld.commits(frame.sequences).payload.array()
        case .overlay: LogWorld.overlay(frame.sequences).payload.array()
        case .footer, .seal: reader.payload.array()
        }
      guard reader.payload.array() == expected else { throw WrongPayload(frame: frame) }
    }
    footer = reader.position.footer
    lastSequence = reader.position.lastSequence
    isSealed = reader.position.isSealed
    guard let end = reader.end else { preconditionFailure("it ended without an end") }
    self.end = end
    faults = files.faults
  }

  struct WrongPayload: Error {
    let frame: LogFrame
  }
}

extension FileSystem {
  /// Recovers the log as an engine would.
  func recoverLog(salt: UInt64) throws -> Log<Self> {
    let files = try LogFiles(opening: self, writing: true)
    let found = try LogContents(reading: files)
    return try Log(
      recovering: files, opening: .all(after: found.footer, to: found.lastSequence),
      footer: found.footer, salt: salt)
  }

  func logContents() throws -> LogContents {
    try LogContents(reading: LogFiles(opening: self, writing: false))
  }
}
