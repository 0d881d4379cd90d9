import Cambium
import Foundation
import Testing

/// Every question of the articles for users of SQL is compared.
@Suite struct SQLQuestionTests {
  @Test(arguments: [
    (article: Chinook.Questions.article, file: "Chinook/ChinookQuestions", count: 32)
  ])
  func `every question of an article is compared`(article: String, file: String, count: Int)
    throws
  {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let tests = try String(contentsOf: folder.appending(path: "\(file).swift"), encoding: .utf8)
    let questions = try QuestionArticle(named: article).statements.keys.sorted()
    #expect(questions.count == count)
    for question in questions {
      #expect(tests.contains("\"\(question)\", "), "\(question) is not compared")
    }
  }

  @Test func `the statements of an article are found`() {
    let article = QuestionArticle(
      """
      ```sql
      SELECT 0;
      ```
      **C1.** One

      ```sql
      SELECT 1,
        2;
      ```

      ```swift
      let one = 1
      ```
      """)
    #expect(article.statements == ["C1": "SELECT 1,\n  2;\n"])
  }

  @Test func `values, null and lists of references are in SQLite`() throws {
    let music = try Chinook.Questions.compared.get()
    #expect(
      try music.rows("SELECT playlist, track FROM PlaylistTrack WHERE playlist = 7 LIMIT 2;")
        == [["7", "7"], ["7", "42"]])
    #expect(
      try music.rows("SELECT id, genre, composer FROM Track WHERE id = 55;") == [["55", "", ""]])
    #expect(throws: ComparedStore.Failure.self) { try music.rows("SELECT nothing;") }
  }
}
