/// An article of questions, each with a statement of SQL before the Swift.
///
/// A question begins with a line such as `**C1.** Long tracks`. Of several questions in one block, each statement ends with a
/// comment that has its number: `SELECT COUNT(*) FROM book; -- 5`.
struct QuestionArticle {
  /// By question.
  private(set) var statements: [String: String] = [:]

  init(_ text: String) {
    var question: String?
    var statement = ""
    var isSQL = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let found = line.prefixMatch(of: /\*\*([A-Z]\d+)\.\*\*/) {
        question = String(found.1)
      } else if line.hasPrefix("```") {
        if isSQL, let question { statements[question] = statement }
        (isSQL, statement) = (line == "```sql", "")
      } else if isSQL {
        statement += line + "\n"
        guard let number = line.firstMatch(of: /; +-- (\d+)$/) else { continue }
        statements[String(number.1)] = statement
        statement = ""
      }
    }
  }
}
