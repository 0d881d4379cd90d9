/// A text with wildcards.
struct LikePattern: Sendable {
  /// Bytes, and what stands for others.
  private let tokens: [UInt16]

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

    var isPart: Bool { if case .part = self { true } else { false } }
  }

  static func start(of text: String) -> Start {
    let parts = parts(of: text)
    guard case .literal(let start) = parts.first else {
      return parts.isEmpty ? .all("") : parts == [.anyRun] ? .prefix("") : .part("")
    }
    if parts.count == 1 { return .all(start) }
    return parts.count == 2 && parts[1] == .anyRun ? .prefix(start) : .part(start)
  }

  /// Returns true if all of the bytes are what the pattern says.
  ///
  /// - Complexity: O(bytes × tokens) at worst, with several wildcards; O(bytes) as a rule.
  func matches(_ bytes: RawSpan, lowercasing: Bool) -> Bool {
    var offset = 0
    var token = 0
    // Where to go on if what follows the last run does not match: with the run one byte longer.
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
