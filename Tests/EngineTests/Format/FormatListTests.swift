import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The lists of `FORMAT.md` are those of the code.
@Suite struct FormatListTests {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument()
  }

  @Test func `every invariant is listed in the words of the code`() throws {
    let source = try Repository.text("Sources/Cambium/Errors/Invariant.swift")
    var sentences: [String: String] = [:]
    var sentence: [Substring] = []
    for line in source.split(separator: "\n") {
      let line = line.drop { $0 == " " }
      if line.hasPrefix("///") {
        sentence.append(line.dropFirst(4))
      } else {
        if let number = line.firstMatch(of: /^case \w+ = "(\w+)"/)?.1 {
          sentences[String(number)] = sentence.joined(separator: " ")
        }
        sentence = []
      }
    }
    let listed = try zip(
      document.column("number", of: "Invariants"), document.column("what holds", of: "Invariants"))
    #expect(Dictionary(uniqueKeysWithValues: listed) == sentences)
    #expect(
      try document.column("number", of: "Invariants") == Invariant.allCases.map(\.rawValue))
  }

  @Test func `every invariant is listed with what needs it`() throws {
    #expect(
      try document.column("needed for", of: "Invariants")
        == Invariant.allCases.map { $0.isForPlanning ? "planning" : "reading" })
  }

  @Test func `every limit of the format has its bound`() throws {
    let listed = try zip(
      document.column("limit", of: "Limits"), document.column("bound", of: "Limits"))
    // Hooks run in memory; what they write is within the others.
    let limits = StoreError.Limit.allCases.filter { ![.hookDepth, .deletionCount].contains($0) }
      .map { ("\($0)", "\($0.bound)") }
    #expect(Dictionary(uniqueKeysWithValues: listed) == Dictionary(uniqueKeysWithValues: limits))
  }

  @Test func `every other bound has its value`() throws {
    let listed = try zip(
      document.column("bound", of: "Other bounds"), document.column("value", of: "Other bounds"))
    #expect(
      Dictionary(uniqueKeysWithValues: listed) == [
        "bytes of a block": "\(Layout.blockSize)",
        "blocks of a page": "\(Layout.pageBlocksMax)",
        "blocks of a node": "\(Node.blocksMax)",
        "blocks of a page segment": "\(Layout.segmentBlocksMax)",
        "level of a branch": "\(Layout.levelMax)",
        "bytes of a value in one page": "\(LargeValue.partLengthMax)",
        "parts of a value": "\(LargeValue.partCountMax)",
        "count or live blocks of a reference": "\(PageReference.aggregateMax)",
        "files of the log": "\(LogLayout.filesMax)",
        "blocks of a file of the log, at first": "\(LogLayout.blocksMin)",
        "blocks of a file of the log, at most": "\(LogLayout.blocksMax)",
        "a sequence, a use, or an epoch": "\(LogLayout.sequenceMax)",
        "bytes of content of a blob's frame": "\(BlobLayout.frameLength)",
      ])
  }

  @Test func `every kind of page and of section has its number`() throws {
    let pages = try zip(
      document.column("kind", of: "Page kinds"), document.column("name", of: "Page kinds"))
    #expect(pages.map { "\($0) \($1)" } == PageKind.allCases.map { "\($0.rawValue) \($0)" })
    let sections = try zip(
      document.column("kind", of: "Section kinds"), document.column("name", of: "Section kinds"))
    let known = (0...UInt16.max).compactMap { Footer.Section(rawValue: $0) }
    #expect(sections.map { "\($0) \($1)" } == known.map { "\($0.rawValue) \($0)" })
  }

  @Test func `the mark of a work directory has its text`() throws {
    #expect(try Repository.text("FORMAT.md").contains("\n    \(WorkDirectory.markText)"))
  }

  @Test func `the newest format version is the code's, and no feature bit is known`() throws {
    let versions = try document.column("version", of: "Format versions")
    #expect(versions.last == "\(SegmentHeader.formatVersion)")
    #expect(Features.known == Features())
  }
}
