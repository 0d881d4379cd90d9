import FoundationEssentials

/// A public function, initializer or subscript of the library, as its source declares it.
struct PublicDeclaration: Hashable {
  /// The type and the name with its labels: `QueryCursor.next(_:)`.
  let name: String
  /// The type of each parameter, without the parameters of closures.
  let types: [String]
  /// Operands may be anything, and be built of others.
  let isOperator: Bool

  /// Every public declaration in the sources.
  static func all() throws -> [PublicDeclaration] {
    let root = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Cambium").path
    var declarations: [PublicDeclaration] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
    where path.hasSuffix(".swift") {
      let text = try String(contentsOf: URL(filePath: root + "/" + path), encoding: .utf8)
      declarations += SourceText(text).declarations()
    }
    return declarations
  }

  /// Whether a program can pass a number, a text, a time or bytes that make no sense.
  var takesValues: Bool {
    isOperator
      || types.contains { type in
        type.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains {
          Self.valueTypes.contains(String($0))
        }
      }
  }

  private static let valueTypes: Set<String> = [
    "Int", "Int32", "Int64", "UInt8", "UInt32", "UInt64", "Double", "Duration", "Date", "String",
    "Data", "RawSpan", "FieldValueConvertible", "FieldValue", "FieldCondition", "DynamicRecord",
  ]
}

/// Enough of Swift's grammar to find the declarations in a formatted file.
private struct SourceText {
  private let lines: [Substring]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  func declarations() -> [PublicDeclaration] {
    var scopes: [(indent: Int, name: String)] = []
    var declarations: [PublicDeclaration] = []
    for (index, line) in lines.enumerated() {
      let indent = line.prefix { $0 == " " }.count
      var words = line.split(separator: " ")[...]
      while let word = words.first, word.hasPrefix("@") { words = words.dropFirst() }
      let isPublic = words.first == "public"
      while let word = words.first, Self.modifiers.contains(word) { words = words.dropFirst() }
      guard let keyword = words.first else { continue }
      if Self.scopeKeywords.contains(keyword), let name = words.dropFirst().first {
        while let scope = scopes.last, scope.indent >= indent { scopes.removeLast() }
        scopes.append((indent, String(name.prefix { $0.isLetter || $0.isNumber })))
      } else if isPublic, let base = Self.base(of: words) {
        while let scope = scopes.last, scope.indent >= indent { scopes.removeLast() }
        let parameters = parameters(from: index, after: base)
        let labels = parameters.map { "\($0.label):" }.joined()
        declarations.append(
          PublicDeclaration(
            name: "\(scopes.last?.name ?? "").\(base)(\(labels))", types: parameters.map(\.type),
            isOperator: Self.isOperator(base)))
      }
    }
    return declarations
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "private", "fileprivate", "final", "indirect", "static", "mutating",
    "convenience", "borrowing", "consuming", "prefix",
  ]
  private static let scopeKeywords: Set<Substring> = [
    "extension", "struct", "class", "enum", "protocol", "actor",
  ]

  private static func isOperator(_ base: some StringProtocol) -> Bool {
    base.first.map { "=!<>&|~+-*/%?".contains($0) } ?? false
  }

  /// The name of a function, `init` or `subscript`.
  private static func base(of words: ArraySlice<Substring>) -> String? {
    guard let keyword = words.first else { return nil }
    if keyword == "func", let word = words.dropFirst().first {
      if isOperator(word) { return String(word.prefix { isOperator(String($0)) }) }
      let name = word.drop { $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      return name.isEmpty || name.hasPrefix("build") ? nil : String(name)
    }
    for name in ["init", "subscript"] where keyword.hasPrefix(name) { return name }
    return nil
  }

  private func parameters(from index: Int, after base: String) -> [(label: String, type: String)] {
    let text = lines[index..<min(index + 25, lines.count)].joined(separator: "\n")
    guard let name = text.firstRange(of: base) else { return [] }
    var parts = [""]
    var depth = 0
    var previous: Character = " "
    for character in text[name.upperBound...].drop(while: { $0 != "(" }).dropFirst() {
      if character == ")", depth == 0 { break }
      if "([{<".contains(character) { depth += 1 }
      if ")]}".contains(character) || (character == ">" && previous != "-") { depth -= 1 }
      if character == ",", depth == 0 {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
      previous = character
    }
    return parts.compactMap(Self.parameter)
  }

  private static func parameter(_ text: String) -> (label: String, type: String)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let names = text[..<colon].split { $0.isWhitespace }.drop { $0.hasPrefix("@") }
    guard let label = names.first else { return nil }
    var type = String(text[text.index(after: colon)...])
    // A closure's own parameters come from the library.
    if type.contains("->") { type = "" }
    return (String(label), type)
  }
}
