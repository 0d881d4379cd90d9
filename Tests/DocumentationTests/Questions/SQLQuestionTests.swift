import Cambium
import Foundation
import Testing

/// Every question of the articles for users of SQL is compared.
@Suite struct SQLQuestionTests {
  @Test(arguments: [
    (Chinook.Questions.article, "Chinook", 32), (Sakila.Questions.article, "Sakila", 25),
    (Northwind.Questions.article, "Northwind", 22), (Bookshop.Questions.article, "Bookshop", 41),
  ])
  func `every question of an article is compared`(article: String, folder: String, count: Int)
    throws
  {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "\(folder)/\(folder)Questions.swift")
    let tests = try String(contentsOf: file, encoding: .utf8)
    let questions = try QuestionArticle(named: article).statements.keys.sorted()
    #expect(questions.count == count)
    for question in questions {
      #expect(tests.contains("\"\(question)\""), "\(question) is not compared")
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
    let several = QuestionArticle(
      """
      ```sql
      SELECT 1;         -- 1
      SELECT 2,
        3;              -- 2
      ```
      """)
    #expect(
      several.statements == [
        "1": "SELECT 1;         -- 1\n", "2": "SELECT 2,\n  3;              -- 2\n",
      ])
  }

  @Test func `values, null and lists of references are in SQLite`() throws {
    let music = try Chinook.Questions.compared.get()
    #expect(
      try music.rows("SELECT playlist, track FROM PlaylistTrack WHERE playlist = 7 LIMIT 2;")
        == [["7", "7"], ["7", "42"]])
    #expect(
      try music.rows("SELECT id, genre, composer FROM Track WHERE id = 55;") == [["55", "", ""]])
    #expect(
      try music.rows("SELECT date, customer FROM Invoice WHERE id = 1;")
        == [["2024-01-06T01:00:00Z", "8"]])
    #expect(throws: ComparedStore.Failure.self) { try music.rows("SELECT nothing;") }
  }

  @Test func `kinds, parts of composites and lists of strings are in SQLite`() throws {
    let films = try Sakila.Questions.compared.get()
    #expect(
      try films.rows("SELECT name, address_city, email FROM Customer WHERE id = 5;")
        == [["Ben 5", "Lyon", ""]])
    #expect(
      try films.rows("SELECT name, login FROM Staff WHERE id = 31;") == [["Mia 31", "staff31"]])
    #expect(try films.rows("SELECT COUNT(*) FROM Person;") == [["33"]])
    #expect(
      try films.rows("SELECT features FROM Film WHERE id = 5;") == [["Trailers,Deleted Scenes"]])
  }
}
