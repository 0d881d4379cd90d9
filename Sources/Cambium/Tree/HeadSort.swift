/// A thing that is sorted by key, with eight bytes of that beside it, which tell most apart.
protocol HeadSorted {
  var head: UInt64 { get }
}

extension Array where Element: HeadSorted {
  /// Sorts by radix, one byte of the heads after the other, the lowest first; each pass keeps the order of the last. Bytes
  /// that all heads have in common cost no pass.
  ///
  /// - Parameter spare: Memory for as many elements, which is used again by the next sort.
  /// - Complexity: O(count), eight passes at most.
  mutating func sortByHead(_ spare: inout [Element]) {
    var counts = [Int](repeating: 0, count: 8 * 256)
    for element in self {
      for byte in 0..<8 { counts[byte << 8 + Int(element.head >> (8 * UInt64(byte)) & 0xff)] += 1 }
    }
    spare = self
    for byte in 0..<8 {
      let shift = 8 * UInt64(byte)
      guard let first else { return }
      if counts[byte << 8 + Int(first.head >> shift & 0xff)] == count { continue }
      var next = [Int](repeating: 0, count: 256)
      for digit in 1..<256 { next[digit] = next[digit - 1] + counts[byte << 8 + digit - 1] }
      for element in self {
        let digit = Int(element.head >> shift & 0xff)
        spare[next[digit]] = element
        next[digit] += 1
      }
      swap(&self, &spare)
    }
  }

  /// Returns the elements from one on that have its head, once they are sorted.
  func ties(from start: Int) -> Range<Int> {
    var end = start + 1
    while end < count, self[end].head == self[start].head { end += 1 }
    return start..<end
  }
}
