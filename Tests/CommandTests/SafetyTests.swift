import Cambium
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Files that others planted, named or linked do not lead a command anywhere else.
@Suite struct SafetyTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = try stage.store(.good).path
  }

  private func mode(of path: String) throws -> mode_t {
    var status = stat()
    try #require(unsafe lstat(path, &status) == 0)
    return status.st_mode & 0o7777
  }

  private func link(_ name: String, to target: String) throws -> String {
    try FileManager.default.createSymbolicLink(
      atPath: stage.path(name), withDestinationPath: target)
    return stage.path(name)
  }

  // MARK: Files of output

  @Test func `what is written of a store is as open as the store`() throws {
    let (csv, rejects) = (stage.path("items.csv"), stage.path("rejects"))
    try write("id,name\nnot a number,x\n", to: csv)
    for (directory, file) in [(0o700, 0o600), (0o755, 0o644)] as [(mode_t, mode_t)] {
      try #require(unsafe chmod(path, directory) == 0)
      for arguments in [["export", path], ["map", path]] {
        let output = stage.path("output")
        #expect(try Command.run(arguments + ["-o", output]).status == 0)
        #expect(try mode(of: output) == file, "\(arguments)")
        _ = unsafe unlink(output)
      }
      #expect(try Command.run("import", path, "Item", csv, "--rejects", rejects).status == 0)
      #expect(try mode(of: rejects) == file)
      _ = unsafe unlink(rejects)
    }
    // One that is there is replaced, whatever it allowed.
    let old = stage.path("old")
    try write("old", to: old)
    try #require(unsafe chmod(old, 0o666) == 0 && chmod(path, 0o700) == 0)
    #expect(try Command.run("export", path, "-o", old, "--force").status == 0)
    #expect(try mode(of: old) == 0o600)
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `a file that appears while an export runs is not overwritten`() throws {
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.write { transaction in
      for id in 100..<5_000 { try transaction.save(Shop.item(id)) }
    }
    try store.close()
    for victim in ["file", "link"] {
      let file = stage.path(victim)
      let child = try stage.stoppedExport(of: path, to: file) {
        try !stage.directory.workNames().isEmpty
      }
      if victim == "link" {
        _ = try link("link", to: stage.path("precious"))
        try write("precious", to: stage.path("precious"))
      } else {
        try write("precious", to: file)
      }
      kill(child.number, SIGCONT)
      #expect(child.wait() == 7)
      #expect(try contents(of: file) == "precious")
      #expect(try contents(of: stage.path("error")).contains("already exists"))
    }
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `an export that is killed leaves what the next removes`() throws {
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.write { transaction in
      for id in 100..<5_000 { try transaction.save(Shop.item(id)) }
    }
    try store.close()
    let file = stage.path("file")
    func marks() throws -> [String] {
      try stage.directory.workNames().filter { name in
        let mark = stage.path(name + "/MARK")
        return try exists(mark) && !bytes(of: mark).isEmpty
      }
    }
    let child = try stage.stoppedExport(of: path, to: file) { try !marks().isEmpty }
    // Another process's export does not remove files in use.
    #expect(try Command.run("map", path, "-o", stage.path("map")).status == 0)
    kill(child.number, SIGKILL)
    #expect(child.wait() == 128 + SIGKILL)
    #expect(!exists(file))
    #expect(try Command.run("export", path, "-o", file).status == 0)
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `nothing is written into the directory of a store`() throws {
    let log = try bytes(of: path + "/log-0")
    for (arguments, status) in [
      (["export", path, "-o", path + "/log-0", "--force"], 7),
      (["export", path, "-o", path + "/out"], 7),
      (["map", path, "-o", path + "/out"], 7),
      (["backup", path, path + "/copy"], 7),
      (["salvage", path, path + "/copy"], 7),
    ] as [([String], Int32)] {
      let command = try Command.run(arguments)
      #expect(command.status == status, "\(arguments): \(command.error)")
      #expect(command.error.contains("directory of a store"), "\(command.error)")
    }
    #expect(try bytes(of: path + "/log-0") == log)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { FileName($0) != nil })
  }

  // MARK: The same store twice

  @Test(arguments: ["backup", "salvage"])
  func `a store is not replaced by a copy of itself, whatever it is called`(verb: String) throws {
    // In its log, as a killed process leaves it.
    let store = try PersistentStore(at: path, model: Shop.model)
    try store.save(Shop.item(700))
    try store.flush()
    let before = try Command.run("export", path).output
    let link = try link("link", to: path)
    let names = [
      (path, path), (path, path + "/"), (path, link), (link, path), (path + "/.", path),
      (path, stage.path("./shop.cambium")), (link, link), (path, path + "/../shop.cambium"),
    ]
    for (source, target) in names {
      for options in [["--force"], []] + (verb == "backup" ? [["--force", "--skip-damaged"]] : []) {
        let command = try Command.run([verb, source, target] + options)
        #expect(command.status == 7, "\(source) \(target) \(options)")
        if options.contains("--force") {
          #expect(command.error.contains("the store itself"), "\(command.error)")
        }
      }
    }
    try store.close()
    #expect(try Command.run("export", path).output == before)
    #expect(try stage.directory.workNames() == [])
  }

  @Test func `a copy takes the place of what a link leads to`() throws {
    let (real, link) = (stage.path("real"), try link("link", to: stage.path("real")))
    try Shop.make(at: real)
    #expect(try Command.run("backup", path, link, "--force").status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == real)
    #expect(try Command.run("export", real).output == Command.run("export", path).output)
    let names = try FileManager.default.contentsOfDirectory(atPath: stage.directory.path)
    #expect(Set(names) == ["shop.cambium", "real", "link"])
  }

  @Test func `a directory that is no store is not replaced, and nothing in it moves`() throws {
    let other = stage.path("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try write("mine", to: other + "/letter")
    for arguments in [["backup", path, other, "--force"], ["salvage", path, other, "--force"]] {
      #expect(try Command.run(arguments).status != 0)
    }
    // A store with something of the user's in it.
    let mixed = stage.path("mixed")
    try Shop.make(at: mixed)
    try write("mine", to: mixed + "/letter")
    #expect(try Command.run("backup", path, mixed, "--force").status == 6)
    #expect(try contents(of: other + "/letter") == "mine")
    #expect(try contents(of: mixed + "/letter") == "mine")
    #expect(try Command.run("check", mixed).status == 0)
    #expect(try stage.directory.workNames() == [])
  }

  // MARK: Root

  /// As root: a service's store. Else: one's own.
  @Test func `a service opens what an administrator compacted, imported into and replaced`() throws
  {
    let (owner, group): (uid_t, gid_t) =
      geteuid() == 0 ? (65_533, 65_532) : (geteuid(), getegid())
    let export = stage.path("export")
    #expect(try Command.run("export", path, "-o", export).status == 0)
    for name in [""] + (try FileManager.default.contentsOfDirectory(atPath: path)) {
      try #require(unsafe chown(path + "/" + name, owner, group) == 0)
    }
    func expectOwned(_ path: String, _ what: String) throws {
      for name in [""] + (try FileManager.default.contentsOfDirectory(atPath: path)) {
        var status = stat()
        try #require(unsafe stat(path + "/" + name, &status) == 0)
        #expect(status.st_uid == owner && status.st_gid == group, "\(what): \(name)")
      }
    }
    #expect(try Command.run("import", path, export, "--into").status == 0)
    try expectOwned(path, "import --into")
    #expect(try Command.run("compact", path, "--force").status == 0)
    try expectOwned(path, "compact")
    let copy = stage.path("copy")
    #expect(try Command.run("backup", path, copy).status == 0)
    try expectOwned(copy, "backup")
    #expect(try Command.run("backup", path, copy, "--force", "--skip-damaged").status == 0)
    try expectOwned(copy, "backup --skip-damaged")
    #expect(try Command.run("salvage", path, copy, "--force").status == 0)
    try expectOwned(copy, "salvage")
    #expect(try Command.run("import", path, export, "--force").status == 0)
    try expectOwned(path, "import --force")
  }

  // MARK: Versions

  @Test func `the version comes with those of the system's libraries`() throws {
    let version = try Command.run("--version")
    #expect(version.status == 0)
    let lines = version.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].contains(/^\d+\.\d+\.\d+$/))
    #expect(lines[1].contains(/^zstd \d+\.\d+\.\d+$/))
    #expect(lines[2].contains(/^SQLite (\d+\.\d+(\.\d+)?$|none)/))
  }
}
