internal import CCambium
@_spi(_Unicode) internal import Swift

/// A match of text, prepared: asked of bytes, without decoding what is ASCII or has no options.
struct TextMatcher: Sendable {
  private let kind: TextMatch.Kind
  private let options: TextMatch.Options
  /// The text, folded as the options say.
  private let text: [UInt8]
  private let pattern: LikePattern?
  private let words: WordQuery?

  init(_ match: TextMatch) {
    kind = match.kind
    options = match.options
    text = TextFolding.bytes(of: match.text, match.options)
    pattern = match.kind == .like ? LikePattern(match.text, match.options) : nil
    words = match.kind == .words ? WordQuery(text) : nil
  }

  /// False if it is a pattern so long that matching it would take too long for each byte of a text.
  var isShort: Bool { pattern.map { $0.count <= LikePattern.countMax } ?? true }

  /// Returns nil if it has options and the bytes are not UTF-8.
  ///
  /// - Complexity: O(bytes); of a pattern with several wildcards at worst that of `LikePattern.matches`.
  func matches(_ bytes: RawSpan) -> Bool? {
    if options.isEmpty { return matches(bytes, lowercasing: false) }
    if bytes.isASCII {
      guard options.contains(.caseInsensitive) else { return matches(bytes, lowercasing: false) }
      // A short text is looked for at each place. A long one would be compared in part at each, so it gets a copy.
      guard kind == .contains, text.count > 32 else { return matches(bytes, lowercasing: true) }
      var lowercase: [UInt8] = []
      lowercase.reserveCapacity(bytes.byteCount)
      for offset in 0..<bytes.byteCount { lowercase.append(bytes.lowercased(offset)) }
      return matches(lowercase.rawSpan, lowercasing: false)
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
    case .words: return words?.matches(bytes) ?? false
    }
  }

  /// Returns true if the text is at `offset` of `bytes`, which continue far enough.
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

/// Strings without the differences that a match ignores.
enum TextFolding {
  static func bytes(of text: String, _ options: TextMatch.Options) -> [UInt8] {
    if options.contains(.diacriticInsensitive) { return withoutMarks(text, options) }
    let bytes = Array(text.utf8)
    return options.contains(.caseInsensitive) ? CaseFolding.bytes(of: bytes.rawSpan) : bytes
  }

  /// Returns nil if the bytes are not UTF-8.
  static func bytes(of bytes: RawSpan, _ options: TextMatch.Options) -> [UInt8]? {
    guard let text = String(utf8: bytes) else { return nil }
    return Self.bytes(of: text, options)
  }

  private static func withoutMarks(_ text: String, _ options: TextMatch.Options) -> [UInt8] {
    var bytes: [UInt8] = []
    // Within a run of marks, their order takes time with the square of those that are not in it yet.
    let text = text.hasLongRunOfMarks ? text.withMarksInOrder : text
    for scalar in text._nfd where scalar.properties.generalCategory != .nonspacingMark {
      let scalar =
        options.contains(.caseInsensitive) ? CaseFolding.mapping(of: scalar) : scalar
      bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
    return bytes
  }
}

extension String {
  fileprivate var hasLongRunOfMarks: Bool {
    var length = 0
    for scalar in unicodeScalars {
      length = scalar.isReordered ? length + 1 : 0
      if length > 32 { return true }
    }
    return false
  }

  /// The string without the nonspacing marks that others are reordered beside, which are not regarded, and with the other
  /// marks of each run in their canonical order.
  ///
  /// - Complexity: O(length).
  fileprivate var withMarksInOrder: String {
    var result = String.UnicodeScalarView()
    var run: [UInt8: [Unicode.Scalar]] = [:]
    func endRun() {
      if run.isEmpty { return }
      for (_, marks) in run.sortedRarely(by: { $0.key < $1.key }) {
        result.append(contentsOf: marks)
      }
      run.removeAll(keepingCapacity: true)
    }
    for scalar in unicodeScalars {
      if scalar.isReordered {
        if scalar.properties.generalCategory == .nonspacingMark { continue }
        run[scalar.properties.canonicalCombiningClass.rawValue, default: []].append(scalar)
      } else {
        endRun()
        result.append(scalar)
      }
    }
    endRun()
    return String(result)
  }
}

extension Unicode.Scalar {
  /// True for marks that have an order among their neighbours. The three that decompose into such marks without having a
  /// combining class themselves (U+0F73, U+0F75, U+0F81) are none: `_nfd` reorders nothing across them, and strings of any
  /// length must be folded alike.
  fileprivate var isReordered: Bool {
    value >= 0x300 && properties.canonicalCombiningClass != .notReordered
  }
}

/// A text with wildcards.
struct LikePattern: Sendable {
  /// Bytes, and wildcards.
  private let tokens: [UInt16]

  /// The most bytes and wildcards of a pattern that is matched.
  static var countMax: Int { 4_000 }

  /// The number of its bytes and wildcards.
  var count: Int { tokens.count }

  private static var anyScalar: UInt16 { 0x100 }
  private static var anyRun: UInt16 { 0x101 }

  init(_ text: String, _ options: TextMatch.Options) {
    var tokens: [UInt16] = []
    for part in Self.parts(of: text) {
      switch part {
      case .literal(let text): tokens += TextFolding.bytes(of: text, options).map { UInt16($0) }
      case .anyScalar: tokens.append(Self.anyScalar)
      case .anyRun: tokens.append(Self.anyRun)
      }
    }
    self.tokens = tokens
  }

  private enum Part: Hashable {
    case literal(String)
    case anyScalar, anyRun
  }

  /// Texts and wildcards; no two texts, and no two runs, follow one another.
  private static func parts(of text: String) -> [Part] {
    var parts: [Part] = []
    var literal = String.UnicodeScalarView()
    func endLiteral() {
      if !literal.isEmpty { parts.append(.literal(String(literal))) }
      literal.removeAll()
    }
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped || !["\\", "*", "?"].contains(scalar) {
        // Before anything else a backslash stands for itself.
        if isEscaped, !["\\", "*", "?"].contains(scalar) { literal.append("\\") }
        literal.append(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        endLiteral()
        if scalar == "?" {
          parts.append(.anyScalar)
        } else if parts.last != .anyRun {
          parts.append(.anyRun)
        }
      }
    }
    if isEscaped { literal.append("\\") }
    endLiteral()
    return parts
  }

  /// The beginning of the texts that a pattern matches.
  enum Start: Hashable {
    /// They are this.
    case all(String)
    /// They are all that begin so.
    case prefix(String)
    /// They are some of those that begin so.
    case part(String)
  }

  static func start(of text: String) -> Start {
    let parts = parts(of: text)
    guard case .literal(let start) = parts.first else {
      return parts.isEmpty ? .all("") : parts == [.anyRun] ? .prefix("") : .part("")
    }
    if parts.count == 1 { return .all(start) }
    return parts.count == 2 && parts[1] == .anyRun ? .prefix(start) : .part(start)
  }

  /// Returns true if all of the bytes match the pattern.
  ///
  /// - Complexity: O(bytes × tokens) at worst, with several wildcards and no more than `countMax` tokens; O(bytes) as a rule.
  func matches(_ bytes: RawSpan, lowercasing: Bool) -> Bool {
    var offset = 0
    var token = 0
    // Where to continue if what follows the last run does not match: with the run one byte longer.
    var retry: (token: Int, offset: Int)?
    while true {
      if token < tokens.count, tokens[token] == Self.anyRun {
        token += 1
        if token == tokens.count { return true }
        retry = (token, offset)
      } else if token < tokens.count, offset < bytes.byteCount,
        let next = step(tokens[token], bytes, offset, lowercasing)
      {
        token += 1
        offset = next
      } else if token == tokens.count, offset == bytes.byteCount {
        return true
      } else if let again = retry, again.offset < bytes.byteCount {
        retry = (again.token, again.offset + 1)
        token = again.token
        offset = again.offset + 1
      } else {
        return false
      }
    }
  }

  /// Returns the offset after the bytes that the token matches at `offset`; nil if it does not match.
  private func step(
    _ token: UInt16, _ bytes: RawSpan, _ offset: Int, _ lowercasing: Bool
  ) -> Int? {
    if token != Self.anyScalar {
      let byte = lowercasing ? bytes.lowercased(offset) : bytes.load(offset, as: UInt8.self)
      return UInt16(byte) == token ? offset + 1 : nil
    }
    guard !bytes.isContinuation(offset) else { return nil }
    var next = offset + 1
    while next < bytes.byteCount, bytes.isContinuation(next) { next += 1 }
    return next
  }
}

extension RawSpan {
  fileprivate func isContinuation(_ offset: Int) -> Bool {
    load(offset, as: UInt8.self) & 0xc0 == 0x80
  }
}
