import Cambium
import CambiumBrowser
import FoundationEssentials
import Glibc
import Testing

/// Stores that change, break or disappear while they are browsed.
@Suite struct FollowingTests {
  @Test func `each page shows the newest commit of a program that writes`() throws {
    let shelf = try Shelf()
    let browser = shelf.browser()
    #expect(try shelf.page("records?type=Genre", of: browser).text.contains("1 record"))
    let store = try Library.open(at: shelf.path)
    try store.save(Library.Genre(id: "essay"))
    // It is known to be on the disk a moment later, as nothing follows.
    var page = try shelf.page("records?type=Genre", of: browser)
    for _ in 0..<400 where !page.text.contains("essay") {
      usleep(25_000)
      page = try shelf.page("records?type=Genre", of: browser)
    }
    #expect(page.text.contains("2 records"))
    #expect(page.text.contains("essay"))
    #expect(try shelf.page(of: browser).text.contains("A program has it open."))
    try store.close()
  }

  @Test func `a store that is migrated meanwhile is opened again`() throws {
    let shelf = try Shelf()
    let browser = shelf.browser()
    #expect(!(try shelf.page("records?type=Book", of: browser).text.contains("published")))
    try Library.open(at: shelf.path, version: 3).close()
    let page = try shelf.page("records?type=Book", of: browser)
    #expect(page.status == 200)
    #expect(page.text.contains("published"))
  }

  @Test func `a store that is missing is not found, and shown once it is there`() throws {
    let shelf = try Shelf(empty: true)
    let browser = shelf.browser()
    for address in ["", "records?type=Book", "map", "versions", "history"] {
      let page = try shelf.page(address, of: browser)
      #expect(page.status == 404, "\(address)")
      #expect(page.text.contains("class=\"fault\""), "\(address)")
    }
    try Library.make(at: shelf.path)
    #expect(try shelf.page(of: browser).status == 200)
    try FileManager.default.removeItem(atPath: shelf.path)
    #expect(try shelf.page("records?type=Book", of: browser).status == 404)
    try Library.make(at: shelf.path)
    #expect(try shelf.page("records?type=Book", of: browser).status == 200)
  }

  @Test func `browsing writes nothing`() throws {
    let shelf = try Shelf()
    func files() throws -> [String: Data] {
      var files: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: shelf.path) {
        files[name] = try Data(contentsOf: URL(filePath: shelf.path + "/" + name))
      }
      return files
    }
    let before = try files()
    for address in [
      "", "records?type=Book", "record?type=Book&key=1", "map", "versions", "history",
    ] {
      #expect(try shelf.page(address).status == 200)
    }
    #expect(try files() == before)
  }

  @Test func `a damaged blob is a fault in its place, and the rest of the record is shown`() throws
  {
    let shelf = try Shelf()
    for name in try FileManager.default.contentsOfDirectory(atPath: shelf.path)
    where name.hasPrefix("blobs-") {
      let url = URL(filePath: shelf.path + "/" + name)
      var bytes = try Data(contentsOf: url)
      for place in stride(from: 4096, to: bytes.count, by: 64) { bytes[place] ^= 0x10 }
      try bytes.write(to: url)
    }
    let page = try shelf.page("record?type=Book&key=1")
    #expect(page.status == 200)
    #expect(page.text.contains("The Dispossessed"))
    #expect(page.text.contains("class=\"fault\""))
    #expect(try shelf.page("content?type=Book&key=1&field=cover").status == 500)
    #expect(try shelf.page("records?type=Book").text.contains("The Dispossessed"))
  }

  @Test func `a directory that is no store is an error on every page`() throws {
    let shelf = try Shelf(empty: true)
    try FileManager.default.createDirectory(atPath: shelf.path, withIntermediateDirectories: true)
    for address in ["", "records?type=Book", "map"] {
      let page = try shelf.page(address)
      #expect(page.status >= 400, "\(address)")
      #expect(page.text.contains("class=\"fault\""), "\(address)")
    }
  }
}
