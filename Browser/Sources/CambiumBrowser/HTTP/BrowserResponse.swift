public import Cambium

/// A response, as a value: the server sends it as it is.
public struct BrowserResponse: Sendable {
  /// The status: 200, 404.
  public let status: Int
  /// The content, which is read in pieces.
  public let content: Blob
  /// The headers in the order in which they are sent. They are the same for all pages, but for the types.
  public private(set) var headers: [(name: String, value: String)]

  init(_ status: Int, _ contentType: String, _ content: Blob) {
    self.status = status
    self.content = content
    headers = [(name: "Content-Type", value: contentType)] + Self.protection
  }

  /// Creates a page.
  init(_ status: Int = 200, _ html: HTML) {
    self.init(status, "text/html; charset=utf-8", Blob(utf8: html.markup))
  }

  /// Creates a plain text, for clients that may not see a page.
  init(_ status: Int, plain text: String) {
    self.init(status, "text/plain; charset=utf-8", Blob(utf8: text + "\n"))
  }

  /// Returns the response with one more header.
  func with(_ name: String, _ value: String) -> BrowserResponse {
    var response = self
    response.headers.append((name, value))
    return response
  }

  /// Nothing runs, nothing is loaded from elsewhere, no other page shows it in a frame, and nothing is kept.
  private static let protection: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        + " frame-ancestors 'none'"
    ),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]
}
