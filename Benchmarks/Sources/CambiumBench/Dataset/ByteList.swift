/// Byte strings of one length, back to back in memory: the input of engines, in the order in
/// which they are given it, so that fetching the input costs each of them the same and little.
struct ByteList: Sendable {
  /// Of each string; at least 8.
  let length: Int
  private(set) var count = 0
  private var bytes: [UInt8] = []

  init(length: Int, capacity: Int) {
    precondition(length >= 8, "digests read eight bytes at either end")
    self.length = length
    bytes.reserveCapacity(length * capacity)
  }

  var byteCount: Int { bytes.count }

  /// The string at `index`. It stays at its address for as long as the list is held.
  subscript(index: Int) -> RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      unsafe bytes.span.bytes.extracting(index * length..<(index + 1) * length)
    }
  }

  mutating func append(_ other: ByteList, at index: Int) {
    precondition(other.length == length, "a list holds strings of one length")
    bytes.append(contentsOf: other.bytes[index * length..<(index + 1) * length])
    count += 1
  }

  /// Appends a string made of `words`, big-endian, of which the last may be cut.
  mutating func append(words: () -> UInt64) {
    var remaining = length
    while remaining > 0 {
      let word = words()
      for shift in stride(from: 56, through: 64 - 8 * min(remaining, 8), by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
      remaining -= min(remaining, 8)
    }
    count += 1
  }

  mutating func append(_ string: some Collection<UInt8>) {
    precondition(string.count == length, "a list holds strings of one length")
    bytes.append(contentsOf: string)
    count += 1
  }
}

extension ByteList {
  /// The strings at `order`'s positions, copied in that order.
  func arranged(by order: [UInt32]) -> ByteList {
    var arranged = ByteList(length: length, capacity: order.count)
    for index in order { arranged.append(self, at: Int(index)) }
    return arranged
  }
}
