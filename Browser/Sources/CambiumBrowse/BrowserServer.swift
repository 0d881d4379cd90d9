import Cambium
import CambiumBrowser
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Serves the pages of a browser on the loopback address.
struct BrowserServer: Sendable {
  let browser: Browser
  let port: Int
  /// Called with the port, once requests are accepted.
  let started: @Sendable (Int) -> Void

  /// The most bytes of content in memory at once, for each request.
  private static let pieceSize = 1 << 18

  init(browser: Browser, port: Int, started: @escaping @Sendable (Int) -> Void) {
    self.browser = browser
    self.port = port
    self.started = started
  }

  /// Serves until SIGINT or SIGTERM.
  ///
  /// - Throws: Errors of the system if the port cannot be used.
  func run() async throws {
    var logger = Logger(label: "cambium-browse")
    logger.logLevel = .error
    let started = started
    let application = Application(
      responder: CallbackResponder<BasicRequestContext> { request, _ in respond(to: request) },
      configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in started(channel.localAddress?.port ?? 0) },
      logger: logger)
    try await application.runService()
  }

  private func respond(to request: Request) -> Response {
    let answer = browser.response(
      to: BrowserRequest(
        method: request.method.rawValue, target: request.head.path ?? "",
        host: request.head.authority))
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    let content = answer.content
    return Response(
      status: .init(code: answer.status), headers: headers,
      body: ResponseBody(contentLength: content.count) { writer in
        // Damage on the way ends the connection before the length that was announced.
        let reader = try content.reader()
        while let piece = try reader.read(upTo: Self.pieceSize) {
          try await writer.write(ByteBuffer(bytes: piece))
        }
        try await writer.finish(nil)
      })
  }
}
