import Foundation

/// The article that lists all others, and the public types of the library.
struct ArticleIndex {
  private let text: String

  /// - Parameter text: The article with the topics.
  init(_ text: String) { self.text = text }

  /// The articles and types that are not listed exactly once.
  func faults(articles: [String], types: [String]) -> [String] {
    let links = articles.map { "<doc:\($0)>" } + types.map { "``\($0)``" }
    let items = Dictionary(grouping: text.components(separatedBy: "\n"), by: \.self)
      .mapValues(\.count)
    return links.filter { items["- \($0)"] != 1 }
      .map { "\($0) is listed \(items["- \($0)"] ?? 0) times" }
  }

  /// The names of the public types that a source file declares, without those within others.
  static func types(in source: String) -> [String] {
    source.components(separatedBy: "\n").compactMap { line in
      let words = line.split(separator: " ")
        .filter { !$0.hasPrefix("@") && !["final", "indirect"].contains($0) }
      guard line.first != " ", words.count > 2, words[0] == "public",
        ["struct", "class", "enum", "protocol", "actor"].contains(words[1])
      else { return nil }
      return String(words[2].prefix { $0.isLetter || $0.isNumber })
    }
  }
}

/// The declarations that the examples of an article take as given, which a reader must be able to find.
struct ExampleModel {
  private let declarations: [(name: String, text: String?)]

  /// - Parameter prelude: The declarations that the test adds to the examples: types with all that is in them, and values.
  init(prelude: String) {
    var declarations: [(name: String, text: String?)] = []
    for match in prelude.matches(of: /(?m)^(?:struct|enum) (\w+)[^{]*\{\n(?: .*\n|\n)*\}$/) {
      declarations.append((String(match.1), String(match.0)))
    }
    for match in prelude.matches(of: /(?m)^static (?:let|var) (\w+)/) {
      declarations.append((String(match.1), nil))
    }
    self.declarations = declarations
  }

  /// The types and values that examples use and that neither the article nor the one that it names shows: types as they are,
  /// line by line.
  ///
  /// - Parameters:
  ///   - blocks: The examples.
  ///   - text: Returns an article's text by its name.
  func hidden(
    of article: String, blocks: [String], text: (String) throws -> String
  ) rethrows -> [String] {
    var shown = article
    for link in article.matches(of: /The examples use the model of <doc:(\w+)#[^>]+>/) {
      shown += try text(String(link.1))
    }
    let code = Self.withoutSpace(shown)
    return declarations.filter { name, text in
      guard blocks.contains(where: { Self.uses($0, name) }) else { return false }
      if let text { return !code.contains(Self.withoutSpace(text)) }
      return !Self.declares(shown, name)
    }.map { $0.name }
  }

  private static func declares(_ text: String, _ name: String) -> Bool {
    ["let \(name) ", "let \(name):", "var \(name) ", "var \(name):"]
      .contains { text.contains($0) }
  }

  /// True if the code has the name by itself, and not as a member.
  private static func uses(_ code: String, _ name: String) -> Bool {
    code.matches(of: /(\.?)(\w+)/).contains { $0.1.isEmpty && $0.2 == name }
  }

  /// The text without comments, spaces and ends of lines.
  private static func withoutSpace(_ text: String) -> String {
    text.split(separator: "\n").map {
      $0.prefix(upTo: $0.firstRange(of: "//")?.lowerBound ?? $0.endIndex)
    }
    .joined().filter { !$0.isWhitespace }
  }
}
