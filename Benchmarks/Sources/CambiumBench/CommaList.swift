import ArgumentParser

/// Values of an option, separated by commas. The option may come several times too.
struct CommaList<Element: ExpressibleByArgument>: ExpressibleByArgument {
  let elements: [Element]

  init(_ elements: [Element]) {
    self.elements = elements
  }

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    elements = parts.compactMap { Element(argument: String($0)) }
    guard elements.count == parts.count else { return nil }
  }

  var defaultValueDescription: String {
    elements.map(\.defaultValueDescription).joined(separator: ",")
  }

  static var allValueStrings: [String] { Element.allValueStrings }
}
