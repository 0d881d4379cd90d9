/// The keys from one on and below another.
struct KeyInterval: Equatable, Sendable {
  let start: [UInt8]
  /// Nil is without bound.
  let end: [UInt8]?

  static let all = KeyInterval(start: [], end: nil)

  /// Whether a key is before the end.
  func endsAfter(_ key: RawSpan) -> Bool {
    guard let end else { return true }
    return key.compare(end.rawSpan) < 0
  }
}
