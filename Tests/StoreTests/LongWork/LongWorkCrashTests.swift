import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes at any moment of a long operation that has dozens of slices and footers, on a store fresh from a
/// compaction (X16).
@Suite("Long operations on the simulated disk")
struct LongWorkCrashTests {
  private static let tally = Tally(parts: LongWork.all.count)
  /// The images of each operation: of every moment some, and twice as many ways to lose what is pending in a soak.
  private static let wanted = Seeds.count(550, soaking: 1_100, debug: 12)

  /// One image: to see a failure again, put its line into `replayed`.
  struct Image: CustomStringConvertible {
    let work: String
    let call: Int
    let policy: CrashPolicy

    var description: String {
      ".init(work: \(work.debugDescription), call: \(call), policy: .\(policy))"
    }
  }

  private static let replayed: Image? = nil

  @Test(arguments: LongWork.all)
  func `the power goes at any moment: the old program opens, or the new one ends, X16`(
    work: LongWork
  ) throws {
    let start = LongPlace(SimulatedFileSystem())
    let share = try work.make(start)
    #expect(share > 0.97, "\(share)")
    let moments = try Self.moments(of: work, start)
    #expect(moments.count > 20)
    let plan = ImagePlan(moments.map(\.pending), wanted: Self.wanted)
    let oracle = LongOracle(work)
    var (findings, images) = (Findings(), CrashImages())
    let place = work.isCopy ? start.another() : start.crashed(.all)
    let running = try #require(place.medium)
    var next = 0
    var last = -1
    running.beforeEachCall { call in
      guard running.mutationCount != last else { return }
      last = running.mutationCount
      defer { next += 1 }
      for policy in plan.policies(next, pending: running.pendingCount, seed: UInt64(call)) {
        if let replayed = Self.replayed {
          guard replayed.call == call, replayed.policy == policy else { continue }
        }
        let crashed = place.crashed(policy)
        findings.count += 1
        guard let medium = crashed.medium, images.insert(medium) else { continue }
        let violation =
          work.isCopy
          ? Self.violation(ofCopy: crashed, oracle)
          : oracle.violation(in: crashed, Self.questions(findings.count))
        if let violation {
          findings.add(violation, Image(work: work.name, call: call, policy: policy))
        }
      }
    }
    if work.isCopy { try work.run(start, to: place) } else { try work.run(place) }
    running.beforeEachCall(nil)
    for violation in findings.violations.prefix(3) { Issue.record("\(violation)") }
    #expect(findings.violations.count == 0)
    #expect(findings.count >= plan.count)
    print(
      "X16: \(work.name): \(moments.count) moments, \(running.callCount(at: .logFrameSync)) flushes,"
        + " \(findings.count.grouped) images, \(findings.violations.count) violations")
    Self.tally.add(findings) {
      "X16: \($0.count.grouped) crash images of long operations, \($0.violations.count) violations"
    }
  }

  /// Another process opens the store at every footer, and refreshes what it has had open since the beginning.
  @Test(arguments: LongWork.all.filter { !$0.isCopy })
  func `readers open and refresh at every slice while it runs, X16`(work: LongWork) throws {
    let start = LongPlace(SimulatedFileSystem())
    _ = try work.make(start)
    let place = start.crashed(.all)
    let running = try #require(place.medium)
    let oracle = LongOracle(work)
    var reader = try place.reader()
    var (slices, isReading, last) = (0, false, -1)
    var violations: [String] = []
    running.beforeEachCall { call in
      let flushes = running.callCount(at: .logFrameSync) + running.callCount(at: .logHeaderSync)
      guard !isReading, flushes != last else { return }
      (last, isReading) = (flushes, true)
      defer { isReading = false }
      slices += 1
      if let violation = oracle.violation(ofReader: &reader, in: place) {
        violations.append("call \(call): \(violation)")
      }
    }
    try work.run(place)
    running.beforeEachCall(nil)
    for violation in violations.prefix(3) { Issue.record("\(work.name), \(violation)") }
    #expect(slices > 1, "\(slices)")
    #expect(violations.count == 0)
    #expect(oracle.violation(ofReader: &reader, in: place) == nil)
  }

  /// What a run does that is cancelled, and another after it, until one ends.
  @Test(arguments: LongWork.all.filter { $0.kind == .migration || $0.kind == .rehearsal })
  func `cancelled at every slice, the old program opens, and the next run resumes, X16`(
    work: LongWork
  ) throws {
    let start = LongPlace(SimulatedFileSystem())
    _ = try work.make(start)
    let oracle = LongOracle(work)
    let count = try Self.flushCount(of: work, start)
    var violations: [String] = []
    var cancelled = 0
    for slice in Swift.stride(from: 0, to: count, by: scaled(1, debug: 7)) {
      let place = start.crashed(.all)
      let medium = try #require(place.medium)
      let monitor = MigrationMonitor()
      let first = medium.callCount(at: .logFrameSync)
      medium.beforeEachCall { _ in
        if medium.callCount(at: .logFrameSync) - first == slice { monitor.cancel() }
      }
      do {
        try place.migrate(work.model, work.steps, isRehearsal: work.kind == .rehearsal, monitor)
      } catch StoreError.migrationCancelled { cancelled += 1 }
      medium.beforeEachCall(nil)
      if let violation = oracle.violation(in: place, Self.questions(slice)) {
        violations.append("slice \(slice): \(violation)")
      }
    }
    for violation in violations.prefix(3) { Issue.record("\(work.name), \(violation)") }
    #expect(violations.count == 0)
    #expect(cancelled > 0)
  }

  // MARK: Steps

  private static func flushCount(of work: LongWork, _ start: LongPlace) throws -> Int {
    let place = start.crashed(.all)
    try work.run(place)
    return place.medium?.callCount(at: .logFrameSync) ?? 0
  }

  /// The policies of each moment that is looked at.
  private struct ImagePlan {
    private let stride: Int
    private let policyCount: Int
    /// The images that there are at least, where an operation has few moments.
    let count: Int

    /// - Parameter pending: How many changes are not on the disk at each moment.
    init(_ pending: [Int], wanted: Int) {
      func count(_ policies: Int) -> Int {
        pending.reduce(0) { $0 + min($1 == 0 ? 1 : 16, policies) }
      }
      policyCount = (1..<16).first { count($0) >= wanted } ?? 16
      stride = max(1, pending.count / wanted)
      self.count = min(wanted, count(policyCount))
    }

    func policies(_ moment: Int, pending: Int, seed: UInt64) -> [CrashPolicy] {
      guard moment % stride == 0 else { return [] }
      return CrashPolicy.some(policyCount, pending: pending, seed: seed &+ Seeds.round << 32)
    }
  }

  /// Runs the operation once, and looks when something was changed.
  private static func moments(
    of work: LongWork, _ start: LongPlace
  ) throws -> [(call: Int, pending: Int)] {
    let place = work.isCopy ? start.another() : start.crashed(.all)
    guard let medium = place.medium else { return [] }
    var moments: [(call: Int, pending: Int)] = []
    var last = -1
    medium.beforeEachCall { call in
      guard medium.mutationCount != last else { return }
      last = medium.mutationCount
      moments.append((call, medium.pendingCount))
    }
    if work.isCopy { try work.run(start, to: place) } else { try work.run(place) }
    medium.beforeEachCall(nil)
    return moments
  }

  /// The programs of both versions look at each store; everything else takes turns.
  private static func questions(_ number: Int) -> [LongOracle.Question] {
    let others = LongOracle.Question.allCases.filter { $0 != .oldProgram && $0 != .newProgram }
    return [.oldProgram, .newProgram, others[number % others.count]]
  }

  /// What an unfinished copy must be: no store, or a whole one.
  private static func violation(ofCopy place: LongPlace, _ oracle: LongOracle) -> String? {
    do {
      _ = try place.reader()
    } catch StoreError.missing {
      return nil
    } catch StoreError.unknownRecord where oracle.work.kind == .salvage {
      return nil
    } catch {
      return "a copy: \(error)"
    }
    return oracle.violation(in: place, [.check])
  }
}

extension SimulatedFileSystem {
  /// Counts the calls that may have changed something: two images between which it stays are the same.
  fileprivate var mutationCount: Int {
    let operations: [TestSupport.Operation] = [
      .open, .write, .sync, .syncDirectory, .truncate, .rename, .unlink,
    ]
    return operations.reduce(0) { $0 + callCount(of: $1) }
  }
}
