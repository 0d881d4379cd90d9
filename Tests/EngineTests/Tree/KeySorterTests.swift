import TestSupport
import Testing

@testable import Cambium

/// The order in which a spilled transaction's puts are merged.
@Suite struct KeySorterTests {
  private func sorted(_ keys: [[UInt8]]) -> [(key: [UInt8], place: Int)] {
    var entries = UnsortedEntries()
    for (index, key) in keys.enumerated() {
      let value = (0..<8).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) }
      entries.append(key.rawSpan, value.rawSpan)
    }
    var sorter = KeySorter(prefixLength: entries.prefixLength)
    var result: [(key: [UInt8], place: Int)] = []
    entries.reorder { entries, places in
      sorter.sort(&places, of: entries)
      for place in places {
        result.append(
          (entries.key(place).array(), Int(entries.value(place).load(0, as: UInt64.self))))
      }
    }
    return result
  }

  /// More than are sorted at once. Each division of them takes tens of milliseconds here, so one for every byte that
  /// a key could have would take minutes.
  @Test(.timeLimit(.minutes(60)), arguments: [3, 1000])
  func `a key that comes often stays in the order it came`(_ length: Int) {
    let often = [UInt8](repeating: 7, count: length)
    let count = 1 << 17 + 500
    var keys = [[UInt8]](repeating: often, count: count)
    keys[100] = [7]
    keys[200] = often + [1]
    keys[300] = [8, 1]
    keys[400] = often + [0]
    let result = sorted(keys)
    #expect(result.first?.place == 100)
    #expect(result.suffix(3).map(\.place) == [400, 200, 300])
    let same = result.dropFirst().dropLast(3).map(\.place)
    #expect(same == (0..<count).filter { ![100, 200, 300, 400].contains($0) })
  }

  @Test(arguments: [[], [1], [1, 2, 9], [1, 2, 2, 9], [2, 1], [1, 9, 2]] as [[UInt8]])
  func `entries come in the order of their keys, also if they came in it`(
    numbers: [UInt8]
  ) throws {
    var entries = UnsortedEntries()
    for (index, number) in numbers.enumerated() {
      entries.append([number].rawSpan, [UInt8(index)].rawSpan)
    }
    #expect(entries.isAscending == zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    var sorted = entries.sorted()
    var found: [(key: UInt8, value: UInt8)] = []
    while try sorted.advance() {
      found.append((sorted.key.load(0, as: UInt8.self), sorted.value.load(0, as: UInt8.self)))
    }
    #expect(found.map(\.key) == Set(numbers).sorted())
    for entry in found {
      #expect(numbers.lastIndex(of: entry.key) == Int(entry.value), "the last of a key counts")
    }
  }

  /// All lists of up to four of five keys, in batches of one, two and three.
  @Test func `entries of batches come as those that are added one by one`() throws {
    let keys: [[UInt8]] = [[], [7], [7, 0, 1], [7, 1], [8]]
    var lists: [[[UInt8]]] = [[]]
    for length in 1...4 {
      lists += lists.filter { $0.count == length - 1 }.flatMap { list in keys.map { list + [$0] } }
    }
    for list in lists {
      for size in 1...3 {
        var single = UnsortedEntries()
        var batched = UnsortedEntries()
        for start in stride(from: 0, to: list.count, by: size) {
          var batch = EntryBatch()
          for index in start..<min(start + size, list.count) {
            let key = list[index]
            let value = [9, UInt8(index)]
            single.append(key.rawSpan, RawSpan(), value.rawSpan, tag: UInt16(start))
            batch.append(key.rawSpan, 9, [UInt8(index)].rawSpan)
          }
          batched.append(batch, tag: UInt16(start))
        }
        #expect(batched.prefixLength == single.prefixLength, "\(list) by \(size)")
        #expect(batched.isAscending == single.isAscending, "\(list) by \(size)")
        var one = single.sorted()
        var other = batched.sorted()
        while try one.advance() {
          let isThere = try other.advance()
          let key = other.key.array()
          let value = other.value.array()
          #expect(isThere && key == one.key.array() && value == one.value.array())
          #expect(other.tag == one.tag, "\(list) by \(size)")
        }
        let isAtEnd = try !other.advance()
        #expect(isAtEnd)
      }
    }
  }

  @Test func `keys with long beginnings in common are sorted`() {
    var random = SplitMix64(seed: 5)
    let keys = (0..<(1 << 17 + 1000)).map { _ in
      [UInt8](repeating: 1, count: Int.random(in: 20...24, using: &random))
        + [UInt8.random(in: 0...3, using: &random)]
    }
    let result = sorted(keys)
    let isSorted = zip(result, result.dropFirst()).allSatisfy { one, next in
      let order = one.key.rawSpan.compare(next.key.rawSpan)
      return order < 0 || order == 0 && one.place < next.place
    }
    #expect(isSorted)
  }
}
