import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct DecimalArithmeticTests {
  private static func parts(_ text: String) throws -> DecimalParts {
    DecimalParts(try #require(Decimal(string: text)))
  }

  @Test(
    arguments: [
      ("1", "3", "0.33333333333333333333333333333333333333"),
      ("2", "3", "0.66666666666666666666666666666666666667"), ("1", "8", "0.125"),
      ("10", "5", "2"), ("-1", "4", "-0.25"), ("0", "7", "0"),
      ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455", "1"),
      ("1e100", "1e-27", "1e127"), ("1e-100", "1e28", "1e-128"),
      ("340282366920938463463374607431768211455", "2", "170141183460469231731687303715884105727.5"),
    ])
  func `decimals are divided to 38 digits`(one: String, other: String, result: String) throws {
    let quotient = DecimalParts.quotient(try Self.parts(one), try Self.parts(other))
    let expected = try Self.parts(result)
    let difference = try #require(quotient.flatMap { DecimalParts.sum($0, expected.negated) })
    // The last of 39 digits may be rounded.
    let tolerance = try Self.parts("1e1")
    #expect(
      quotient == expected || result.count > 38 && tolerance.order(of: difference) == .less,
      "\(quotient?.decimal ?? .nan)")
  }

  @Test func `what is too large is nothing, what is too small is zero`() throws {
    let (large, small) = (try Self.parts("1e127"), try Self.parts("1e-128"))
    let most = DecimalParts(.greatestFiniteMagnitude)
    #expect(DecimalParts.product(most, most) == nil)
    #expect(DecimalParts.sum(most, most) == nil)
    #expect(DecimalParts.quotient(most, small) == nil)
    #expect(DecimalParts.product(small, small) == (try Self.parts("0")))
    #expect(DecimalParts.quotient(small, large) == (try Self.parts("0")))
    #expect(DecimalParts.sum(large, small) == large)
    #expect(DecimalParts.quotient(large, try Self.parts("0")) == nil)
    #expect(DecimalParts.product(large, try Self.parts("10")) == (try Self.parts("10e127")))
  }

  @Test func `sums and products of what has few digits are exact`() {
    replaying(0..<UInt64(scaled(100_000, debug: 3000))) { seed in
      var random = SplitMix64(seed: seed)
      func make() -> (DecimalParts, Int128, Int) {
        let magnitude = Int128(random.next() >> UInt64.random(in: 4..<64, using: &random))
        let exponent = Int.random(in: -6...6, using: &random)
        let value = Bool.random(using: &random) ? magnitude : -magnitude
        return (
          DecimalParts(
            isNegative: value < 0, exponent: Int8(exponent), magnitude: magnitude.magnitude),
          value, exponent
        )
      }
      func power(_ exponent: Int) -> Int128 {
        (0..<exponent).reduce(1) { result, _ in result * 10 }
      }
      let (one, oneValue, oneExponent) = make()
      let (other, otherValue, otherExponent) = make()
      let lowest = min(oneExponent, otherExponent)
      let sum =
        oneValue * power(oneExponent - lowest) + otherValue * power(otherExponent - lowest)
      let expected = DecimalParts(
        isNegative: sum < 0, exponent: Int8(lowest), magnitude: sum.magnitude)
      try agree(.sum(one, other) == expected, "\(one.decimal) + \(other.decimal)")
      let (product, overflows) = oneValue.multipliedReportingOverflow(by: otherValue)
      if !overflows {
        let expected = DecimalParts(
          isNegative: product < 0, exponent: Int8(oneExponent + otherExponent),
          magnitude: product.magnitude)
        try agree(.product(one, other) == expected, "\(one.decimal) * \(other.decimal)")
      }
    }
  }

  @Test func `no two decimals end the process`() {
    var edges: [DecimalParts] = []
    for magnitude in [0, 1, 5, 9, 10, UInt128(UInt64.max), .max / 10, .max / 2, .max - 1, .max] {
      for exponent in [Int8.min, -127, -40, -1, 0, 1, 39, 126, .max] {
        for isNegative in [false, true] {
          edges.append(
            DecimalParts(isNegative: isNegative, exponent: exponent, magnitude: magnitude))
        }
      }
    }
    for one in edges {
      for other in edges {
        let results: [DecimalParts?] = [
          .sum(one, other), .product(one, other), .quotient(one, other),
        ]
        for case let result? in results {
          var bytes: Bytes = []
          result.encode(to: &bytes)
          #expect(DecimalParts(decoding: bytes.rawSpan) == result)
        }
        let order = one.order(of: other)
        #expect(order == other.order(of: one).reversed)
        #expect((order == .same) == (one == other))
        #expect((order == .less) == other.keyBytes.lexicographicallyPrecedes(one.keyBytes))
      }
    }
  }
}
