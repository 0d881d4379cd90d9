import FoundationEssentials

/// A paragraph of the text in which Debian describes packages: lines of `Name: value`, and lines that begin with
/// a space and go on with the value before them.
struct ControlParagraph {
  let text: Substring

  /// The first line of a field's value.
  subscript(name: String) -> String? {
    for line in text.split(separator: "\n") {
      guard line.utf8.count > name.utf8.count + 1, line.utf8.starts(with: name.utf8) else {
        continue
      }
      let rest = line.utf8.dropFirst(name.utf8.count)
      if rest.first == UInt8(ascii: ":") { return String(Substring(rest.dropFirst(2))) }
    }
    return nil
  }
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
    return ControlParagraph(text: rest[..<end])
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
