/// A text with wildcards.
struct LikePattern: Sendable {
  /// Bytes, and what stands for others.
  private let tokens: [UInt16]

  private static var anyScalar: UInt16 { 0x100 }
  private static var anyRun: UInt16 { 0x101 }

  init(_ text: String, _ options: TextMatch.Options) {
    var tokens: [UInt16] = []
    var literal = String.UnicodeScalarView()
    func endLiteral() {
      tokens += TextFolding.bytes(of: String(literal), options).map { UInt16($0) }
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
        let wildcard = scalar == "*" ? Self.anyRun : Self.anyScalar
        if wildcard != Self.anyRun || tokens.last != Self.anyRun { tokens.append(wildcard) }
      }
    }
    if isEscaped { literal.append("\\") }
    endLiteral()
    self.tokens = tokens
  }

  /// Whether all of the bytes are what the pattern says.
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

  /// Where the bytes go on behind what the token stands for at `offset`; nil where that is not there.
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
