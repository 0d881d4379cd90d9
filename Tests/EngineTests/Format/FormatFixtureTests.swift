import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The files in the repository stay readable for ever, and are what is written today.
@Suite struct FormatFixtureTests {
  @Test(arguments: [ReadMode.mapped, .buffered(cacheSize: 1 << 16)])
  func `the fixture opens by the references in the document`(mode: ReadMode) throws {
    for (line, model) in zip(
      try FormatDocument().hex("The references"), [FormatFixture.oldModel, FormatFixture.newModel])
    {
      let file = try open(line.bytes, reading: mode)
      #expect(file.healedCopy == nil)
      #expect(file.footer.trees.map(\.name) == ["empty", FormatFixture.treeName])
      #expect(file.footer.trees[0].root == nil)
      let tree = Tree(pages: file.pages, root: file.footer.trees[1].root)
      #expect(try entries(of: tree) == model)
      let report = TreeCheck.run(tree, sizes: FormatFixture.sizes)
      #expect(report.faults == [])
      #expect(report.leafCount == 3)
      #expect(report.branchCount == 1)
    }
  }

  @Test func `the second state's footer is as it was written`() throws {
    let lines = try FormatDocument().hex("The references")
    let footer = try open(lines[1].bytes).footer
    #expect(footer.previous == (try reference(lines[0].bytes)))
    #expect(footer.keptStates.map(\.footer) == [footer.previous])
    #expect(footer.pendingWork.map(\.cursor) == [Bytes("num/2".utf8)])
    #expect(footer.coveredSequence == 9)
  }

  @Test func `the fixture's log leads to the second state, and says the same of the first`() throws
  {
    let medium = try PosixFileSystem(at: FormatFixture.path)
    let files = try LogFiles(opening: medium, writing: false)
    let lines = try FormatDocument().hex("The references")
    #expect(files.header.footer == (try reference(lines[0].bytes)))
    var reader = LogReader(files)
    var kinds: [FrameKind] = []
    while let frame = try reader.next() { kinds.append(frame.kind) }
    #expect(kinds == [.commits, .footer, .seal])
    #expect(reader.end == .clean(block: 20))
    #expect(reader.position.footer == (try reference(lines[1].bytes)))
    #expect(reader.position.isSealed)

    let names = TreeNames()
    let base = try Base(open(lines[0].bytes), names: names)
    var replay = LogReplay(over: base, capacity: 1 << 16, names: names)
    reader = LogReader(files)
    try replay.run(&reader)
    let state = replay.finish()
    #expect(state.sequence == 9)
    let tree = state.tree(try names.slot(of: FormatFixture.treeName))
    #expect(try entries(of: tree) == FormatFixture.newModel)
    #expect(try state.tree(names.slot(of: "empty")).count == 0)
  }

  @Test func `the entries are those in the document`() throws {
    let document = try FormatDocument()
    let keys = try document.column("key", of: "The entries").map(bytes)
    for (state, model) in [
      ("state 1", FormatFixture.oldModel), ("state 2", FormatFixture.newModel),
    ] {
      let values = try document.column(state, of: "The entries")
      let stated = zip(keys, values).filter { $1 != "no entry" }.map { ($0, value($1)) }
      #expect(Dictionary(uniqueKeysWithValues: stated) == model)
    }
  }

  @Test func `the same entries are written as the same bytes`() throws {
    let medium = InMemoryFileSystem()
    let written = try FormatFixture.write(to: medium)
    let lines = try FormatDocument().hex("The references")
    #expect(lines.count == 2)
    for (reference, line) in zip([written.old, written.new], lines) {
      var bytes: Bytes = []
      reference.encode(to: &bytes)
      #expect(bytes == line.bytes)
    }
    let files = try FormatFixture.files()
    #expect(try Set(medium.list(at: .test)) == Set(files.keys))
    for (name, bytes) in files {
      #expect(try medium.contents(of: name) == bytes, "\(name)")
    }
  }

  private func open(
    _ bytes: Bytes, reading mode: ReadMode = .mapped
  ) throws -> PageFile {
    try PageFile(
      opening: reference(bytes), in: PosixFileSystem(at: FormatFixture.path), reading: mode)
  }

  private func reference(_ bytes: Bytes) throws -> FooterReference {
    var reader = ByteReader(bytes.rawSpan, at: .segment(0), invariant: .footerSections)
    return try FooterReference(reading: &reader)
  }

  private func entries(of tree: Tree) throws -> [Bytes: Bytes] {
    var entries: [Bytes: Bytes] = [:]
    var cursor = Cursor(tree)
    var isOn = try cursor.first()
    while isOn {
      var value: Bytes = []
      try tree.append(cursor.entry, to: &value)
      entries[cursor.key.array()] = value
      isOn = try cursor.next()
    }
    return entries
  }

  private func entries(of tree: LayeredTree) throws -> [Bytes: Bytes] {
    var entries: [Bytes: Bytes] = [:]
    var cursor = LayeredCursor(tree)
    var isOn = try cursor.first()
    while isOn {
      var value: Bytes = []
      try cursor.appendValue(to: &value)
      entries[cursor.key.array()] = value
      isOn = try cursor.next()
    }
    return entries
  }

  private func bytes(_ text: String) -> Bytes {
    Bytes(String(text.map { $0 == "␀" ? "\0" : $0 }).utf8)
  }

  private func value(_ text: String) -> Bytes {
    switch text {
    case "nothing": []
    case "120 letters": FormatFixture.largeValue
    default: bytes(text)
    }
  }
}
