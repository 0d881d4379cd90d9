import Testing

@testable import Cambium

/// How long work is cut into slices.
@Suite struct WorkBudgetTests {
  private func slices(
    _ budget: WorkBudget, taking counts: [Int], recordSize: Int = 100
  ) -> [Int] {
    var remaining = WorkBudget.Remaining(budget)
    return [remaining.slice(atMost: 10_000, recordSize: recordSize)]
      + counts.map { count in
        remaining.take(count, size: recordSize)
        return remaining.slice(atMost: 10_000, recordSize: recordSize)
      }
  }

  @Test func `a slice has what is left of records and bytes, and 2 MiB at most`() {
    #expect(slices(.unlimited, taking: [10_000]) == [10_000, 10_000])
    #expect(slices(.unlimited, taking: [], recordSize: 1 << 20) == [2])
    #expect(slices(.unlimited, taking: [], recordSize: 1 << 30) == [1])
    #expect(slices(.records(700), taking: [600]) == [700, 100])
    #expect(slices(.bytes(70_000), taking: [600]) == [700, 100])
  }

  @Test func `where time is bounded slices begin small, grow, and shrink as it ends`() {
    let hour = WorkBudget.time(.seconds(3600))
    #expect(slices(hour, taking: [256, 256, 512, 100_000]) == [256, 256, 512, 1024, 10_000])
    #expect(slices(.time(.zero), taking: [256, 4096]) == [256, 32, 32])
    var both = hour
    both.records = 300
    #expect(slices(both, taking: [256]) == [256, 44])
  }

  @Test func `a budget is spent with whichever bound comes first`() {
    var remaining = WorkBudget.Remaining(.records(10))
    #expect(!remaining.isSpent)
    remaining.take(10, size: 1)
    #expect(remaining.isSpent)
    #expect(WorkBudget.Remaining(.time(.zero)).isSpent)
    #expect(!WorkBudget.Remaining(.unlimited).isSpent)
  }
}
