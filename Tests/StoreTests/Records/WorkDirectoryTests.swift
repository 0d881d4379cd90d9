import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What backups, removals and salvage make beside a store never costs another one.
@Suite struct WorkDirectoryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func path(_ name: String) -> String { directory.path + "/" + name }

  private func make(_ name: String, _ count: Int) throws {
    let store = try PersistentStore(at: path(name), model: .samples)
    try store.write { try $0.save(contentsOf: Account.some(count)) }
    try store.close()
  }

  private func count(_ name: String) throws -> Int {
    try PersistentStore.snapshot(at: path(name)).count(record: "Account")
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  private static let likeOurs = [
    "orders.backup", "orders.removed", "orders.salvage", "orders.new", "orders.old", "orders-new",
    "orders.new-\(getpid())", "orders.old-\(getpid())", ".cambium-work-0123456789abcdef",
  ]

  @Test(arguments: likeOurs)
  func `a backup, a salvage and a removal leave a store beside them alone, whatever its name`(
    name: String
  ) throws {
    try make(name, 20)
    try make("other", 5)
    let other = try PersistentStore(at: path("other"), model: .samples)
    try other.backUp(to: path("orders"))
    try other.close()
    #expect(try count("orders") == 5 && count(name) == 20)
    try PersistentStore.delete(at: path("orders"))
    _ = try PersistentStore.salvage(at: path("other"), to: path("orders"))
    #expect(try count("orders") == 5 && count(name) == 20)
    try PersistentStore.replace(at: path("orders"), with: path("other"))
    try PersistentStore.move(from: path("orders"), to: path("moved"))
    try PersistentStore.delete(at: path("moved"))
    #expect(try names() == [name] && count(name) == 20)
  }

  @Test func `a backup is restored by a backup of it, which it survives`() throws {
    try make("orders.backup", 20)
    var options = StoreOptions()
    options.access = .reading
    let backup = try PersistentStore(at: path("orders.backup"), model: .samples, options: options)
    try backup.backUp(to: path("orders")) { _ in
      let found = try count("orders.backup")
      #expect(found == 20)
    }
    try backup.close()
    #expect(try count("orders") == 20 && count("orders.backup") == 20)
  }

  @Test func `what a killed process left is removed by the next, and nothing that is not marked`()
    throws
  {
    try make("kept", 7)
    let killed = try leaveWork(marked: WorkDirectory.markText)
    let nested = try leaveWork(marked: WorkDirectory.markText)
    try FileManager.default.moveItem(
      atPath: nested, toPath: killed + nested.dropFirst(directory.path.count))
    let others = [
      try leaveWork(marked: nil), try leaveWork(marked: ""),
      try leaveWork(marked: WorkDirectory.markText + "\n"),
      try leaveWork(marked: String(WorkDirectory.markText.dropLast())),
    ]
    // A directory that is no store's, and a link to one.
    let strange = try leaveWork(marked: WorkDirectory.markText)
    try write("mine", to: strange + "/content/letter.txt")
    let linked = try leaveWork(marked: WorkDirectory.markText)
    try FileManager.default.removeItem(atPath: linked + "/content")
    try FileManager.default.createSymbolicLink(
      atPath: linked + "/content", withDestinationPath: path("kept"))
    // In use by this process.
    let used = try WorkDirectory(beside: path("used"))
    try used.makeStoreDirectory(like: nil)
    try write("log", to: used.content + "/log-0")

    let kept = try PersistentStore(at: path("kept"), model: .samples)
    try kept.backUp(to: path("copy"))
    try kept.close()
    #expect(!exists(killed) && !exists(linked))
    for other in others { #expect(exists(other + "/content/log-0"), "\(other)") }
    #expect(exists(strange + "/content/letter.txt"))
    #expect(exists(used.content + "/log-0"))
    #expect(try count("kept") == 7 && count("copy") == 7)
    used.remove()
    #expect(!exists(used.content))
    try PersistentStore.delete(at: path("copy"))
  }

  /// As a killed process leaves it.
  private func leaveWork(marked mark: String?) throws -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    let work = path(".cambium-work-" + String(repeating: "0", count: 16 - digits.count) + digits)
    try FileManager.default.createDirectory(
      atPath: work + "/content", withIntermediateDirectories: true)
    for name in ["LOCK", "log-0", "log-1", "pages-0000000001"] {
      try write("x", to: work + "/content/" + name)
    }
    if let mark { try write(mark, to: work + "/MARK") }
    return work
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  // MARK: Links and other names

  @Test func `a link stands for the store that it leads to`() throws {
    try make("real", 3)
    try link("link", to: "real")
    try PersistentStore.delete(at: path("link"))
    #expect(try names() == ["link"])
    // One that leads nowhere is in the way.
    try make("other", 4)
    let other = try PersistentStore(at: path("other"), model: .samples)
    #expect(
      storeError { try other.backUp(to: path("link")) }
        == .io(.fileExists, operation: "back up", path: path("link")))
    try other.close()
    try make("new", 5)
    try link("second", to: "other")
    try PersistentStore.replace(at: path("second"), with: path("new"))
    #expect(try count("other") == 5 && count("second") == 5)
    #expect(try names() == ["link", "other", "second"])
  }

  @Test func `a store is not deleted by the path that another has taken`() throws {
    try make("first", 3)
    let medium = try PosixFileSystem(at: path("first"))
    try PersistentStore.move(from: path("first"), to: path("moved"))
    try make("first", 4)
    #expect(storeError { try medium.remove() } == .missing(path: path("first")))
    #expect(try count("first") == 4 && count("moved") == 3)
  }

  @Test func `a store that is set aside by a link leaves the link to the next`() throws {
    try make("real", 3)
    try link("link", to: "real")
    let aside = try EngineBackend.setAside(path("link"), StoreOptions())
    try make("link", 1)
    #expect(try count("real") == 1 && count("link") == 1)
    #expect(try PersistentStore.snapshot(at: aside).count(record: "Account") == 3)
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path(name), withDestinationPath: path(target))
  }

  @Test func `no copy is made in the directory of a store`() throws {
    try make("store", 3)
    try make("other", 1)
    try link("link", to: "store")
    let store = try PersistentStore(at: path("store"), model: .samples)
    let before = try store.inspectedFiles()
    try FileManager.default.createDirectory(
      atPath: path("store/deep"), withIntermediateDirectories: true)
    for target in ["store/copy", "link/copy", "store/../store/copy", "store/deep/copy"] {
      #expect(
        storeError { try store.backUp(to: path(target)) } == .insideStore(path: path(target)))
    }
    #expect(
      storeError { try store.backUp(to: path("other/copy")) }
        == .insideStore(path: path("other/copy")))
    #expect(
      storeError { _ = try PersistentStore.salvage(at: path("other"), to: path("store/copy")) }
        == .insideStore(path: path("store/copy")))
    #expect(storeError { try store.backUp(to: path("store")) } != nil)
    try FileManager.default.removeItem(atPath: path("store/deep"))
    #expect(try store.inspectedFiles() == before)
    try store.backUp(to: path("store.copy"))
    try store.close()
    #expect(try count("store.copy") == 3)
  }

  // MARK: Access

  @Test func `a copy is as open as the store`() throws {
    try make("store", 3)
    for mode in [0o700, 0o750, 0o2770] as [mode_t] {
      try #require(unsafe chmod(path("store"), mode) == 0)
      let store = try PersistentStore(at: path("store"), model: .samples)
      try store.backUp(to: path("copy"))
      try store.close()
      let mask = umask(0)
      umask(mask)
      #expect(try self.mode("copy") == mode & ~mask)
      try PersistentStore.delete(at: path("copy"))
      _ = try PersistentStore.salvage(at: path("store"), to: path("copy"))
      #expect(try self.mode("copy") == mode & ~mask)
      try PersistentStore.delete(at: path("copy"))
    }
  }

  private func mode(_ name: String) throws -> mode_t {
    var status = stat()
    try #require(unsafe stat(path(name), &status) == 0)
    return status.st_mode & 0o7777
  }

  @Test func `an error of a store with hard links says why, and what to do`() throws {
    try make("store", 3)
    try FileManager.default.createDirectory(
      atPath: path("snapshot"), withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: path("store")) {
      try FileManager.default.linkItem(
        atPath: path("store/\(name)"), toPath: path("snapshot/\(name)"))
    }
    for access in [StoreOptions.Access.writing, .reading] {
      var options = StoreOptions()
      options.access = access
      let error = storeError {
        try PersistentStore(at: path("store"), model: .samples, options: options)
      }
      let text = try "\(#require(error))"
      #expect(text.contains("hard link") && text.contains("cp -r"), "\(text)")
    }
    // The advice works.
    try FileManager.default.copyItem(atPath: path("store"), toPath: path("copy"))
    #expect(try count("copy") == 3)
  }
}

extension PersistentStore {
  fileprivate func inspectedFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
