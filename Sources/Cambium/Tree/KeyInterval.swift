/// The keys from one on and below another.
struct KeyInterval: Equatable, Sendable {
  let start: [UInt8]
  /// Nil is without bound.
  let end: [UInt8]?

  static let all = KeyInterval(start: [], end: nil)

  /// The keys below the start, and those from the end on.
  var outside: [KeyInterval] {
    let below = start.isEmpty ? [] : [KeyInterval(start: [], end: start)]
    return below + (end.map { [KeyInterval(start: $0, end: nil)] } ?? [])
  }

  /// Whether a key is before the end.
  func endsAfter(_ key: RawSpan) -> Bool {
    guard let end else { return true }
    return key.compare(end.rawSpan) < 0
  }
}
