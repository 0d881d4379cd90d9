/// Lets requests in that know the token and came to this computer by its own name.
///
/// Pages of other sites can have a browser send requests to any port of this computer. They cannot guess the token, and a
/// site that makes its name lead here, once its page is loaded, is refused by that name.
struct Gate: Sendable {
  private let token: [UInt8]

  init(token: String) { self.token = Array(token.utf8) }

  /// Returns the refusal of a request; nil if it may be answered.
  func refusal(of request: BrowserRequest) -> BrowserResponse? {
    guard isOwnHost(request.host) else {
      return BrowserResponse(403, plain: "Use the address that cambium browse printed.")
    }
    // The same answer as to a path that does not exist.
    guard let first = request.path.first, isToken(first) else {
      return BrowserResponse(404, plain: "Not found.")
    }
    guard request.method == "GET" else {
      return BrowserResponse(405, plain: "The store is only read: use GET.").with("Allow", "GET")
    }
    return nil
  }

  private func isOwnHost(_ host: String?) -> Bool {
    guard let host else { return false }
    for name in ["127.0.0.1", "localhost"] where host.utf8.starts(with: name.utf8) {
      let rest = host.utf8.dropFirst(name.utf8.count)
      if rest.isEmpty { return true }
      let digits = rest.dropFirst()
      return rest.first == UInt8(ascii: ":") && (1...5).contains(digits.count)
        && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    return false
  }

  /// Takes the same time wherever the first wrong byte is, so that a token cannot be guessed byte by byte.
  private func isToken(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == token.count, !token.isEmpty else { return false }
    var difference: UInt8 = 0
    for (byte, expected) in zip(bytes, token) { difference |= byte ^ expected }
    return difference == 0
  }
}

/// The secret in the address of a browser.
public enum BrowserToken {
  /// Returns 128 random bits as 32 hexadecimal digits.
  public static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in
      let text = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
      return text.utf8.count == 1 ? "0" + text : text
    }.joined()
  }
}
