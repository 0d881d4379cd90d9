/// A paragraph of the text in which Debian describes packages: lines of `Name: value`, and lines that begin with
/// a space and go on with the value before them.
struct ControlParagraph {
  let text: Substring
  /// The first line of each field's value.
  private let fields: [Substring: Substring]

  init(_ text: Substring) {
    self.text = text
    var fields: [Substring: Substring] = [:]
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: " ")
    {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      fields[Substring(line[..<colon])] = Substring(line[colon...].dropFirst(2))
    }
    self.fields = fields
  }

  subscript(name: Substring) -> String? { fields[name].map { String($0) } }
}

/// The paragraphs of a text, which empty lines divide.
struct ControlText: Sequence, IteratorProtocol {
  private var rest: Substring

  init(_ text: String) {
    rest = text[...]
  }

  mutating func next() -> ControlParagraph? {
    rest = Substring(rest.utf8.drop { $0 == UInt8(ascii: "\n") })
    guard !rest.isEmpty else { return nil }
    let end = rest.utf8.endOfParagraph
    defer { rest = rest[end...] }
    return ControlParagraph(rest[..<end])
  }
}

extension Substring.UTF8View {
  /// Where the first empty line begins.
  fileprivate var endOfParagraph: Index {
    var (index, wasNewline) = (startIndex, false)
    while index < endIndex {
      let isNewline = self[index] == UInt8(ascii: "\n")
      if isNewline, wasNewline { return index }
      wasNewline = isNewline
      formIndex(after: &index)
    }
    return endIndex
  }
}
