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

/// The models that the examples of an article take as given, which a reader must be able to find.
struct ExampleModel {
  /// The types that are used and that neither the article nor the one that it names declares.
  ///
  /// - Parameters:
  ///   - prelude: The declarations that the test adds to the examples.
  ///   - blocks: The examples.
  ///   - text: Returns an article's text by its name.
  static func hiddenTypes(
    of article: String, prelude: String, blocks: [String], text: (String) throws -> String
  ) rethrows -> [String] {
    var shown = article
    for link in article.matches(of: /The examples use the model of <doc:(\w+)#[^>]+>/) {
      shown += try text(String(link.1))
    }
    let declared = prelude.matches(of: /\b(?:struct|enum) (\w+)\b/).map { String($0.1) }
    return declared.filter { name in
      let isUsed = blocks.contains { block in
        block.split { !$0.isLetter && !$0.isNumber }.contains(Substring(name))
      }
      return isUsed && !shown.contains("struct \(name)") && !shown.contains("enum \(name)")
    }
  }
}
