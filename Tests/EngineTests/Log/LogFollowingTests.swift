import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A process that reads the log while another writes it sees what was flushed, in order, and no damage
/// where there is none.
@Suite struct LogFollowingTests {
  /// Reads what is new, as far as it is known to be flushed.
  private struct Follower {
    let medium: any FileSystem
    var position: LogPosition?
    /// The last sequence that may be served.
    var last: UInt64 = 0

    /// Returns false if the log went on to another use meanwhile: then it is to be asked again.
    mutating func poll() throws(StoreError) -> Bool {
      let files = try LogFiles(opening: medium, writing: false)
      do throws(StoreError) {
        try read(files)
      } catch {
        if case .corrupt = error, try files.isSuperseded() { return false }
        throw error
      }
      return try !files.isSuperseded()
    }

    private mutating func read(_ files: LogFiles) throws(StoreError) {
      let start = position?.use == files.header.number ? position : nil
      // Later frames say how far the earlier ones are flushed.
      var ahead = LogReader(files, from: start)
      while try ahead.next() != nil {}
      let flushed = ahead.position.flushedThrough
      var reader = LogReader(files, from: start)
      while let frame = try reader.next(), frame.blocks.upperBound <= flushed {
        last = max(last, frame.sequences.upperBound)
        position = reader.position
      }
    }
  }

  @Test func `a follower sees a commit when a later frame says that it was flushed`() throws {
    let medium = InMemoryFileSystem()
    let log = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    var follower = Follower(medium: medium)
    func sees(_ last: UInt64) throws -> Bool { try follower.poll() && follower.last == last }
    #expect(try sees(0))
    try log.commit(1...1)
    #expect(try sees(0))
    try log.flush()
    #expect(try sees(0))
    try log.appendSeal()
    #expect(try sees(1))
    try log.commit(2...3)
    try log.flush()
    try log.commit(4...4)
    #expect(try sees(3))
    try log.begin(salt: 2)
    #expect(try sees(4))
    try log.commit(5...5)
    try log.flush()
    try log.appendFooter(LogWorld.footer(5))
    #expect(try sees(5))
    try log.begin(salt: 3)
    #expect(try sees(5))
  }

  @Test func `a follower beside a writer finds no damage, and never goes back`() throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let medium = try PosixFileSystem(at: directory.path)
    let log = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 1)
    let progress = Progress()
    let path = directory.path
    let reading = OwnThread { () throws -> UInt64 in
      var follower = Follower(medium: try PosixFileSystem(at: path))
      var isLast = false
      var before: UInt64 = 0
      while true {
        let isComplete = try follower.poll()
        try agree(follower.last >= before, "\(follower.last) after \(before)")
        before = follower.last
        progress.countPoll()
        if isLast && isComplete { return follower.last }
        isLast = progress.isOver
      }
    }
    var sequence: UInt64 = 0
    while sequence < 300 || (sequence < 50_000 && progress.polls < scaled(2_000, debug: 100)) {
      sequence += 1
      if LogWorld.commits(sequence...sequence).payloadCount > log.room {
        try log.begin(LogWorld.footer(log.lastSequence - 2), salt: 1 + sequence)
      }
      try log.commit(sequence...sequence)
      if sequence % 3 == 0 { try log.flush() }
    }
    try log.flush()
    if !log.hasRoomForSeal { try log.begin(salt: 7) } else { try log.appendSeal() }
    progress.end()
    #expect(try reading.join() == log.lastSequence)
    print("Log: \(progress.polls) polls beside \(log.header.number) uses")
  }
}

private final class Progress: Sendable {
  private let ended = Atomic(false)
  private let count = Atomic(0)

  var isOver: Bool { ended.load(ordering: .acquiring) }
  var polls: Int { count.load(ordering: .relaxed) }
  func end() { ended.store(true, ordering: .releasing) }
  func countPoll() { count.add(1, ordering: .relaxed) }
}

/// Runs a closure on a thread of its own, whatever else keeps the threads of tasks busy.
private final class OwnThread<Value: Sendable>: Sendable {
  private let work: ThreadWork
  private let outcome = Outcome<Value>()
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () throws -> Value) {
    let outcome = outcome
    work = ThreadWork {
      let result = Result(catching: body)
      outcome.value.withLock { $0 = result }
    }
    var thread = pthread_t()
    unsafe pthread_create(
      &thread, nil,
      { work in
        if let work = unsafe work {
          unsafe Unmanaged<ThreadWork>.fromOpaque(work).takeUnretainedValue().body()
        }
        return nil
      }, Unmanaged.passUnretained(work).toOpaque())
    self.thread = thread
  }

  func join() throws -> Value {
    pthread_join(thread, nil)
    guard let result = outcome.value.withLock({ $0 }) else { preconditionFailure("it never ran") }
    return try result.get()
  }
}

private final class Outcome<Value: Sendable>: Sendable {
  let value = Guarded<Result<Value, any Error>?>(nil)
}

private final class ThreadWork: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}
