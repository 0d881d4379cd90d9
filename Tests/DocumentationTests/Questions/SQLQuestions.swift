import Cambium
import Foundation
import Testing

/// The questions of an article, each of which is put to a store as the article does, and to SQLite.
protocol SQLQuestions {
  /// The name of the article.
  static var article: String { get }
  static var compared: Result<ComparedStore, any Error> { get }
}

/// Returns a row of an answer.
func row(_ values: any FieldValueConvertible...) -> [FieldValue] { values.map(\.fieldValue) }

extension SQLQuestions {
  /// Expects that an answer has the rows that SQLite has for the article's statement.
  ///
  /// - Parameter preparation: Statements that SQLite runs before.
  func compare(
    _ question: String, inAnyOrder: Bool = false, _ rows: [[FieldValue]],
    after preparation: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let article = try QuestionArticle(named: Self.article)
    let statement = try #require(article.statements[question], sourceLocation: sourceLocation)
    var expected = Self.cells(try Self.compared.get().rows(preparation + "\n" + statement))
    var found = Self.cells(rows)
    if inAnyOrder {
      expected.sort { $0.lexicographicallyPrecedes($1) }
      found.sort { $0.lexicographicallyPrecedes($1) }
    }
    #expect(!expected.isEmpty, "\(question) has no answer", sourceLocation: sourceLocation)
    #expect(found == expected, "\(question)", sourceLocation: sourceLocation)
  }

  static func cells(_ rows: [[FieldValue]]) -> [[String]] {
    cells(rows.map { $0.map(ComparedStore.text) })
  }

  /// Returns the rows with six decimal places of numbers, so that an integer equals a double of the same value.
  static func cells(_ rows: [[String]]) -> [[String]] {
    rows.map { row in
      row.map { cell in
        guard let number = Double(cell), number.isFinite else { return cell }
        return "\((number * 1_000_000).rounded() / 1_000_000)"
      }
    }
  }
}

extension QuestionArticle {
  init(named name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/Cambium/Cambium.docc")
    self.init(try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8))
  }
}
