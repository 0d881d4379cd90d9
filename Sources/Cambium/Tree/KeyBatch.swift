/// Keys to be looked up together.
struct KeyBatch: Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }

  mutating func append(_ key: RawSpan) {
    bytes.append(key)
    ends.append(bytes.count)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.rawSpan.part(start, ends[index] - start)
  }
}
