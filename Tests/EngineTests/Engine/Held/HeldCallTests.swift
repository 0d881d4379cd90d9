import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Each call on an engine, held at each call of the medium that it makes and, in debug builds, at each taking of the
/// engine's lock, while another call is made: until that has returned or has to wait. Then the first goes on. Both
/// return, with answers from a table; nothing is written when the store may be another's; and what was answered is so
/// after the next open.
@Suite("A call that is held while another is made", .serialized)
struct HeldCallTests {
  /// How long the second call has until the first goes on. If it would have returned later, that is one more
  /// moment at which they meet.
  private static var patience: Duration { .milliseconds(2) }

  /// Of the moments of a pair of calls only each so many-th is tried; the next pair tries the next ones. A soak
  /// tries more.
  private static func stride(_ first: HeldCall, _ second: HeldCall) -> Int {
    let stride = first.closes || second.closes ? scaled(1, debug: 4) : scaled(4, debug: 24)
    return max(1, stride / Soak.factor)
  }

  @Test(arguments: HeldCondition.allCases, [false, true])
  func `every pair of calls at every moment is answered as the table says`(
    condition: HeldCondition, hasThreads: Bool
  ) async throws {
    let files = try HeldFiles()
    // It waits as threads do, and the pool has few.
    let findings = await withCheckedContinuation { continuation in
      let thread = try? BackgroundThread(name: "held") {
        continuation.resume(returning: Self.tryAll(condition, hasThreads, files))
      }
      if thread == nil { continuation.resume(returning: ["no thread"]) }
    }
    #expect(findings.isEmpty, "\(findings.count): \(findings.prefix(20).joined(separator: "\n"))")
  }

  private static func tryAll(
    _ condition: HeldCondition, _ hasThreads: Bool, _ files: HeldFiles
  ) -> [String] {
    let calls = HeldCall.allCases.filter { hasThreads || !$0.isOfTasks }
    var (findings, count): ([String], Int) = ([], 0)
    for (row, first) in calls.enumerated() {
      let all = (try? Meeting.moments(of: first, condition, hasThreads, files)) ?? 0
      for (column, second) in calls.enumerated() {
        let stride = stride(first, second)
        for moment in Swift.stride(from: 1 + (row + column) % stride, through: all, by: stride) {
          let meeting = Meeting(
            first: first, second: second, moment: moment, condition: condition,
            hasThreads: hasThreads)
          do {
            if try meeting.run(files, patience) { count += 1 }
          } catch {
            findings.append("\(meeting): \(error)")
            // Who hangs is still there: no more of that.
            if findings.count > 50 || error is Hang { return findings }
          }
        }
      }
    }
    if condition == .sound, count < 40 { findings.append("only \(count) meetings") }
    return findings
  }
}

private struct Hang: Error {
  let description: String
}

/// Two calls, of which the first is held at a moment.
private struct Meeting {
  let first: HeldCall
  let second: HeldCall
  let moment: Int
  let condition: HeldCondition
  let hasThreads: Bool

  /// How many moments a call has that is made alone.
  static func moments(
    of call: HeldCall, _ condition: HeldCondition, _ hasThreads: Bool, _ files: HeldFiles
  ) throws -> Int {
    let world = try HeldWorld(files, hasThreads: hasThreads)
    world.bring(to: condition)
    world.moments.begin(holdingAt: .max)
    try world.start(call, [101]) { _ in world.moments.end() }
    _ = world.moments.waitForHold()
    defer { try? world.close() }
    return world.moments.goOn()
  }

  /// - Returns: false if the first call made its way past fewer moments, as the engine's threads did more of it.
  /// - Throws: what is wrong.
  func run(_ files: HeldFiles, _ patience: Duration) throws -> Bool {
    let world = try HeldWorld(files, hasThreads: hasThreads)
    world.bring(to: condition)
    let (one, two) = (Answer(), Answer())
    world.moments.begin(holdingAt: moment)
    try world.start(first, [101]) { answer in
      one.set(answer)
      world.moments.end()
    }
    let place = world.moments.waitForHold()
    if place != nil {
      try world.start(second, [102], two.set)
      _ = two.wait(atMost: patience)
    }
    world.moments.goOn()
    guard let answer = one.wait(atMost: .seconds(60)) else {
      throw Hang(description: "the first hangs, held at \(place ?? "nothing")")
    }
    guard let place else {
      try? world.close()
      return false
    }
    guard let other = two.wait(atMost: .seconds(60)) else {
      throw Hang(description: "the second hangs, the first at \(place)")
    }
    do {
      try verify(answer, other, world)
    } catch {
      throw Disagreement(description: "at \(place) \(answer), \(other): \(error)")
    }
    return true
  }

  private func verify(_ answer: LifeAnswer, _ other: LifeAnswer, _ world: HeldWorld) throws {
    try agree(first.answers(beside: second, condition).contains(answer), "the first")
    try agree(second.answers(beside: first, condition).contains(other), "the second")
    if first.closes || second.closes {
      try agree(world.engine.isClosed && world.medium.isReleased, "it is not closed")
    }
    world.heal()
    let closing = LifeAnswer { try world.close() }
    try agree(world.engine.isClosed && world.medium.isReleased, "closing left it open")
    let next = try Engine.open(world.inner, options: HeldWorld.options, creating: false)
    let isSafe = condition == .sound && closing == .returned
    let goesBack = first == .restore && answer == .returned
    let otherGoesBack = second == .restore && other == .returned
    try expect([101], of: first, answer, in: next, isSafe, isReplaced: otherGoesBack)
    try expect([102], of: second, other, in: next, isSafe, isReplaced: goesBack)
    if !goesBack, !otherGoesBack {
      try agree(try next.value([1]) == [1], "an old commit is gone")
      try agree(try !isSafe || next.value([2]) == [1], "an old relaxed commit is gone")
    }
    let damage = next.working.base.file.check(sizes: HeldWorld.options.nodeSizes)
    try agree(damage.isEmpty, "\(damage)")
    try next.close()
    let late = world.medium.lateChanges
    try agree(late.isEmpty, "after the lock was given back: \(late)")
  }

  /// Expects what `call` was answered to be so.
  ///
  /// - Parameters:
  ///   - isSafe: Whether relaxed commits are flushed too.
  ///   - isReplaced: Whether the store went back to a kept state, before or after.
  private func expect(
    _ key: Bytes, of call: HeldCall, _ answer: LifeAnswer, in engine: Engine, _ isSafe: Bool,
    isReplaced: Bool
  ) throws {
    guard let commits = call.commits else { return }
    let isThere = try engine.value(key) != nil
    switch answer {
    case .outcomeUnknown: break
    case .returned where commits:
      if isReplaced || call.isRelaxed && !isSafe { return }
      try agree(isThere, "\(call) is gone")
    default: try agree(!isThere, "\(call) is there")
    }
  }
}

/// What a call answered, once it has.
private final class Answer: @unchecked Sendable {
  private let signal = Signal()
  /// Written before the signal, read after it.
  private var value: LifeAnswer?

  func set(_ answer: LifeAnswer) {
    value = answer
    signal.set()
  }

  /// Nil if it did not come in time.
  func wait(atMost limit: Duration) -> LifeAnswer? {
    signal.wait(atMost: limit) ? value : nil
  }
}
