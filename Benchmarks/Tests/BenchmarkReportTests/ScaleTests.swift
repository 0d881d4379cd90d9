import Testing

@testable import BenchmarkReport

@Suite struct `A scale` {
  @Test func `puts its ends where it is told, and the middle between`() {
    let linear = Scale(.linear, 0...10, from: 100, to: 200)
    #expect([0, 5, 10].map(linear.position) == [100, 150, 200])
    let logarithmic = Scale(.logarithmic, 1...100, from: 300, to: 100)
    #expect([1, 10, 100].map(logarithmic.position) == [300, 200, 100])
  }

  @Test func `has round ticks within its range`() {
    #expect(Scale(.linear, 0...60, from: 0, to: 1).ticks == [0, 10, 20, 30, 40, 50, 60])
    #expect(Scale(.logarithmic, 1...1_000_000, from: 0, to: 1).ticks.count == 7)
    #expect(Scale(.logarithmic, 0.4...3, from: 0, to: 1).ticks == [0.5, 1, 2])
  }

  @Test func `of one value only, or of zero, is drawn all the same`() {
    #expect(Scale(.linear, 5...5, from: 1, to: 2).position(5) == 1)
    #expect(Scale(.logarithmic, 1...10, from: 0, to: 1).position(0).isFinite)
    #expect(ClosedRange.around([0, -1], margin: 2) == 0.5...2)
  }
}
