import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct DecimalPartsTests {
  @Test func `this toolchain lays decimals out as is known`() {
    #expect(DecimalParts.isLayoutKnown)
  }

  @Test func `layout and public interface say the same`() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<scaled(100_000, debug: 2_000) {
      let wide = UInt128(random.next()) << 64 | UInt128(random.next())
      let parts = DecimalParts(
        isNegative: Bool.random(using: &random), exponent: .random(in: -40...40, using: &random),
        magnitude: wide >> UInt128.random(in: 0..<128, using: &random))
      try agree(parts.decimal == parts.publicDecimal, "\(parts)")
      try agree(DecimalParts(parts.decimal) == parts, "\(parts)")
      try agree(DecimalParts(publicly: parts.decimal) == parts, "\(parts)")
    }
  }

  @Test func `equal decimals have the same parts`() throws {
    let thousand = try #require(Decimal(string: "1000"))
    for other in ["1e3", "1000.000", "0.1e4", "10e2"] {
      #expect(DecimalParts(try #require(Decimal(string: other))) == DecimalParts(thousand))
    }
    #expect(DecimalParts(thousand) == DecimalParts(isNegative: false, exponent: 3, magnitude: 1))
    #expect(DecimalParts(-Decimal(0)) == DecimalParts(isNegative: false, exponent: 0, magnitude: 0))
  }
}
