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
}
