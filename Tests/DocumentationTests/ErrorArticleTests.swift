import Foundation
import Testing

/// *When something goes wrong* has a row for each error that a program can meet.
@Suite struct ErrorArticleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func errors() throws -> [String] {
    var errors = PublicErrors()
    let sources = root.appending(path: "Sources")
    let files = FileManager.default.enumerator(
      at: sources, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      errors.add(try String(contentsOf: file, encoding: .utf8))
    }
    return errors.names
  }

  @Test func `every case of every public error has a row that says what to do`() throws {
    let errors = try Self.errors()
    #expect(errors.contains("StoreError/full(path:)") && errors.count > 60)
    let articles = Self.root.appending(path: "Sources/Cambium/Cambium.docc")
    let article = try String(
      contentsOf: articles.appending(path: "WhenSomethingGoesWrong.md"), encoding: .utf8)
    let faults = ErrorRows(article).faults(errors: errors)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test func `errors are read from sources`() {
    var errors = PublicErrors()
    errors.add(
      """
      @nonexhaustive public indirect enum Refusal: Error, Hashable {
        /// A case with a note, and a default.
        case io(Code, operation: String, path: String = "a, b")
        case plain
        case long(
          first: [String: Int], (Int) -> Int)
      }
      public enum Reason: Hashable { case none }
      enum Inner: Error { case hidden }
      public struct Fault: Hashable, Error {}
      extension Outer {
        public struct Failure: Error {}
      }
      """)
    #expect(
      errors.names == [
        "Refusal/io(_:operation:path:)", "Refusal/plain", "Refusal/long(first:_:)", "Fault",
        "Outer.Failure",
      ])
  }

  @Test func `faults of the rows of errors are found`() {
    func faults(_ rows: String) -> [String] { ErrorRows(rows).faults(errors: ["A/b(c:)", "D"]) }
    let rows = "| ``A/b(c:)`` | it | stays | go |\n| `D` | it | stays | go |"
    #expect(faults(rows).isEmpty)
    #expect(faults("| `D` | it | stays | go |") == ["A/b(c:) has no row"])
    #expect(faults(rows + "\n| ``A/e`` | it | stays | go |") == ["A/e is no public error"])
    #expect(faults(rows + "\n| `D` | it | stays | go |") == ["D has several rows"])
    #expect(
      faults("| ``A/b(c:)`` | it | | go |\n| `D` | it | stays | go |")
        == ["A/b(c:) does not say what happened, what is true and what to do"])
  }
}
