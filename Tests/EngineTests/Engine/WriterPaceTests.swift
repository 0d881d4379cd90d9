import Testing

@testable import Cambium

/// The pauses of writers that are faster than the fold.
@Suite struct WriterPaceTests {
  private static let overlay = 64 << 20
  private static let batch = 116_000

  /// The pauses of batches into an overlay beside one that is folded, in milliseconds; those of the last before the overlay is full or the fold
  /// has ended.
  ///
  /// - Parameters:
  ///   - write, fold: Nanoseconds for each byte.
  ///   - expected: The same of the fold before.
  private func run(
    write: Double, fold: Double, expected: Double
  ) -> (each: [Double], fill: Double) {
    var pace = WriterPace()
    let start = ContinuousClock.now
    pace.begin(start)
    pace.end(folded: Self.overlay, start + .nanoseconds(Int64(expected * Double(Self.overlay))))
    pace.begin(start)
    var (time, bytes) = (0.0, 0)
    var each: [Double] = []
    while time < fold * Double(Self.overlay), bytes < Self.overlay {
      time += write * Double(Self.batch)
      bytes += Self.batch
      let lead = pace.lead(
        after: Self.batch, fill: Double(bytes) / Double(Self.overlay), folded: Self.overlay,
        start + .nanoseconds(Int64(time)))
      guard let lead else { break }
      each.append(lead / 1e6)
      time += lead
    }
    return (each, Double(bytes) / Double(Self.overlay))
  }

  @Test func `a fold as long as the last one ends when the overlay is nearly full`() throws {
    for fold in [20.0, 50, 100] {
      let (pauses, fill) = run(write: 10, fold: fold, expected: fold)
      #expect((0.9...0.96).contains(fill), "\(fold): \(fill)")
      let due = pauses.filter { $0 > 0 }
      #expect(due.count > 100)
      // A batch takes the time in which the fold gets on as far.
      let most = fold * Double(Self.batch) / 1e6 / 0.7
      #expect(try #require(due.max()) <= most, "\(fold)")
    }
  }

  @Test func `writers that are slower than the fold do not pause`() {
    #expect(run(write: 50, fold: 20, expected: 20).each.allSatisfy { $0 == 0 })
  }

  @Test func `a quarter of the overlay is filled without a pause`() {
    let pauses = run(write: 1, fold: 100, expected: 100).each
    #expect(pauses.prefix(Self.overlay / 4 / Self.batch).allSatisfy { $0 == 0 })
  }

  @Test func `nothing is said of the first fold, nor of one that is late`() {
    var pace = WriterPace()
    pace.begin()
    #expect(pace.lead(after: Self.batch, fill: 0.5, folded: Self.overlay) == nil)
    let (_, fill) = run(write: 10, fold: 100, expected: 50)
    #expect(fill > WriterPace.shares.upperBound)
  }

  @Test func `small transactions read the clock once for many`() {
    var pace = WriterPace()
    pace.begin()
    pace.end(folded: Self.overlay)
    pace.begin()
    var count = 0
    for _ in 0..<10_000 {
      _ = pace.lead(
        after: 100, fill: 0.5, folded: Self.overlay,
        {
          count += 1
          return ContinuousClock.now
        }())
    }
    #expect((100...140).contains(count))
  }
}
