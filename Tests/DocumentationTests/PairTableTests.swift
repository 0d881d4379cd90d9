import Foundation
import Testing

/// Every two features of the list are shown together by a test that exists, or cannot meet for a reason.
@Suite struct PairTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `every two features are shown together by tests that exist, or cannot meet`() throws {
    let article = try String(
      contentsOf: Self.root.appending(path: "Sources/Cambium/Cambium.docc/HowItIsTested.md"),
      encoding: .utf8)
    let table = PairTable(article)
    #expect(table.features.count >= 17, "the features are not found")
    let names = try FeatureTable.testNames(under: Self.root.appending(path: "Tests"))
    let faults = table.faults(tests: names)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test func `faults of a table of pairs are found`() {
    func faults(_ changes: (String, String)...) -> [String] {
      var article = """
        # An article

        ## Features two by two

        | feature | such as |
        |---|---|
        | kinds | |
        | undo | |
        | blobs | |

        ### Kinds

        | with | shown by |
        |---|---|
        | undo | `it works` |
        | blobs | `it works`, `it is fast` |

        ### Undo

        | with | shown by |
        |---|---|
        | blobs | no meeting: they never do |

        ## Another section

        | a | table |
        """
      for (old, new) in changes {
        #expect(article.contains(old))
        article = article.replacingOccurrences(of: old, with: new)
      }
      return PairTable(article).faults(tests: ["it works", "it is fast"])
    }
    #expect(faults() == [])
    // A new feature has no cells.
    #expect(
      faults(("| kinds | |", "| kinds | |\n| imports | |")) == [
        "kinds with imports is missing", "imports with undo is missing",
        "imports with blobs is missing",
      ])
    #expect(faults(("| undo | `it works` |\n", "")) == ["kinds with undo is missing"])
    #expect(
      faults(("| blobs | no meeting", "| kinds | `it works` |\n| blobs | no meeting"))
        == ["kinds with undo is there 2 times"])
    #expect(
      faults(("`it is fast`", "`it is slow`"))
        == ["kinds with blobs names a test that does not exist: it is slow"])
    #expect(
      faults(("no meeting: they never do", "never"))
        == ["undo with blobs names no test, and no reason"])
    #expect(
      faults(("no meeting: they never do", "no meeting: "))
        == ["undo with blobs names no test, and no reason"])
    #expect(
      faults(("| undo | `it works` |", "| undo | `it works` |\n| kinds | `it works` |"))
        == ["kinds with kinds are not two features of the list"])
    #expect(
      faults(("| undo | `it works` |", "| undo | `it works` |\n| redo | `it works` |"))
        == ["kinds with redo are not two features of the list"])
    #expect(faults(("| undo | |", "| undo | |\n| kinds | |")).first == "a feature is listed twice")
    #expect(
      faults(("| undo | `it works` |", "| undo | `it works` | |\n| undo | `it works` |"))
        == ["This is no row of two cells: | undo | `it works` | |"])
  }
}
