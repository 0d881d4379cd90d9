internal import CCambium

/// A match of text, prepared: asked of bytes, without decoding what is ASCII or has no options.
struct TextMatcher: Sendable {
  private let kind: TextMatch.Kind
  private let options: TextMatch.Options
  /// The text, folded as the options say.
  private let text: [UInt8]
  private let pattern: LikePattern?

  init(_ match: TextMatch) {
    kind = match.kind
    options = match.options
    text = TextFolding.bytes(of: match.text, match.options)
    pattern = match.kind == .like ? LikePattern(match.text, match.options) : nil
  }

  /// Returns nil if it has options and the bytes are not UTF-8.
  func matches(_ bytes: RawSpan) -> Bool? {
    if options.isEmpty { return matches(bytes, lowercasing: false) }
    if bytes.isASCII {
      return matches(bytes, lowercasing: options.contains(.caseInsensitive))
    }
    guard let folded = TextFolding.bytes(of: bytes, options) else { return nil }
    return matches(folded.rawSpan, lowercasing: false)
  }

  private func matches(_ bytes: RawSpan, lowercasing: Bool) -> Bool {
    let count = text.count
    switch kind {
    case .prefix: return bytes.byteCount >= count && isText(bytes, at: 0, lowercasing)
    case .suffix:
      return bytes.byteCount >= count && isText(bytes, at: bytes.byteCount - count, lowercasing)
    case .equals: return bytes.byteCount == count && isText(bytes, at: 0, lowercasing)
    case .contains: return isWithin(bytes, lowercasing)
    case .like: return pattern?.matches(bytes, lowercasing: lowercasing) ?? false
    }
  }

  /// Returns true if the text is at `offset` of `bytes`, which go on far enough.
  private func isText(_ bytes: RawSpan, at offset: Int, _ lowercasing: Bool) -> Bool {
    if !lowercasing { return bytes.part(offset, text.count).equals(text.rawSpan) }
    for index in text.indices where bytes.lowercased(offset &+ index) != text[index] {
      return false
    }
    return true
  }

  private func isWithin(_ bytes: RawSpan, _ lowercasing: Bool) -> Bool {
    guard let first = text.first else { return true }
    guard bytes.byteCount >= text.count else { return false }
    if !lowercasing { return bytes.contains(text.rawSpan) }
    for start in 0...bytes.byteCount - text.count
    where bytes.lowercased(start) == first && isText(bytes, at: start, true) {
      return true
    }
    return false
  }
}

extension RawSpan {
  /// The byte at `offset`; of a capital letter of ASCII, the small one's.
  @inline(__always)
  func lowercased(_ offset: Int) -> UInt8 {
    let byte = load(offset, as: UInt8.self)
    return byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  var isASCII: Bool {
    var offset = 0
    while offset &+ 8 <= byteCount {
      if load(offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      offset &+= 8
    }
    while offset < byteCount {
      if load(offset, as: UInt8.self) >= 0x80 { return false }
      offset &+= 1
    }
    return true
  }

  fileprivate func contains(_ other: RawSpan) -> Bool {
    unsafe withUnsafeBytes { one in
      unsafe other.withUnsafeBytes { two in
        unsafe cambium_contains(one.baseAddress, one.count, two.baseAddress, two.count)
      }
    }
  }
}
