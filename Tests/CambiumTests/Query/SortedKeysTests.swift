import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What is sorted in memory, and how much of that there may be.
@Suite struct SortedKeysTests {
  private func keys(_ count: Int, seed: UInt64 = 1) -> [Bytes] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in (0..<20).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  }

  private func found(
    _ sorted: SortedKeys, _ part: (borrowing SortedKeys, Int) -> Bytes
  ) -> [Bytes] {
    var found: [Bytes] = []
    for index in 0..<sorted.count { found.append(part(sorted, index)) }
    return found
  }

  @Test func `too much to be sorted is refused, with its size, G6`() throws {
    var sorted = SortedKeys(of: "Note", sizeMax: 4_096)
    let error = storeError {
      for key in keys(1_000) { try sorted.add(key.rawSpan, keyLength: 8) }
    }
    guard case .sortTooLarge(record: "Note", let size) = error else {
      Issue.record("\(String(describing: error)) instead")
      return
    }
    #expect(size > 4_096 && size < 4_200)
    #expect(sorted.count > 50)
  }

  @Test func `the first of many are kept in little memory, G6 G7`() throws {
    let all = keys(5_000)
    var sorted = SortedKeys(of: "Note", limit: 20, sizeMax: 4_096)
    for key in all { try sorted.add(key.rawSpan, keyLength: 8) }
    sorted.sort()
    let expected = all.sorted { $0.rawSpan.compare($1.rawSpan) < 0 }.prefix(20)
    #expect(found(sorted) { $0.whole($1).array() } == Array(expected))
  }

  @Test func `sorted groups are put one behind the other`() throws {
    var (one, other) = (SortedKeys(of: "Note"), SortedKeys(of: "Note"))
    for key in [[2, 1], [1, 9]] as [Bytes] { try one.add(key.rawSpan, keyLength: 1) }
    for key in [[0, 3], [0, 2]] as [Bytes] { try other.add(key.rawSpan, keyLength: 1) }
    one.sort()
    other.sort()
    try one.append(other)
    #expect(found(one) { $0.key($1).array() } == [[9], [1], [2], [3]])
  }

  @Test func `a key is found wherever another one was looked for before`() throws {
    // The second keys agree in their first eight bytes.
    for start in [[], Bytes(repeating: 7, count: 8)] {
      for count in 0...4 {
        var sorted = SortedKeys(of: "Note")
        let all = (0..<count).map { start + [UInt8(2 * $0 + 1)] }
        for key in all { try sorted.add(key.rawSpan, keyLength: key.count) }
        sorted.sort()
        for near in 0...count {
          for last in 0...UInt8(2 * count) {
            let key = start + [last]
            var place = near
            #expect(
              sorted.place(of: key.rawSpan, near: &place) == all.firstIndex(of: key),
              "\(key) near \(near) of \(all)")
            #expect(place == all.count { $0.lexicographicallyPrecedes(key) })
          }
        }
      }
    }
  }

  @Test(arguments: [nil, 20])
  func `rows are kept beside their keys as long as they are small`(limit: Int?) throws {
    // From the last on, so that each takes the place of another.
    let all = keys(2_000).sorted { $0.rawSpan.compare($1.rawSpan) > 0 }
    func row(_ key: Bytes) -> Bytes { key.reversed() + Bytes(repeating: 1, count: Int(key[3])) }
    var sorted = SortedKeys(of: "Note", limit: limit, keepsRows: true)
    for key in all {
      let row = row(key)
      try sorted.add(key.rawSpan, keyLength: 8, row: row.rawSpan)
    }
    let first = Bytes(repeating: 0, count: 20)
    let large = Bytes(repeating: 2, count: 2 << 20)
    var other = sorted
    try other.add(first.rawSpan, keyLength: 8, row: large.rawSpan)
    let expected = Array(all.reversed().prefix(limit ?? .max))
    sorted.sort()
    #expect(sorted.hasRows && !other.hasRows)
    #expect(found(sorted) { $0.whole($1).array() } == expected)
    #expect(found(sorted) { $0.row($1).array() } == expected.map(row))
    other.sort()
    #expect(
      found(other) { $0.whole($1).array() } == Array(([first] + expected).prefix(limit ?? .max)))
  }
}
