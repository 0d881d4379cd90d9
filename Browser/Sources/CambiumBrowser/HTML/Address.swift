/// The address of a page of the browser, relative to that of another: no page has the token in its text.
struct Address: Hashable, Sendable {
  let page: Route
  private(set) var query: [Parameter]

  /// A name and a value of the query. A name may occur several times.
  struct Parameter: Hashable, Sendable {
    let name: String
    let value: String
  }

  init(_ page: Route, _ query: KeyValuePairs<String, String> = [:]) {
    self.page = page
    self.query = query.map { Parameter(name: $0.key, value: $0.value) }
  }

  /// Returns the address with one more parameter; the same address if the value is nil.
  func with(_ name: String, _ value: String?) -> Address {
    guard let value else { return self }
    var address = self
    address.query.append(Parameter(name: name, value: value))
    return address
  }

  /// The address as a link has it.
  var text: String {
    let path = page == .overview ? "./" : page.rawValue
    if query.isEmpty { return path }
    return path + "?"
      + query.map { "\(PercentCoding.encoded($0.name))=\(PercentCoding.encoded($0.value))" }
      .joined(separator: "&")
  }
}

/// The pages, by the last part of their paths.
enum Route: String, CaseIterable, Sendable {
  case overview = ""
  case records, sections, record, content
  case versions, migration, map, history
  case style = "style.css"
}
