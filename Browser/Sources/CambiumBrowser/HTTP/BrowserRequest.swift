/// A request, as far as the browser reads it.
public struct BrowserRequest: Hashable, Sendable {
  /// The method: `GET`.
  public let method: String
  /// The parts of the path between slashes, decoded. The first is the token.
  let path: [String]
  /// The parameters of the query, in their order.
  let query: [Address.Parameter]
  /// The host that the client asked, with the port if it named one; nil if it named none.
  public let host: String?

  /// Creates a request.
  ///
  /// ```swift
  /// let request = BrowserRequest(target: "/\(token)/records?type=Album", host: "localhost:8080")
  /// ```
  ///
  /// - Parameters:
  ///   - method: The method, in upper case.
  ///   - target: The path and the query, as the first line of the request has them.
  ///   - host: The value of the header `Host`.
  public init(method: String = "GET", target: String, host: String?) {
    self.method = method
    self.host = host
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // A target that does not begin with a slash names another server.
    path =
      target.utf8.first == UInt8(ascii: "/")
      ? parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        .map { PercentCoding.decoded($0) } : []
    query =
      parts.count < 2
      ? []
      : parts[1].split(separator: "&").map { parameter in
        let halves = parameter.split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return Address.Parameter(
          name: PercentCoding.decoded(halves[0]),
          value: halves.count < 2 ? "" : PercentCoding.decoded(halves[1]))
      }
  }

  /// Returns the first parameter with a name; nil if there is none, or if it is empty, as a field of a form is that was not
  /// filled in.
  func value(_ name: String) -> String? {
    query.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  /// Returns all parameters with a name, also empty ones.
  func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

  /// Returns the parameter with a name as a number of at least `least`; `least` if it is none. Anyone can type a number that
  /// is much too large: then it is the largest to which pages can still add.
  func number(_ name: String, atLeast least: Int) -> Int {
    value(name).flatMap { Int($0) }.map { min(max(least, $0), Self.numberMax) } ?? least
  }

  private static let numberMax = 1 << 48
}
