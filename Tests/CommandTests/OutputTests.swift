import Cambium
import Testing

/// The output of the commands, compared with recorded text.
@Suite struct OutputTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  private func output(_ arguments: String..., status: Int32 = 0) throws -> String {
    let command = try Command.run(arguments)
    #expect(command.status == status, "\(arguments): \(command.error)")
    return command.output
  }

  @Test func `help has an example for each command`() throws {
    try Recorded.check(try output("--help"), "help.txt")
    for name in [
      "info", "check", "compact", "collect", "expire", "map", "schema", "query", "get", "put",
      "set", "delete",
      "history", "watch", "diff", "blob cat", "export",
      "import", "backup", "salvage", "plan", "migrate", "rollback", "torture", "manual",
    ] {
      let help = try Command.run(name.split(separator: " ").map(String.init) + ["--help"]).output
      #expect(help.contains("Example: cambium \(name)"), "\(name)")
      #expect(help.contains("--json"), "\(name)")
      // Words that other documentation has better ones for.
      #expect(
        !help.contains(/\b(room|medium|gives? back|goes on|lets? go|anew|whoever)\b/), "\(name)")
    }
  }

  @Test func `the manual has every command and every status`() throws {
    let manual = try output("manual")
    try Recorded.check(manual, "manual.txt")
    #expect(!manual.contains("torture\\-life"))
    for status in Array(0...10) + [130] { #expect(manual.contains(".B \(status)\n")) }
    #expect(try output("manual", "--json").contains(#"{"status":130,"#))
  }

  @Test func `the article on operations lists every status`() throws {
    let directory = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let article = try contents(of: "/\(directory)/Sources/Cambium/Cambium.docc/Operations.md")
    let listed = article.matches(of: /\n\| (\d+) \| (.*?) \|/).map { "\($0.1) \($0.2)" }
    let statuses = try output("manual", "--json").matches(
      of: /"status":(\d+),"meaning":"(.*?)"/
    ).map { "\($0.1) \($0.2)" }
    #expect(listed == statuses)
  }

  @Test func `info says what there is`() throws {
    try Recorded.check(Recorded.masked(try output("info", path), path: path), "info.txt")
    let json = try output("info", path, "--json")
    #expect(json.contains(#""version":2"#))
    #expect(json.contains(#""name":"Item","count":4"#))
    #expect(json.contains(#""author":"test""#))
  }

  @Test func `info and map have the files of blobs`() throws {
    let path = stage.path("gallery.cambium")
    try Gallery.make(at: path)
    try Recorded.check(Recorded.masked(try output("info", path), path: path), "info-blobs.txt")
    let json = try output("info", path, "--json")
    #expect(json.contains(#""blobs":{"count":2,"size":"#))
    #expect(json.contains(#"{"kind":"blobs","number":1,"#))
    let picture = try output("map", path)
    for name in ["blobs 1<", "contents of blobs, ", "blobs: from byte ", "garbage: from byte "] {
      #expect(picture.contains(name), "\(name)")
    }
    let map = try output("map", path, "--json")
    #expect(map.contains(#""blobSegments":[{"number":1,"size":"#))
    #expect(map.contains(#"{"first":0,"count":4096,"use":"header"}"#))
  }

  @Test func `the content of a blob, of data and of a string is written as it is`() throws {
    let gallery = stage.path("gallery.cambium")
    try Gallery.make(at: gallery)
    let content = (0..<20_000).map { UInt8(truncatingIfNeeded: ($0 &* $0 &* 3) &>> 3) }
    let file = stage.path("content")
    let cat = ["blob", "cat", gallery, "Picture", "content"]
    let written = try Command.run(cat + ["3", "--output", file])
    #expect(written.output == "20,000 bytes written to \(file).\n", "\(written)")
    #expect(try bytes(of: file) == content)
    #expect(try Command.run(cat + ["3", "--output", file]).status == 7)
    let piped = stage.path("piped")
    let child = try ChildProcess(cat + ["3"], files: ["/dev/null", piped, stage.path("error")])
    #expect(child.wait() == 0)
    #expect(try bytes(of: piped) == content)
    let json = try JSONParser.parse(Array(try Command.run(cat + ["3", "--json"]).output.utf8))
    #expect(json["bytes"]?.integer == 20_000)
    #expect(json["content"]?.text?.count == 26_668)
    #expect(try output("blob", "cat", path, "Item", "name", "1") == "thing 1")
    #expect(
      try output("blob", "cat", path, "Item", "name", "1", "--json")
        == #"{"bytes":7,"content":"thing 1"}"# + "\n")
    #expect(
      try output("blob", "cat", path, "Item", "picture", "1", "--json")
        == #"{"bytes":3,"content":"AP8B"}"# + "\n")
    for (arguments, status) in [
      (["Item", "note", "2"], 8), (["Item", "name", "9"], 8), (["Item", "size", "1"], 2),
      (["Item", "count", "1"], 2),
    ] as [([String], Int32)] {
      #expect(try Command.run(["blob", "cat", path] + arguments).status == status, "\(arguments)")
    }
  }

  @Test func `a schema is shown as Swift, as a lock and as JSON`() throws {
    try Recorded.check(try output("schema", path), "schema-swift.txt")
    try Recorded.check(
      try output("schema", path, "--form", "text", "--version", "1"), "schema-text.txt")
    try Recorded.check(try output("schema", path, "--json"), "schema-json.txt")
    try Recorded.check(try output("schema", path, "--diff", "1", status: 10), "schema-diff.txt")
    try Recorded.check(try output("schema", path, "--step"), "schema-step.txt")
    #expect(try output("schema", path, "--diff", "2").isEmpty)
    let lock = try Recorded.newerLock(in: stage)
    #expect(try output("schema", path, "--lock", lock).isEmpty)
    #expect(
      try output("schema", path, "--version", "1", "--step", "--lock", lock)
        == (try output("schema", path, "--step")))
    try Recorded.check(
      try output("schema", path, "--step", "--lock", lock), "schema-step-lock.txt")
    let own = stage.path("own.lock")
    try write(output("schema", path, "--form", "text"), to: own)
    #expect(try Command.run("schema", path, "--step", "--lock", own).status == 8)
    #expect(try Command.run("schema", path, "--lock", stage.path("none")).status == 8)
  }

  @Test func `queries come as a table, as lines of JSON and as CSV`() throws {
    try Recorded.check(
      try output("query", path, "Item", "--fields", "id,name,price,tags,note"), "query-table.txt")
    try Recorded.check(
      try output("query", path, "Item", "id >= 2", "--sort", "-id", "--json"),
      "query-json.txt")
    try Recorded.check(
      try output("query", path, "Item", "--csv", "--limit", "2", "--offset", "1"), "query-csv.txt")
    #expect(try output("query", path, "Item", "place.x > 1", "--count") == "1\n")
    #expect(try output("query", path, "Item", "--count") == "4\n")
    #expect(
      try output("query", path, "Item", #"name == "new""#, "--explain").contains(
        "index the names"))
    let explanation = try JSONParser.parse(
      Array(
        try output("query", path, "Item", #"name == "new""#, "--explain", "--json").utf8))
    #expect(explanation["text"]?.text?.contains("index the names") == true)
    #expect(explanation["access"]?.text?.isEmpty == false)
    #expect(explanation["actual"]?["records"]?.integer == 1)
    #expect(explanation["sorting"]?.text == "none")
  }

  @Test func `a query shows groups and sums`() throws {
    let query = ["query", path, "Item"]
    func shown(_ arguments: String...) throws -> [Substring] {
      let command = try Command.run(query + arguments)
      #expect(command.status == 0, "\(arguments): \(command.error)")
      return command.output.split { $0.isNewline }
    }
    #expect(
      try shown("--group", "count", "--sum", "price,id", "--csv") == [
        "count,count(),sum(price),sum(id)", "0,3,1.5,6", "7,1,1,4",
      ])
    #expect(
      try shown("--group", "count, note", "id < 4", "--json") == [
        #"{"count":0,"note":null,"count()":1}"#, #"{"count":0,"note":"ok","count()":2}"#,
      ])
    #expect(try shown("--sum", "id", "--json") == [#"{"count()":4,"sum(id)":10}"#])
    #expect(try shown("id > 9", "--sum", "id", "--json") == [#"{"count()":0,"sum(id)":0}"#])
    #expect(try shown("--group", "place.x").last == "3 groups")
    for wrong in [["--group", "size"], ["--sum", "name"], ["--group", "tags"]] {
      let command = try Command.run(query + wrong)
      #expect(command.status == 2 && command.error.contains(wrong[1]), "\(command)")
    }
    #expect(
      try shown("--group", "prefix(name, 1), count", "--max", "id * 2", "--csv").first
        == #""prefix(name, 1)",count,count(),max(id * 2)"#)
    #expect(
      try shown("--group", "count", "--sum", "id", "--sort", "-sum(id)", "--limit", "1", "--json")
        == [#"{"count":0,"count()":3,"sum(id)":6}"#])
    #expect(
      try shown("--sort", "-(id % 2)", "--fields", "id", "--csv").dropFirst() == [
        "1", "3", "2", "4",
      ])
    #expect(try Command.run(query + ["--group", "count", "--sort", "price"]).status != 0)
    #expect(try Command.run(query + ["--group", "count", "--after", "1"]).status == 2)
  }

  @Test func `a query begins after a primary key`() throws {
    func ids(_ arguments: String...) throws -> String {
      let command = try Command.run(
        ["query", path, "Item", "--fields", "id", "--csv"] + arguments)
      #expect(command.status == 0, "\(arguments): \(command.error)")
      return command.output.split { $0.isNewline }.dropFirst().joined(separator: " ")
    }
    #expect(try ids("--after", "2") == "3 4")
    #expect(try ids("--after", "2", "--limit", "1") == "3")
    #expect(try ids("--after", "1", "--offset", "1", "id != 2") == "4")
    #expect(try ids("--sort", "-id", "--after", "3") == "2 1")
    #expect(try ids("--after", "4").isEmpty)
    // By primary key, it need not exist.
    #expect(try ids("--after", "-7") == "1 2 3 4")
    let visits = ["query", path, "Visit", "--after", "Ada", "--after"]
    #expect(try Command.run(visits + ["2002-01-01T00:00:00Z", "--json"]).output.contains("Ada"))
    #expect(try Command.run(visits + ["2001-01-01T00:00:01Z", "--json"]).output.isEmpty)
    #expect(
      try output("query", path, "Item", "--after", "2", "--explain").contains("record"))
  }

  @Test func `a record is found by its key`() throws {
    try Recorded.check(try output("get", path, "Item", "2"), "get.txt")
    let visit = try output("get", path, "Visit", "Ada", "2001-01-01T00:00:01Z", "--json")
    #expect(visit == #"{"person":"Ada","day":"2001-01-01T00:00:01Z","seen":true}"# + "\n")
  }

  @Test func `a map is a picture with a legend`() throws {
    let file = stage.path("map.svg")
    _ = try output("map", path, "--output", file)
    let picture = try contents(of: file)
    #expect(picture.hasPrefix("<svg"))
    for name in [
      ">Item, ", "Item, leaves: block", "Visit, leaves: block", ">garbage, ",
      ">kept for a rollback",
      ">headers and footers, ",
    ] {
      #expect(picture.contains(name), "\(name)")
    }
    #expect(try Command.run("map", path, "--output", file).status == 7)
    #expect(try Command.run("map", path, "--output", file, "--force").status == 0)
    #expect(try output("map", path, "--json").contains(#""use":"header""#))
  }

  @Test
  func `the colours of a map differ, its legend is sorted by size, and its areas have titles`()
    throws
  {
    let picture = try output("map", path)
    // The white background is no area.
    let rectangles = picture.matches(
      of: /<rect x=.*? fill="(#[0-9a-f]{6})"(\/>|><title>.+?<\/title>)/)
    let legend = rectangles.filter { $0.2 == "/>" }.map { String($0.1) }
    let areas = rectangles.filter { $0.2 != "/>" }.map { String($0.1) }
    #expect(legend.count > 5 && Set(areas) == Set(legend))
    for (place, colour) in legend.enumerated() {
      for other in legend[..<place] {
        let distance = Self.distance(colour, other)
        #expect(distance > 60, "\(colour) \(other)")
      }
    }
    let shares = picture.matches(of: /, (\d+)\.(\d) %</).compactMap { Int($0.1 + $0.2) }
    #expect(shares.count == legend.count && shares == shares.sorted(by: >), "\(shares)")
    #expect((990...1010).contains(shares.reduce(0, +)), "\(shares)")
  }

  /// The distance of two colours in the cube of red, green and blue.
  private static func distance(_ one: String, _ other: String) -> Double {
    let (one, other) = (
      Int(one.dropFirst(), radix: 16) ?? 0, Int(other.dropFirst(), radix: 16) ?? 0
    )
    let squares = [0, 8, 16].map { shift in
      let difference = (one >> shift & 0xff) - (other >> shift & 0xff)
      return difference * difference
    }
    return Double(squares.reduce(0, +)).squareRoot()
  }

  @Test(arguments: ["Item", "Item by the names", "Visit"])
  func `a check names the record or the index that a damaged page is of`(name: String) throws {
    let map = try JSONParser.parse(Array(try output("map", path, "--json").utf8))
    guard case .array(let trees)? = map["trees"], case .array(let segments)? = map["segments"],
      case .array(let regions)? = segments.first?["regions"]
    else {
      Issue.record("\(map)")
      return
    }
    let tree = try #require(trees.firstIndex { $0.text == name })
    let region = try #require(
      regions.first { $0["use"]?.text == "leaf" && $0["tree"]?.integer == tree })
    let segment = path + "/pages-000000000\(try #require(segments.first?["number"]?.integer))"
    var all = try bytes(of: segment)
    let block = try #require(region["first"]?.integer)
    all[block * 4096 + 200] ^= 1
    try write(all, to: segment)
    for depth in [[], ["--deep"]] {
      let check = try Command.run(["check", path] + depth)
      #expect(check.status == 1)
      #expect(check.output.contains("fault  \(name): The page at segment "), "\(check)")
    }
    let json = try JSONParser.parse(
      Array(try output("check", path, "--json", status: 1).utf8))
    guard case .array(let faults)? = json["faults"] else {
      Issue.record("\(json)")
      return
    }
    let fault = try #require(faults.first { $0["in"]?.text == name })
    #expect(
      fault["case"]?.text == "corrupt" && fault["parts"]?["place"]?["page"] != nil, "\(fault)")
  }

  @Test func `a check says which page is damaged`() throws {
    let (damaged, _) = try Stage().store(.damaged)
    _ = damaged
    try Recorded.check(try output("check", path), "check.txt")
    #expect(try output("check", path, "--deep", "--json").contains(#""isWhole":true"#))
    let segment = path + "/pages-0000000001"
    // The leaf of the items: found by the map.
    let map = try output("map", path, "--json")
    let leaf = try #require(
      Int(map.firstMatch(of: /"first":(\d+),"count":\d+,"use":"leaf"/)?.1 ?? ""))
    var all = try bytes(of: segment)
    all[leaf * 4096 + 200] ^= 1
    try write(all, to: segment)
    let check = try Command.run("check", path)
    #expect(check.status == 1)
    #expect(check.output.contains("The page at segment 1, block \(leaf) is damaged"))
    #expect(try Command.run("info", path).status == 0)
    let json = try output("check", path, "--deep", "--json", status: 1)
    #expect(json.contains(#""isWhole":false"#))
  }
}
