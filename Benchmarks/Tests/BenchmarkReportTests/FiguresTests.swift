import Testing

@testable import BenchmarkReport

@Suite struct `A number` {
  @Test(arguments: [
    (0, "0.000000"), (0.000_5, "0.000500"), (0.001_23, "0.00123"), (0.012_34, "0.0123"),
    (0.5, "0.500"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (12_345.6, "12,346"),
    (-0.5, "-0.500"), (1e300, "1e+300"), (.infinity, "inf"),
  ])
  func `has three digits at least`(value: Double, text: String) {
    #expect(Figures.short(value) == text)
  }

  @Test func `has as many places as it needs, in words that are plain`() {
    #expect([3, 2.5, 1_000_000, 0.001].map(Figures.plain) == ["3", "2.5", "1,000,000", "0.001"])
  }
}
