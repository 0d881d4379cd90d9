import FoundationEssentials
import Glibc
import Testing

/// The program as it was built beside the tests, through a real socket.
@Suite struct SocketTests {
  @Test func `the program serves the pages on this computer alone, until it is interrupted`() throws
  {
    let shelf = try Shelf()
    let server = try RunningServer([shelf.path], output: shelf.directory + "/output")
    let (port, token) = try server.address()
    #expect(token.utf8.count == 32)
    let page = try server.get("/\(token)/", host: "127.0.0.1:\(port)", port: port)
    #expect(page.hasPrefix("HTTP/1.1 200"))
    #expect(page.lowercased().contains("content-security-policy: default-src 'none'"))
    #expect(page.hasSuffix("</html>\n"))
    let picture = try server.get(
      "/\(token)/content?type=Book&key=1&field=cover", host: "localhost:\(port)", port: port)
    #expect(picture.lowercased().contains("content-type: image/png\r\n"))
    #expect(picture.lowercased().contains("content-length: \(Library.picture.count)\r\n"))
    #expect(try server.get("/", host: "localhost", port: port).hasPrefix("HTTP/1.1 404"))
    #expect(
      try server.get("/\(token)/", host: "example.org:\(port)", port: port)
        .hasPrefix("HTTP/1.1 403"))
    #expect(throws: NoAnswer.self) {
      try server.get("/\(token)/", host: "localhost", port: port, address: (127, 0, 0, 2))
    }
    #expect(server.interrupt() == 0)
  }

  @Test func `wrong arguments are refused`() throws {
    let shelf = try Shelf(empty: true)
    let output = shelf.directory + "/output"
    #expect(try RunningServer([], output: output).wait() == 64)
    #expect(try RunningServer([shelf.path, "--port", "99999"], output: output).wait() == 64)
  }
}

/// The server did not answer.
struct NoAnswer: Error {
  let errno: Int32
}
