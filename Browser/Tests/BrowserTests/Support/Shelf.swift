import Cambium
import CambiumBrowser
import FoundationEssentials
import Testing

/// A directory of a test's own with a store in it, and its pages. It is removed with the last reference.
final class Shelf {
  let directory: String
  let token = "0123456789abcdef"

  init(empty: Bool = false) throws {
    directory =
      FileManager.default.temporaryDirectory.path + "/cambium-browser-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    if !empty { try Library.make(at: path) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  var path: String { directory + "/<b>library.cambium" }

  func browser(schema: SchemaFiles? = nil) -> Browser {
    Browser(store: path, token: token, schema: schema)
  }

  /// Returns the page at an address that is relative to the first page, as links are.
  func page(_ address: String = "", of browser: Browser? = nil) throws -> Answer {
    let target = "/\(token)/" + (address == "./" ? "" : address)
    return try Answer(
      (browser ?? self.browser()).response(
        to: BrowserRequest(target: target, host: "localhost:8080")))
  }
}

/// A response whose content was read.
struct Answer {
  let status: Int
  let headers: [String: String]
  let content: Data

  /// - Throws: `StoreError.corrupt`, `.missing`, `.io` where the content cannot be read.
  init(_ response: BrowserResponse) throws {
    status = response.status
    headers = Dictionary(
      response.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { one, _ in one })
    content = try response.content.data()
  }

  var text: String { String(decoding: content, as: UTF8.self) }

  /// The addresses of the links and pictures in it, as a client reads them.
  var addresses: [String] {
    text.matches(of: /(?:href|src)="([^"]*)"/).map {
      String($0.1).replacing("&amp;", with: "&")
    }
  }

  /// The names of all elements in it.
  var elementNames: Set<String> {
    Set(text.matches(of: /<\/?([^\s>]*)/).map { String($0.1) })
  }
}
