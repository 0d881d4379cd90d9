import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A long operation on real files, of thousands of records and with the options that programs have, is killed at any moment
/// by the kernel, resumed by another process that is killed too, and ended by a third; or it is cancelled (X16).
@Suite("Long operations in killed processes", .serialized)
struct LongWorkKillTests {
  /// Each store is that of a process that is killed, and of one that resumes and is killed, too.
  private static let lives = 2
  /// Of each operation; a soak has four, and more in each round.
  private static let storeCount = Seeds.count(2, soaking: 4, debug: 1) * Soak.factor
  private static let records = LongRecords.small(scaled(12_000, debug: 1_200))

  @Test
  func `there are 100 processes to kill, and 200 in a soak`() {
    #expect(
      LongWork.all.count * Self.storeCount * Self.lives
        >= Seeds.count(100, soaking: 200, debug: 50))
  }

  @Test(.timeLimit(.minutes(60 * Soak.factor)), arguments: LongWork.all)
  func `a killed operation leaves a store that every program opens, and is resumed, X16`(
    work: LongWork
  ) async throws {
    var work = work
    work.records = Self.records
    try await Self.killing(work, stores: Self.storeCount)
  }

  /// More records than fit in one slice: three slices of each task.
  @Test(.timeLimit(.minutes(60 * Soak.factor)))
  func `so it is with hundreds of thousands of records, X16`() async throws {
    var work = try #require(LongWork.all.first { $0.name == "several at once" })
    work.records = .small(scaled(200_000, debug: 3_000))
    try await Self.killing(work, stores: Soak.factor, asking: [.newProgram])
  }

  @Test(
    .timeLimit(.minutes(60 * Soak.factor)),
    arguments: LongWork.all.filter { $0.kind == .migration || $0.kind == .rehearsal })
  func `a cancelled operation leaves a store that every program opens, and is resumed, X16`(
    work: LongWork
  ) async throws {
    var work = work
    work.records = Self.records
    let directory = try TemporaryDirectory()
    let start = LongPlace(directory.path + "/start", sliceCount: 500)
    _ = try work.make(start)
    let time = try Self.duration(of: work, try start.copy())
    let oracle = LongOracle(work)
    let place = try start.copy()
    for part in 1...4 {
      let delay = time * (Double(part) / 5)
      let run = Task.detached { [work] in
        try place.migrate(work.model, work.steps, isRehearsal: work.kind == .rehearsal)
      }
      try await Task.sleep(for: delay)
      run.cancel()
      let result = await run.result
      if case .failure(let error) = result {
        guard case StoreError.migrationCancelled = error else { throw error }
      }
      let violation = oracle.violation(in: place, part == 4 ? [.oldProgram, .newProgram] : [])
      #expect(violation == nil, "cancelled after \(delay) of \(time)")
    }
    withExtendedLifetime(directory) {}
  }

  // MARK: Killing

  private static func killing(
    _ work: LongWork, stores: Int, asking asked: [LongOracle.Question]? = nil
  ) async throws {
    let directory = try TemporaryDirectory()
    let start = LongPlace(directory.path + "/start")
    _ = try work.make(start)
    let time = try duration(of: work, try start.copy())
    let oracle = LongOracle(work)
    let others = LongOracle.Question.allCases
    for store in 0..<stores {
      var random = SplitMix64(seed: UInt64(store) &+ Seeds.round &* 1_000)
      let place = try start.copy()
      guard case .directory(let path) = place.kind else { return }
      for life in 0..<lives {
        let share = Double(random.next() % 1_000) / 1_000
        let delay = time * (life == 0 ? share : share * 0.7)
        await kill(work, at: path, after: delay)
        let questions = asked ?? [.oldProgram, .newProgram, others[(store + life) % others.count]]
        let violation = oracle.violation(in: place, life == lives - 1 ? questions : [])
        #expect(violation == nil, "store \(store), life \(life), killed after \(delay) of \(time)")
      }
      place.remove()
    }
    withExtendedLifetime(directory) {}
  }

  private static func duration(of work: LongWork, _ place: LongPlace) throws -> Duration {
    let start = ContinuousClock.now
    try work.run(place)
    defer { place.remove() }
    return .now - start
  }

  /// Runs the operation in a process that a timer's signal ends, which nothing handles, or that ends so by itself.
  private static func kill(_ work: LongWork, at path: String, after delay: Duration) async {
    let microseconds = max(1, Int(delay / .microseconds(1)))
    await #expect(processExitsWith: .signal(SIGALRM)) {
      [
        name = work.name as String, count = work.records.count as Int, path = path as String,
        microseconds = microseconds as Int,
      ] in
      guard var work = LongWork.all.first(where: { $0.name == name }) else { exit(1) }
      work.records = .small(count)
      var timer = itimerval()
      timer.it_value = timeval(
        tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
      guard unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil) == 0 else {
        exit(1)
      }
      do {
        try work.run(LongPlace(path))
      } catch {
        print("X16: \(name): \(error)")
        exit(1)
      }
      // To the process: a thread of the pool has signals blocked, as `raise` would find.
      _ = Glibc.kill(getpid(), SIGALRM)
      sleep(60)
    }
  }
}
