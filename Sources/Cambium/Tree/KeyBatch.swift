/// Keys to be looked up together.
struct KeyBatch: Sendable {
  /// The keys, one behind the other; what is behind the last is of no meaning.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }

  mutating func append(_ key: RawSpan) {
    let start = ends.last ?? 0
    let end = start + key.byteCount
    if end > bytes.count { bytes += [UInt8](repeating: 0, count: end) }
    bytes.replace(at: start, with: key, RawSpan())
    ends.append(end)
  }

  mutating func removeAll() {
    ends.removeAll(keepingCapacity: true)
  }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.rawSpan.part(start, ends[index] - start)
  }
}
