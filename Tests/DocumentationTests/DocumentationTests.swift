import Foundation
import Testing

/// Every block of Swift in the documentation is code that compiles.
@Suite struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static var documents: [String] {
    get throws {
      let articles = "Sources/Cambium/Cambium.docc"
      let names = try FileManager.default.contentsOfDirectory(
        atPath: root.appending(path: articles).path)
      return ["README.md"]
        + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(articles)/\($0)" }
    }
  }

  @Test func `every block of Swift in README and articles compiles`() throws {
    let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    var files: [String] = []
    for document in try Self.documents {
      for block in try CodeBlock.all(in: document, at: Self.root) where Self.isBuilt(block) {
        let file = scratch.appending(path: "Block\(files.count).swift")
        try block.source(try Self.prelude(block.prelude), number: files.count)
          .write(to: file, atomically: false, encoding: .utf8)
        files.append(file.path)
      }
    }
    #expect(files.count > 20, "the blocks of the documentation are not found")
    let errors = try Self.typeCheck(files)
    #expect(errors.isEmpty, "\(errors.joined(separator: "\n"))")
  }

  @Test func `every block that tests run is in them as the article has it`() throws {
    var sources: [String: String] = [:]
    var count = 0
    for document in try Self.documents {
      for block in try CodeBlock.all(in: document, at: Self.root) {
        guard let runner = block.runner else { continue }
        let source = try sources[runner] ?? Self.text(runner).filter { !$0.isWhitespace }
        sources[runner] = source
        count += 1
        #expect(
          source.contains(block.code.filter { !$0.isWhitespace }),
          "\(document):\(block.line) is not in \(runner)")
      }
    }
    #expect(count > 20, "the blocks that tests run are not found")
  }

  @Test func `a block that does not compile is found, with its place`() throws {
    let block = CodeBlock(
      document: "README.md", line: 17, code: "let store: PersistentStore = 1", prelude: nil)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try block.source(nil, number: 0).write(to: file, atomically: false, encoding: .utf8)
    let errors = try Self.typeCheck([file.path])
    #expect(errors.contains { $0.contains("README.md:17") })
  }

  /// False for code that is compiled as a part of tests, and for code of a service if the tests are built without the trait
  /// that brings its modules.
  private static func isBuilt(_ block: CodeBlock) -> Bool {
    if block.runner != nil { return false }
    #if Service
      return true
    #else
      return !block.code.contains("import CambiumService")
    #endif
  }

  private static func prelude(_ name: String?) throws -> String? {
    guard let name else { return nil }
    return try text("Preludes/\(name).swift")
  }

  /// The text of a file of these tests.
  private static func text(_ path: String) throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }

  /// The errors of files that are compiled against the library as this test was.
  private static func typeCheck(_ files: [String]) throws -> [String] {
    let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let compiler = Process()
    let output = Pipe()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      [
        "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-suppress-warnings",
        "-module-name", "Documentation", "-I", build.appending(path: "Modules").path,
        "-I", root.appending(path: "Sources/CZstd").path,
        "-Xcc", "-fmodule-map-file=\(build.path)/CCambium.build/module.modulemap",
      ] + files
    compiler.standardError = output
    try compiler.run()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    compiler.waitUntilExit()
    let errors = text.split(separator: "\n").map(String.init).filter { $0.contains("error:") }
    return compiler.terminationStatus == 0 || !errors.isEmpty ? errors : [text]
  }
}
