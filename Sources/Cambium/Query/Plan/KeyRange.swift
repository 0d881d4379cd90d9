/// A run of keys in a tree.
struct KeyRange: Hashable, Sendable {
  /// The first key may be this.
  var low: [UInt8] = []
  /// Every key is below this; nil is without bound.
  var high: [UInt8]?

  static let all = KeyRange()
  /// Behind every key.
  static let highest = [UInt8](repeating: 0xff, count: StoreError.Limit.keyLength.bound + 1)

  init(low: [UInt8] = [], high: [UInt8]? = nil) {
    self.low = low
    self.high = high
  }

  /// The keys that begin with `prefix`.
  init(prefix: [UInt8]) {
    low = prefix
    high = prefix.behindPrefix
  }

  /// Only one key.
  init(only key: [UInt8]) {
    low = key
    high = key + [0]
  }

  var isEmpty: Bool {
    guard let high else { return false }
    return high.rawSpan.compare(low.rawSpan) <= 0
  }

  /// Leaves out keys below `bound`.
  mutating func begin(at bound: [UInt8]) {
    if bound.rawSpan.compare(low.rawSpan) > 0 { low = bound }
  }

  /// Leaves out keys from `bound` on.
  mutating func end(before bound: [UInt8]?) {
    guard let bound else { return }
    if let high, high.rawSpan.compare(bound.rawSpan) <= 0 { return }
    high = bound
  }

  func contains(_ key: RawSpan) -> Bool {
    if key.compare(low.rawSpan) < 0 { return false }
    guard let high else { return true }
    return key.compare(high.rawSpan) < 0
  }
}

extension [UInt8] {
  /// The lowest key that comes behind all that begin with these bytes; nil if there is none.
  var behindPrefix: [UInt8]? {
    guard let place = lastIndex(where: { $0 < 0xff }) else { return nil }
    var bound = self
    bound.removeLast(count - 1 - place)
    bound[place] += 1
    return bound
  }
}
