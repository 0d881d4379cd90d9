@_spi(_Unicode) internal import Swift

/// Texts without what a match does not regard.
enum TextFolding {
  static func bytes(of text: String, _ options: TextMatch.Options) -> [UInt8] {
    if options.contains(.diacriticInsensitive) { return withoutMarks(text, options) }
    let bytes = Array(text.utf8)
    return options.contains(.caseInsensitive) ? Lowercase.bytes(of: bytes.rawSpan) : bytes
  }

  /// Returns nil if the bytes are not UTF-8.
  static func bytes(of bytes: RawSpan, _ options: TextMatch.Options) -> [UInt8]? {
    guard let text = String(utf8: bytes) else { return nil }
    return Self.bytes(of: text, options)
  }

  private static func withoutMarks(_ text: String, _ options: TextMatch.Options) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text._nfd where scalar.properties.generalCategory != .nonspacingMark {
      let scalar =
        options.contains(.caseInsensitive) ? Lowercase.mapping(of: scalar) : scalar
      bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
    return bytes
  }
}
