import Foundation
import Testing

/// Articles and types can be found, and so can the models of examples.
@Suite struct ArticleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let folder = "Sources/Cambium/Cambium.docc"

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The names of all articles but the one that lists them.
  private static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
      .filter { $0.hasSuffix(".md") && $0 != "Cambium.md" }.map { String($0.dropLast(3)) }.sorted()
  }

  private static func types() throws -> [String] {
    var types: [String] = []
    let files = FileManager.default.enumerator(
      at: root.appending(path: "Sources/Cambium"), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      types += ArticleIndex.types(in: try String(contentsOf: file, encoding: .utf8))
    }
    return types.sorted()
  }

  @Test func `every article and every public type is in the topics`() throws {
    let types = try Self.types()
    #expect(types.contains("PersistentStore") && types.count > 100)
    let index = ArticleIndex(try Self.text("\(Self.folder)/Cambium.md"))
    let faults = index.faults(articles: try Self.names(), types: types)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test func `README names every article`() throws {
    let readme = try Self.text("README.md")
    let missing = try Self.names().filter { !readme.contains("](\(Self.folder)/\($0).md)") }
    #expect(missing.isEmpty, "\(missing)")
  }

  @Test func `a reader finds the types and values of all examples`() throws {
    for name in try Self.names() {
      let path = "\(Self.folder)/\(name).md"
      let blocks = try CodeBlock.all(in: path, at: Self.root)
      for prelude in Set(blocks.compactMap(\.prelude)).sorted() {
        let model = ExampleModel(
          prelude: try Self.text("Tests/DocumentationTests/Preludes/\(prelude).swift"))
        let hidden = try model.hidden(
          of: try Self.text(path), blocks: blocks.filter { $0.prelude == prelude }.map(\.code)
        ) { try Self.text("\(Self.folder)/\($0).md") }
        #expect(hidden.isEmpty, "\(name) does not say what \(hidden) are")
      }
    }
  }

  @Test func `articles and types that are not in the topics are found`() {
    let index = ArticleIndex("- <doc:One>\n- ``Store``\n- ``Twice``\n- ``Twice``")
    #expect(index.faults(articles: ["One"], types: ["Store"]).isEmpty)
    #expect(
      index.faults(articles: ["Two"], types: ["Twice", "Page"]) == [
        "<doc:Two> is listed 0 times", "``Twice`` is listed 2 times", "``Page`` is listed 0 times",
      ])
    let source = """
      @nonexhaustive public indirect enum One: Error {
        public struct Inner {}
      public final class Two<Subject> {}
      struct Three {}
      public func four() {}
      """
    #expect(ArticleIndex.types(in: source) == ["One", "Two"])
  }

  @Test func `types and values of examples that no reader sees are found`() throws {
    let item = "struct Item {\n  var id: Int\n}"
    let model = ExampleModel(
      prelude: "\(item)\n\nenum Unused {\n}\nstatic let now = 1\nstatic var store: Int {\n  2\n}\n")
    func hidden(_ article: String, _ block: String = "print(Item.now, store, a.now)") -> [String] {
      model.hidden(of: article, blocks: [block]) { _ in "\(item)\nlet store = open()" }
    }
    #expect(hidden("text") == ["Item", "store"])
    #expect(hidden("\(item) // a type\n  var store = 1") == [])
    #expect(hidden("struct Item {\n  var key: Int\n}\nvar store = 1") == ["Item"])
    #expect(hidden("The examples use the model of <doc:Other#Model>.") == [])
    #expect(hidden("text", "store + now") == ["now", "store"])
  }
}
