import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A log on a medium that may fail, and what was promised about it: the oracle of the crash tests.
final class LogHistory {
  let medium: SimulatedFileSystem
  private let attempt: UInt8
  private var log: Log?
  private var salt: UInt64
  /// Who made each commit that may be there.
  private var attempts: [UInt64: UInt8]
  /// The last commit that may be there.
  private(set) var last: UInt64
  /// The last commit that must be there; nil while not even a store must be.
  private(set) var acknowledged: UInt64?
  private var footer: UInt64 = 0
  private var acknowledgedFooter: UInt64 = 0

  /// A directory without a store.
  init(_ medium: SimulatedFileSystem = SimulatedFileSystem()) {
    self.medium = medium
    attempt = 1
    salt = 1000
    attempts = [:]
    last = 0
  }

  /// A store that `history` left on `medium`, to be recovered.
  init(after history: LogHistory, on medium: SimulatedFileSystem) {
    self.medium = medium
    attempt = history.attempt + 1
    salt = history.salt + 1000
    attempts = history.attempts
    last = history.last
    acknowledged = history.acknowledged
    footer = history.footer
    acknowledgedFooter = history.acknowledgedFooter
  }

  /// The log that is being written.
  func open() throws -> Log {
    guard let log else { throw NotOpen() }
    return log
  }

  struct NotOpen: Error {}
}

// MARK: What is done

extension LogHistory {
  private func nextSalt() -> UInt64 {
    salt += 1
    return salt
  }

  func create() throws {
    log = try Log.create(
      in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: nextSalt())
    acknowledged = 0
  }

  /// Reads and recovers, or makes the store if there is none; returns what was found.
  func recover() throws {
    guard medium.names.contains(.log(0)) else { return try create() }
    let found = try medium.logContents()
    let log = try medium.recoverLog(salt: nextSalt())
    self.log = log
    last = found.lastSequence
    acknowledged = last
    attempts = attempts.filter { $0.key <= last }
    footer = found.footer.coveredSequence
    acknowledgedFooter = footer
  }

  func commit(_ count: UInt64 = 1) throws {
    let sequences = last + 1...last + count
    for sequence in sequences { attempts[sequence] = attempt }
    last = sequences.upperBound
    try open().append(
      .commits, sequences: sequences, LogWorld.commits(sequences, attempt: attempt))
  }

  func flush() throws {
    try open().flush()
    acknowledged = last
    acknowledgedFooter = footer
  }

  func appendFooter(_ covered: UInt64) throws {
    footer = covered
    last = max(last, covered)
    try open().appendFooter(LogWorld.footer(covered))
  }

  func seal() throws { try open().appendSeal() }

  func grow() throws { try open().growSpare(to: 2 * LogLayout.blocksMin) }

  func begin(footer covered: UInt64? = nil) throws {
    footer = covered ?? footer
    let reference = LogWorld.footer(footer)
    let attempts = attempts
    try open().begin(
      opening: LogWorld.opening(after: reference, to: last) { attempts[$0] ?? 0 },
      footer: reference, salt: nextSalt())
    acknowledged = last
    acknowledgedFooter = footer
  }

  func addFile() throws { try open().addFile() }

  func advance() throws {
    try open().advance(salt: nextSalt())
    acknowledged = last
    acknowledgedFooter = footer
  }

  func shrink() throws {
    try open().shrink(salt: nextSalt())
    acknowledged = last
    acknowledgedFooter = footer
  }

  /// The whole life of a log: every kind of frame, growth, uses with an opening, with earlier uses and without, shrinking.
  func live() throws {
    try create()
    try commit()
    try commit(2)
    try flush()
    try appendFooter(2)
    try commit()
    try flush()
    try seal()
    try commit(2)
    try grow()
    try begin()
    try commit()
    try flush()
    try begin(footer: last)
    try commit()
    try flush()
    try appendFooter(last + 1)
    try flush()
    try commit(2)
    try seal()
    try flush()
    try appendFooter(last)
    try flush()
    try liveInRing()
    try shrink()
    try shrinkRing()
    try commit()
    try flush()
  }

  /// Uses without an opening that need one before, two, and none; a footer that frees their files; and a use with an opening.
  private func liveInRing() throws {
    try addFile()
    try commit()
    try flush()
    try advance()
    try commit(2)
    try flush()
    try addFile()
    try advance()
    try commit()
    try flush()
    try appendFooter(last - 1)
    try flush()
    try commit()
    try advance()
    try commit()
    try appendFooter(last - 1)
    try begin()
    try commit()
    try flush()
    try appendFooter(last)
    try flush()
  }

  /// Closing while the last use needs one before it, in a file that is cut, by a footer of which no frame says that it was flushed.
  private func shrinkRing() throws {
    try grow()
    try begin()
    try grow()
    try addFile()
    while try open().header.file != 0 { try begin() }
    try commit()
    try advance()
    try commit()
    try appendFooter(last)
    try shrink()
  }

  /// A later life of the same log.
  func liveOn() throws {
    try recover()
    try commit()
    try flush()
    try commit()
    if try open().canAdvance() { try advance() } else { try begin() }
    try commit()
    try flush()
    try begin()
    try commit()
    try flush()
  }
}

// MARK: What must be true

extension LogHistory {
  /// What `image` has that it must not, or lacks; nil if all is right.
  func violation(in image: SimulatedFileSystem) -> String? {
    guard image.names.contains(.log(0)) else {
      return acknowledged == nil ? nil : "the store is gone"
    }
    do {
      return violation(of: try image.logContents())
    } catch {
      return "\(error)"
    }
  }

  private func violation(of found: LogContents) -> String? {
    if found.lastSequence < acknowledged ?? 0 { return "\(found.lastSequence) is the last" }
    if found.lastSequence > last { return "\(found.lastSequence) was never there" }
    let covered = found.footer.coveredSequence
    if covered < acknowledgedFooter || covered > footer { return "the footer of \(covered)" }
    for (sequence, attempt) in found.attempts where attempts[sequence] != attempt {
      return "\(sequence) is of attempt \(attempt)"
    }
    return nil
  }
}
