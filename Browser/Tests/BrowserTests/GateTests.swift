import CambiumBrowser
import Testing

/// Only requests with the token are answered, if they came to this computer by its own name.
@Suite struct GateTests {
  private let shelf: Shelf

  init() throws { shelf = try Shelf(empty: true) }

  private func status(
    _ target: String, host: String? = "127.0.0.1:80", method: String = "GET"
  ) -> Int {
    shelf.browser().response(to: BrowserRequest(method: method, target: target, host: host)).status
  }

  @Test func `only the whole token lets a request in`() {
    let token = shelf.token
    #expect(status("/\(token)/style.css") == 200)
    for wrong in [
      "/", "", "/style.css", "//style.css", "/\(token.dropLast())/style.css",
      "/\(token)0/style.css", "/\(token.uppercased())/style.css",
      "/x\(token.dropFirst())/style.css",
      "/?\(token)/style.css", "http://127.0.0.1/\(token)/style.css", "/x/\(token)/style.css",
      "/%00/style.css",
    ] { #expect(status(wrong) == 404, "\(wrong)") }
  }

  @Test func `a browser without a token lets nothing in`() throws {
    let browser = Browser(store: shelf.path, token: "")
    #expect(browser.response(to: BrowserRequest(target: "//", host: "localhost")).status == 404)
  }

  @Test func `a request by another name is refused, as after DNS rebinding`() {
    let target = "/\(shelf.token)/style.css"
    for host in ["127.0.0.1", "127.0.0.1:8080", "localhost", "localhost:1", "localhost:65535"] {
      #expect(status(target, host: host) == 200, "\(host)")
    }
    for host in [
      nil, "", "example.org", "localhost.example.org", "127.0.0.1.example.org", "localhost:",
      "localhost:80.example.org", "evil@localhost", "LOCALHOST.", "127.0.0.2", "[::1]",
      "localhost:123456", " localhost",
    ] { #expect(status(target, host: host) == 403, "\(host ?? "none")") }
  }

  @Test func `only GET is answered`() {
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get"] {
      #expect(status("/\(shelf.token)/", method: method) == 405, "\(method)")
    }
  }

  @Test func `every response forbids scripts, frames and copies`() throws {
    for target in ["/", "/\(shelf.token)/", "/\(shelf.token)/style.css", "/\(shelf.token)/nothing"]
    {
      let answer = try Answer(
        shelf.browser().response(to: BrowserRequest(target: target, host: "localhost")))
      let policy = answer.headers["Content-Security-Policy"] ?? ""
      #expect(policy.contains("default-src 'none'"), "\(target)")
      #expect(policy.contains("frame-ancestors 'none'"), "\(target)")
      #expect(!policy.contains("script-src"), "\(target)")
      #expect(answer.headers["Cache-Control"] == "no-store", "\(target)")
      #expect(answer.headers["X-Content-Type-Options"] == "nosniff", "\(target)")
      #expect(answer.headers["Referrer-Policy"] == "no-referrer", "\(target)")
    }
  }

  @Test func `the path without a slash leads to the one with it`() throws {
    let answer = try Answer(
      shelf.browser().response(to: BrowserRequest(target: "/\(shelf.token)", host: "localhost")))
    #expect(answer.status == 308)
    #expect(answer.headers["Location"] == "\(shelf.token)/")
  }

  @Test func `tokens are long, and differ`() {
    let tokens = Set((0..<100).map { _ in BrowserToken.random() })
    #expect(tokens.count == 100)
    #expect(tokens.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
  }
}
