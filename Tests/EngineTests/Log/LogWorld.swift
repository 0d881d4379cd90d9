import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// What tests write to a log: commits whose operations follow from their sequence and from the attempt
/// that made them, so that one attempt's commit can be told from another's.
enum LogWorld {
  static let identity = StoreIdentity(low: 31, high: 32)

  /// A reference as a fold would make it; no page has to be there.
  static func footer(_ covered: UInt64) -> FooterReference {
    FooterReference(
      position: PagePosition(segment: 1 + UInt32(covered), block: 7), blocks: 1,
      checksum: PageChecksum(rawValue: 0x1234_0000_0000 | covered),
      copyChecksum: PageChecksum(rawValue: 0x5678_0000_0000 | covered), coveredSequence: covered)
  }

  /// The operations of a commit: every third needs two blocks.
  static func operations(_ sequence: UInt64, attempt: UInt8) -> FrameBuffer {
    let buffer = FrameBuffer()
    append(sequence, attempt: attempt, to: buffer)
    return buffer
  }

  private static func append(_ sequence: UInt64, attempt: UInt8, to buffer: FrameBuffer) {
    buffer.appendTree(Bytes("tree".utf8).rawSpan)
    buffer.appendSchemaVersion(UInt32(sequence))
    let value = Bytes(repeating: attempt, count: sequence % 3 == 2 ? 5_000 : 20)
    buffer.appendAdd(key: little(sequence, 8).rawSpan, value: value.rawSpan)
    if sequence % 4 == 1 { buffer.appendRemove(key: Bytes("gone".utf8).rawSpan) }
  }

  /// The payload of a frame of commits.
  static func commits(_ sequences: ClosedRange<UInt64>, attempt: UInt8 = 1) -> FrameBuffer {
    let buffer = FrameBuffer()
    for sequence in sequences {
      buffer.appendCommit(operations(sequence, attempt: attempt).payload)
    }
    return buffer
  }

  /// The payload of an overlay.
  static func overlay(
    _ sequences: ClosedRange<UInt64>, attempt: (UInt64) -> UInt8 = { _ in 1 }
  ) -> FrameBuffer {
    let buffer = FrameBuffer()
    for sequence in sequences { append(sequence, attempt: attempt(sequence), to: buffer) }
    return buffer
  }

  /// One overlay for what `footer` does not cover, or none.
  static func opening(
    after footer: FooterReference, to last: UInt64, attempt: (UInt64) -> UInt8 = { _ in 1 }
  ) -> [(sequences: ClosedRange<UInt64>, operations: FrameBuffer)] {
    if last <= footer.coveredSequence { return [] }
    let sequences = footer.coveredSequence + 1...last
    return [(sequences, overlay(sequences, attempt: attempt))]
  }
}

extension Log {
  /// Appends a frame of commits of the first attempt.
  func commit(_ sequences: ClosedRange<UInt64>) throws(StoreError) {
    try append(.commits, sequences: sequences, LogWorld.commits(sequences))
  }

  /// Makes another file, of the size of the spare.
  func addFile() throws(StoreError) {
    let header = headerOfNextFile
    add(try medium.addLog(header), header)
  }

  /// Goes on in the spare, with all that is not covered as one overlay of the first attempt.
  func begin(_ footer: FooterReference? = nil, salt: UInt64) throws(StoreError) {
    let footer = footer ?? self.footer
    try begin(
      opening: LogWorld.opening(after: footer, to: lastSequence), footer: footer, salt: salt)
  }
}

/// All that a log holds, read to its end. Payloads must be what `LogWorld` makes.
struct LogContents: Equatable {
  private(set) var frames: [LogFrame] = []
  /// Whose attempt each sequence is.
  private(set) var attempts: [UInt64: UInt8] = [:]
  let footer: FooterReference
  let lastSequence: UInt64
  let end: LogEnd
  let isSealed: Bool
  let faults: [StoreError]

  init(reading files: LogFiles) throws {
    var last = LogReader(files)
    while try last.next() != nil {}
    var reader = try LogReader(files, after: last.position.footer)
    while let frame = try reader.next() {
      frames.append(frame)
      switch frame.kind {
      case .commits:
        var commits = CommitReader(reader.payload, sequences: frame.sequences, at: reader.place)
        for sequence in frame.sequences {
          guard let operations = try commits.next() else { throw WrongPayload(frame: frame) }
          attempts[sequence] = operations.attempt(of: sequence)
          let expected = LogWorld.operations(sequence, attempt: attempts[sequence] ?? 0)
          guard operations.equals(expected.payload) else { throw WrongPayload(frame: frame) }
        }
      case .overlay:
        for sequence in frame.sequences {
          attempts[sequence] = reader.payload.attempt(of: sequence)
        }
        let attempts = attempts
        let expected = LogWorld.overlay(frame.sequences) { attempts[$0] ?? 0 }
        guard reader.payload.equals(expected.payload) else { throw WrongPayload(frame: frame) }
      case .footer:
        guard frame.footer == LogWorld.footer(frame.sequences.lowerBound) else {
          throw WrongPayload(frame: frame)
        }
      case .seal: break
      }
    }
    footer = reader.position.footer
    lastSequence = reader.position.lastSequence
    isSealed = reader.position.isSealed
    end = reader.end ?? .torn(block: 0, reason: "it ended without an end")
    faults = files.faults
  }

  struct WrongPayload: Error {
    let frame: LogFrame
  }

  /// What an engine would serve, wherever it lies.
  var served: Served {
    Served(
      footer: footer, lastSequence: lastSequence,
      attempts: attempts.filter { $0.key > footer.coveredSequence })
  }

  struct Served: Equatable {
    let footer: FooterReference
    let lastSequence: UInt64
    let attempts: [UInt64: UInt8]
  }
}

extension RawSpan {
  /// The attempt that the entry of `sequence` is of, in operations that are known to be whole.
  fileprivate func attempt(of sequence: UInt64) -> UInt8? {
    var reader = OperationReader(self, at: .log(file: 0, block: 0))
    while let operation = try? reader.next() {
      if operation.kind == .add, operation.key.load(0, as: UInt64.self) == sequence {
        return operation.value.load(0, as: UInt8.self)
      }
    }
    return nil
  }
}

extension FileSystem {
  func logContents() throws -> LogContents {
    try LogContents(reading: LogFiles(opening: self, writing: false))
  }

  /// Recovers the log as an engine would.
  func recoverLog(
    salt: UInt64, clock: @escaping LogClock = { 0 }
  ) throws -> Log {
    let files = try LogFiles(opening: self, writing: true)
    let found = try LogContents(reading: files)
    var reader = LogReader(files)
    while try reader.next() != nil {}
    return try Log(
      recovering: files, readTo: (reader.position, reader.end),
      opening: LogWorld.opening(after: found.footer, to: found.lastSequence) {
        found.attempts[$0] ?? 0
      }, footer: found.footer, salt: salt, clock: clock)
  }
}
