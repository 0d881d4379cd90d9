import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Numbers of different keys, against those of a dictionary.
@Suite struct KeyNumbersTests {
  /// Keys of every length up to twenty, many of which begin or end with the same bytes.
  private static func key(_ random: inout SplitMix64) -> Bytes {
    let count = Int(random.next() % 21)
    let kind = random.next() % 3
    return (0..<count).map { place in
      switch kind {
      case 0: UInt8(truncatingIfNeeded: random.next())
      case 1: place < count - 1 ? 0 : UInt8(truncatingIfNeeded: random.next() % 3)
      default: place > 0 ? 0xff : UInt8(truncatingIfNeeded: random.next() % 3)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 13, 5_000])
  func `keys have the numbers of a dictionary, and are sorted`(count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    var numbers = KeyNumbers()
    for round in 0..<2 {
      var known: [Bytes: Int] = [:]
      #expect(numbers.existingNumber(of: [7].rawSpan) == nil)
      for _ in 0..<count {
        let key = Self.key(&random)
        #expect(numbers.existingNumber(of: key.rawSpan) == known[key], "round \(round)")
        let (number, isNew) = numbers.number(of: key.rawSpan)
        #expect(isNew == (known[key] == nil))
        let expected = known[key] ?? known.count
        known[key] = expected
        #expect(number == expected)
        #expect(numbers.key(number).array() == key)
      }
      #expect(numbers.count == known.count)
      #expect(numbers.size == known.keys.map(\.count).reduce(0, +))
      let sorted = known.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      #expect(numbers.sorted == sorted.map(\.value))
      numbers.removeAll()
      #expect(numbers.count == 0 && numbers.sorted.isEmpty)
    }
  }

  @Test func `keys that come in order, or in order but for the last, are sorted`() {
    for last in [[9], [0, 5]] as [Bytes] {
      var numbers = KeyNumbers()
      let keys: [Bytes] = [[], [0], [0, 0], [1], [1, 0xff], [2], last]
      for key in keys { _ = numbers.number(of: key.rawSpan) }
      let expected = keys.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(numbers.sorted.map { numbers.key($0).array() } == expected)
      #expect(numbers.isAscending == (last == [9]))
    }
  }
}
