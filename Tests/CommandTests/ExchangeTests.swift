import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Exports that make the store again.
@Suite struct ExchangeTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  private func export(_ path: String) throws -> String {
    let command = try Command.run("export", path)
    #expect(command.status == 0, "\(command.error)")
    return command.output
  }

  @Test func `an export is recorded`() throws {
    try Recorded.check(try export(path), "export.txt")
  }

  @Test(arguments: [["export"], ["query", "--json"], ["query", "--csv"]])
  func `a blob of 2 GiB is written in pieces`(arguments: [String]) throws {
    let store = stage.path("blob")
    let hostile = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    let archive = "/\(hostile)/Fixtures/hostile/blob-of-2-gib.tar.zst"
    #expect(unsafe system("tar --zstd -xf \(archive) -C \(store)") == 0)
    let schema = try #require(try PersistentStore.inspect(at: store).schemas.last)
    let name = arguments.first == "query" ? schema.records.map(\.name) : []
    let child = try ChildProcess(
      arguments + [store] + name, files: ["/dev/null", "/dev/null", stage.path("error")],
      after: "ulimit -v \(1 << 20)")
    #expect(child.wait() == 0)
    #expect(try contents(of: stage.path("error")) == "")
  }

  @Test(arguments: [["export"], ["query", "--json"], ["query", "--csv"]])
  func `a string of 32 MiB outside its row is written in pieces`(arguments: [String]) throws {
    let store = stage.path("letters")
    try Letter.write([Letter(id: 1, text: String(repeating: "a\"é", count: 8 << 20))], to: store)
    let name = arguments.first == "query" ? ["Letter"] : []
    let child = try ChildProcess(
      arguments + [store] + name, files: ["/dev/null", "/dev/null", stage.path("error")],
      after: "ulimit -v \(128 << 10)")
    #expect(child.wait() == 0)
    #expect(try contents(of: stage.path("error")) == "")
  }

  @Test(arguments: [
    ["query", "Letter", "--fields", "id"], ["query", "Letter"], ["get", "Letter", "1"],
    ["get", "Letter", "1", "--json"], ["backup", "copy", "--skip-damaged"],
  ])
  func `a string of 32 MiB is never taken whole for an integer beside it`(arguments: [String])
    throws
  {
    let store = stage.path("letters")
    try Letter.write([Letter(id: 1, text: String(repeating: "a\"é", count: 8 << 20))], to: store)
    let rest = arguments.dropFirst().map { $0 == "copy" ? stage.path("copy") : $0 }
    let child = try ChildProcess(
      [arguments[0], store] + rest,
      files: ["/dev/null", stage.path("output"), stage.path("error")],
      after: "ulimit -v \(128 << 10)")
    let status = child.wait()
    let errors = try contents(of: stage.path("error"))
    #expect(status == 0, "\(errors)")
    if arguments.contains("--fields") {
      #expect(try contents(of: stage.path("output")).utf8.count < 1_000)
    }
  }

  @Test func `strings outside their rows come back exactly, wherever they are cut`() throws {
    let (store, file, copy) = (stage.path("letters"), stage.path("file"), stage.path("copy"))
    // Pieces end within each of the characters, and before and after it.
    let letters = (0..<9).map { id in
      Letter(
        id: id, text: String(repeating: "x", count: id) + String(repeating: "é\"😀\n", count: 60_000)
      )
    }
    try Letter.write(letters, to: store)
    try write(try export(store), to: file)
    let command = try Command.run("import", copy, file)
    #expect(command.status == 0, "\(command.error)")
    let opened = try PersistentStore(at: copy, model: Letter.model)
    #expect(try opened.fetch(Letter.self).map(\.text) == letters.map(\.text))
    try opened.close()
    let table = try Command.run("query", store, "Letter", "--csv", "--sort", "id").output
    let rows = letters.map { "\($0.id),\"\($0.text.replacing("\"", with: "\"\""))\"\r\n" }
    #expect(table == "id,text\r\n" + rows.joined())
  }

  @Test func `an import makes a store with the same content, indexes and fingerprint`() throws {
    let text = try export(path)
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    try write(text, to: file)
    let command = try Command.run("import", copy, file)
    #expect(command.status == 0, "\(command.error)")
    #expect(try export(copy) == text)
    let (one, other) = (
      try PersistentStore.inspect(at: path), try PersistentStore.inspect(at: copy)
    )
    #expect(one.fingerprint == other.fingerprint)
    #expect(other.schemas.last?.record(named: "Item")?.index(named: "the names") != nil)
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    // The program opens it as its own.
    let store = try PersistentStore(at: copy, model: Shop.model)
    #expect(try store.fetch(Shop.Item.self, key: 2)?.extra == ["one": 2])
    #expect(try store.metadata([String].self, for: "owner") == ["shop", "1"])
    try store.close()
  }

  @Test func `an export and a backup of a damaged store go on with what is whole, if told to`()
    throws
  {
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.write { transaction in
      for id in 100..<1_100 { try transaction.save(Shop.item(id)) }
    }
    let damaged = stage.path("damaged")
    _ = try store.backUp(to: damaged)
    try store.close()
    let segment = damaged + "/pages-0000000001"
    let map = try Command.run("map", damaged, "--json").output
    // The first leaf of rows: an export reads no index.
    let trees = try #require(map.firstMatch(of: /"trees":\["(.*?)"\]/)?.1)
    let tree = try #require(trees.split(separator: "\",\"").firstIndex(of: "Item"))
    let leaves = map.matches(of: /"first":(\d+),"count":\d+,"use":"leaf","tree":(\d+)/)
    let leaf = try #require(leaves.first { $0.2 == "\(tree)" }.flatMap { Int($0.1) })
    var all = try bytes(of: segment)
    all[leaf * 4096 + 200] ^= 1
    try write(all, to: segment)
    let refused = try Command.run("export", damaged)
    #expect(refused.status == 1)
    let export = try Command.run("export", damaged, "--skip-damaged", "--verbose")
    #expect(export.status == 1)
    let leftOut = export.error.split(separator: "\n").filter { $0.contains("left out Item") }.count
    #expect(leftOut > 0 && leftOut < 1_004)
    #expect(export.error.contains("could not be read and were left out"))
    let (file, copy, backup) = (stage.path("file"), stage.path("copy"), stage.path("backup"))
    try write(export.output, to: file)
    #expect(try Command.run("import", copy, file).status == 0)
    #expect(try Command.run("backup", damaged, backup, "--skip-damaged").status == 1)
    for path in [copy, backup] {
      #expect(try PersistentStore.check(at: path, .deep).isWhole)
      #expect(try PersistentStore.snapshot(at: path).count(record: "Item") == 1_004 - leftOut)
    }
  }

  @Test func `a closed store whose log is cut short or lost is salvaged with all its records`()
    throws
  {
    let content = try export(path)
    for log in ["log-0", "log-1"] {
      try write(Array(try bytes(of: path + "/" + log).prefix(100)), to: path + "/" + log)
    }
    let copy = stage.path("copy")
    for command in [["export", path, "--skip-damaged"], ["backup", path, copy, "--skip-damaged"]] {
      let refused = try Command.run(command)
      #expect(refused.status == 1)
      #expect(refused.error.contains("`cambium salvage`"))
    }
    for log in ["log-0", "log-1"] { _ = unsafe unlink(path + "/" + log) }
    let salvage = try Command.run("salvage", path, copy)
    #expect(salvage.status == 0, "\(salvage.error)")
    #expect(try export(copy) == content)
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    #expect(try Command.run("salvage", path, copy).status == 7)
    #expect(try Command.run("salvage", path, copy, "--force", "--json").status == 0)
  }

  @Test func `an export that a full disk ends leaves no file`() throws {
    try addItems(1_000)
    let file = stage.path("file")
    try write("keep me", to: file)
    for arguments in [["-o", stage.path("new")], ["-o", file, "--force"]] {
      let child = try ChildProcess(
        ["export", path] + arguments,
        files: ["/dev/null", "/dev/null", stage.path("error")],
        // The system's error in place of its signal. The unit is 512 bytes.
        after: "trap '' XFSZ; ulimit -f 100")
      #expect(child.wait() == 6)
    }
    #expect(try contents(of: stage.path("error")).contains("\(file) cannot be written"))
    #expect(try contents(of: file) == "keep me")
    #expect(try names(beginning: "new") == [] && names(beginning: "file") == ["file"])
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `an export that is interrupted leaves no file`() throws {
    try addItems(5_000)
    let child = try stage.stoppedExport(of: path, to: stage.path("file")) {
      try !stage.directory.workNames().isEmpty
    }
    kill(child.number, SIGINT)
    kill(child.number, SIGCONT)
    #expect(child.wait() == 130)
    #expect(try names(beginning: "file") == [] && stage.directory.workNames() == [])
  }

  @Test func `an export to a link, a pipe or a device leaves those as they are`() throws {
    let (file, link) = (stage.path("file"), stage.path("link"))
    try write("old", to: file)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    #expect(try Command.run("export", path, "-o", link, "--force").status == 0)
    #expect(try contents(of: file) == export(path))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
    #expect(try Command.run("export", path, "-o", "/dev/full", "--force").status == 6)
    #expect(try Command.run("export", path, "-o", "/dev/null", "--force").status == 0)
  }

  private func addItems(_ count: Int) throws {
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.write { transaction in
      for id in 100..<100 + count { try transaction.save(Shop.item(id)) }
    }
    try store.close()
  }

  /// The names of files beside the store.
  private func names(beginning prefix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: stage.directory.path)
      .filter { $0.hasPrefix(prefix) }
  }

  @Test func `values at the edges come back exactly`() throws {
    let store = try PersistentStore(at: path, model: Shop.model)
    let doubles: [Double] = [
      .nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
    ]
    let texts = ["", "\u{0}\u{1}\n\r\t\"\\", "é e\u{301} 👩‍👩‍👧 \u{2028}", "\u{feff}", "null"]
    for (index, double) in doubles.enumerated() {
      var item = Shop.item(100 + index, name: texts[index % texts.count])
      item.ratio = double
      item.rough = Float(double)
      item.added = Date(timeIntervalSinceReferenceDate: double == 0 ? 1e15 : double)
      item.price =
        index == 0 ? .nan : Decimal(string: "-1234567890123456789012345678.9e\(index * 9)") ?? 1
      item.large = .max
      item.small = .min
      item.count = index.isMultiple(of: 2) ? .max : .min
      item.tags = texts
      item.place = Shop.Place(x: double, y: index == 1 ? nil : double)
      try store.save(item)
    }
    try store.close()
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    try write(try export(path), to: file)
    #expect(try Command.run("import", copy, file).error == "")
    for name in ["Item", "Visit"] {
      #expect(try Self.literals(of: name, path) == Self.literals(of: name, copy))
    }
    #expect(try export(copy) == contents(of: file))
  }

  /// The records in words that say everything but the bits of what is no number.
  private static func literals(of name: String, _ path: String) throws -> [String] {
    var records: [String] = []
    try PersistentStore.snapshot(at: path).forEach(record: name) { record in
      let fields = record.fields.sorted { $0.key < $1.key }
      records.append(fields.map { "\($0.key): \($0.value.literal)" }.joined(separator: ", "))
    }
    return records
  }

  @Test func `an import is added to a store with the same schema only`() throws {
    let (file, other) = (stage.path("file"), stage.path("other"))
    try write(try export(path), to: file)
    try Shop.makeOld(at: other)
    #expect(try Command.run("import", other, file, "--into").status == 9)
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.write { transaction in
      try transaction.delete(Shop.Item.self, key: 1)
      try transaction.save(Shop.item(9))
    }
    try store.close()
    #expect(try Command.run("import", path, file, "--into").status == 0)
    #expect(try PersistentStore.snapshot(at: path).count(record: "Item") == 5)
  }

  @Test func `an import that fails leaves no store, and nothing in one`() throws {
    let lines = try export(path).split(separator: "\n").map(String.init)
    let bad: [(String, String)] = [
      ("cut off", lines.dropLast().joined(separator: "\n")),
      ("cut in a line", lines.joined(separator: "\n").dropLast(20) + ""),
      ("wrong count", (lines.dropLast() + [#"{"end":1}"#]).joined(separator: "\n")),
      ("no JSON", ([lines[0], "{"] + lines.dropFirst()).joined(separator: "\n")),
      (
        "no field",
        ([lines[0], #"{"record":"Item","fields":{"color":1}}"#] + lines.dropFirst()).joined(
          separator: "\n")
      ),
      (
        "out of range",
        lines.map { $0.replacing(#""small":-1"#, with: #""small":-1000"#) }.joined(separator: "\n")
      ),
      (
        "missing value",
        lines.map { $0.replacing(#""name":"new""#, with: #""name":null"#) }.joined(separator: "\n")
      ),
      ("no export", "{}"), ("nothing", ""),
      ("nested deep", lines[0] + "\n" + String(repeating: "[", count: 100_000)),
      ("half a character", lines[0] + "\n" + #"{"metadata":"\ud800","value":1}"#),
      ("no number", lines[0] + "\n" + #"{"metadata":"a","value":1e999}"#),
      ("no escape", lines[0] + "\n" + #"{"metadata":"\x","value":1}"#),
      ("no end of a string", lines[0] + "\n" + #"{"metadata":"a"#),
      (
        "other fingerprint",
        ([lines[0].replacing("key id", with: "key small")] + lines.dropFirst()).joined(
          separator: "\n")
      ),
    ]
    for (what, text) in bad {
      let (file, copy) = (stage.path("bad"), stage.path("bad.cambium"))
      try write(text, to: file)
      let command = try Command.run("import", copy, file)
      #expect(command.status == 9, "\(what): \(command.error)")
      #expect(!exists(copy), "\(what)")
      let before = try export(path)
      #expect(try Command.run("import", path, file, "--into").status == 9, "\(what)")
      #expect(try export(path) == before, "\(what)")
    }
    try write("{\"cambium-export\":2}\n", to: stage.path("bad"))
    #expect(try Command.run("import", stage.path("new"), stage.path("bad")).status == 4)
  }

  @Test func `an import that is interrupted leaves no store`() throws {
    let lines = try export(path).split(separator: "\n").map(String.init)
    let item = try #require(lines.first { $0.contains(#""id":4,"#) })
    var text = lines[0] + "\n"
    for id in 0..<20_000 { text += item.replacing(#""id":4,"#, with: "\"id\":\(id),") + "\n" }
    let (file, copy) = (stage.path("file"), stage.path("copy"))
    try write(text + "{\"end\":20000}\n", to: file)
    let command = try Command.run("import", copy, file, signal: (SIGINT, 250))
    #expect([0, 130].contains(command.status), "\(command.error)")
    #expect(exists(copy) == (command.status == 0))
    let inPlace = try Command.run("import", path, file, "--into", signal: (SIGTERM, 250))
    #expect([0, 130].contains(inPlace.status), "\(inPlace.error)")
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    let count = try PersistentStore.snapshot(at: path).count(record: "Item")
    #expect(count == (inPlace.status == 0 ? 20_000 : 4))
  }

  @Test func `nothing is overwritten that is not to be`() throws {
    let file = stage.path("file")
    #expect(try Command.run("export", path, "-o", file).status == 0)
    #expect(try Command.run("export", path, "-o", file).status == 7)
    #expect(try Command.run("export", path, "-o", file, "--force").status == 0)
    #expect(try Command.run("import", path, file).status == 7)
    #expect(try Command.run("import", path, file, "--force").status == 0)
    #expect(try PersistentStore.inspect(at: path).schemas.count == 1)
    let store = try PersistentStore(at: path, model: Shop.model)
    #expect(try Command.run("import", path, file, "--force").status == 3)
    try store.close()
    #expect(try Command.run("import", file, file, "--force").status == 5)
    #expect(try contents(of: file).hasPrefix("{"))
  }

  @Test func `an export is read from standard input and of some types only`() throws {
    let file = stage.path("file")
    #expect(try Command.run("export", path, "--record", "Visit", "-o", file).status == 0)
    #expect(try Command.run("import", stage.path("copy"), input: file).status == 0)
    let copy = try PersistentStore.snapshot(at: stage.path("copy"))
    #expect(try copy.count(record: "Visit") == 1)
    #expect(try copy.count(record: "Item") == 0)
  }
}

/// A record whose text lies outside its row.
private struct Letter: Record {
  var id: Int
  var text: String

  static let model = StoreModel(version: 1, records: [Letter.self])

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string, storage: .external(threshold: 100))
  }

  static func write(_ letters: [Letter], to path: String) throws {
    let store = try PersistentStore(at: path, model: model)
    for letter in letters { try store.save(letter) }
    try store.close()
  }
}
