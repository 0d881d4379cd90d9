import Cambium
import CambiumBrowser
import FoundationEssentials
import Testing

/// Each page of a store, from a request to a response.
@Suite struct PageTests {
  /// The elements that pages are made of.
  private static let own: Set<String> = [
    "!DOCTYPE", "html", "head", "title", "meta", "link", "body", "header", "nav", "main", "aside",
    "section", "h1", "h2", "h3", "p", "div", "span", "strong", "small", "code", "pre", "a", "ul",
    "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "form", "label", "input",
    "button", "img", "svg", "rect",
  ]

  private let shelf: Shelf

  init() throws { shelf = try Shelf() }

  @Test func `the overview has the types, the versions and the last commits`() throws {
    let page = try shelf.page()
    #expect(page.status == 200)
    #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
    for text in ["Author", "Book", "Genre", ">130<", "librarian", "Last commits", "version “"] {
      #expect(page.text.contains(text), "\(text)")
    }
  }

  @Test func `every page that a link leads to exists, and has no markup but its own`() throws {
    let browser = shelf.browser()
    var waiting: ArraySlice = ["./"]
    var seen: Set<String> = []
    var followed: [String: Int] = [:]
    while let address = waiting.popFirst() {
      // Records, orders and places multiply, so a few links of each form are followed.
      let form = address.replacing(/=[^&]*/, with: "=")
      guard seen.insert(address).inserted, followed[form, default: 0] < 12 else { continue }
      followed[form, default: 0] += 1
      let page = try shelf.page(address, of: browser)
      #expect(page.status == 200, "\(address): \(page.text)")
      guard page.headers["Content-Type"]?.hasPrefix("text/html") == true else { continue }
      #expect(page.elementNames.isSubset(of: Self.own), "\(address): \(page.elementNames)")
      #expect(!page.text.contains("<script") && !page.text.contains("<img src=x"), "\(address)")
      #expect(!page.text.contains(shelf.token), "\(address)")
      waiting += page.addresses
    }
    #expect(followed.values.reduce(0, +) > 50)
    for route in [
      "records", "sections", "record", "content", "versions", "migration", "map", "history",
    ] {
      #expect(followed.keys.contains { $0.hasPrefix(route) }, "\(route)")
    }
  }

  @Test func `what is typed into a form is text in the page`() throws {
    let typed = "%3Cscript%3Ealert(1)%3C/script%3E%22%3E"
    for address in [
      "records?type=\(typed)", "records?type=Book&where=\(typed)",
      "records?type=Book&sort=\(typed)",
      "records?type=Book&offset=\(typed)", "sections?type=Book&by=\(typed)",
      "record?type=Book&key=\(typed)", "record?type=Author&key=%22\(typed)%22",
      "content?type=Book&key=1&field=\(typed)", "versions?new=\(typed)", "versions?old=\(typed)",
      "history?type=\(typed)", "history?commit=\(typed)", "\(typed)",
    ] {
      let page = try shelf.page(address)
      #expect(!page.text.contains("<script"), "\(address)")
      #expect(page.elementNames.isSubset(of: Self.own), "\(address)")
    }
  }

  @Test func `a number in an address may be of any size`() throws {
    let browser = shelf.browser()
    for address in [
      "records?type=Book&offset=", "sections?type=Book&by=year&offset=", "history?offset=",
      "history?type=Book&offset=", "history?commit=",
    ] {
      for number in [
        "\(Int.max)", "\(Int.min)", "-1", "18446744073709551615", "1e9", "9999999999999999999999",
      ] {
        #expect(try shelf.page(address + number, of: browser).status == 200, "\(address)\(number)")
      }
    }
    #expect(try shelf.page("record?type=Book&key=\(Int.max)").status == 404)
  }

  @Test func `a very long value in an address is not repeated in full`() throws {
    let long = String(repeating: "x", count: 50_000)
    for address in ["record?type=Author&key=%22\(long)%22", "record?type=\(long)&key=1"] {
      let page = try shelf.page(address)
      #expect(page.status >= 400)
      #expect(page.content.count < 10_000)
    }
  }

  // MARK: Records

  @Test func `records are shown fifty at a time`() throws {
    let first = try shelf.page("records?type=Book")
    #expect(first.text.contains("1 to 50 of 130"))
    #expect(first.text.contains("The Dispossessed"))
    #expect(!first.text.contains("Volume 51"))
    let next = try #require(first.addresses.first { $0.contains("offset=50") })
    let second = try shelf.page(next)
    #expect(second.text.contains("51 to 100 of 130"))
    #expect(second.text.contains("Volume 51"))
    #expect(try shelf.page("records?type=Book&offset=100").text.contains("101 to 130 of 130"))
  }

  @Test func `a condition and an order choose the records`() throws {
    let page = try shelf.page(
      "records?type=Book&where=year+%3E%3D+1904+%26%26+id+%3C+20&sort=-id")
    #expect(page.text.contains("5 records meet the condition"))
    let titles = page.text.matches(of: /Volume (\d+)/).map { String($0.1) }
    #expect(titles == ["19", "14", "9", "4"])
    #expect(page.text.contains("value=\"year &gt;= 1904 &amp;&amp; id &lt; 20\""))
  }

  @Test func `a wrong condition says where it is wrong, and stays in the form`() throws {
    let page = try shelf.page("records?type=Book&where=year+%3E%3E+1")
    #expect(page.status == 200)
    #expect(page.text.contains("class=\"fault\">The condition, "))
    #expect(page.text.contains("value=\"year &gt;&gt; 1\""))
    #expect(try shelf.page("records?type=Book&where=size+%3E+1").text.contains("class=\"fault\""))
  }

  @Test func `the page says how records are found`() throws {
    let page = try shelf.page("records?type=Book&where=id+%3D%3D+3&explain=1")
    #expect(page.text.contains("class=\"explanation\">Book: rows"))
  }

  @Test func `sections count the records of each value, and lead to them`() throws {
    let page = try shelf.page("sections?type=Book&by=year")
    #expect(page.text.contains("130 records in 7 sections"))
    let address = try #require(page.addresses.first { $0.contains("1904") })
    #expect(try shelf.page(address).text.contains("26 records meet the condition"))
    let none = try #require(page.addresses.first { $0.contains("null") })
    #expect(try shelf.page(none).text.contains("1 record meets the condition"))
    let narrow = try shelf.page("sections?type=Book&by=author&where=id+%3C+3")
    #expect(narrow.text.contains("2 records in 2 sections"))
    #expect(narrow.text.contains("Ursula K. Le Guin"))
  }

  // MARK: One record

  @Test func `a reference and its inverse lead there and back`() throws {
    let book = try shelf.page("record?type=Book&key=1")
    let author = try #require(book.addresses.first { $0 == "record?type=Author&key=1" })
    let page = try shelf.page(author)
    #expect(page.text.contains("Ursula K. Le Guin"))
    #expect(page.text.contains("books <small>129 · Book.author"))
    #expect(page.addresses.contains("record?type=Book&key=1"))
    let all = try #require(page.addresses.first { $0.hasPrefix("records?type=Book&where=author") })
    #expect(try shelf.page(all).text.contains("129 records meet the condition"))
    let genre = try shelf.page("record?type=Genre&key=%22novel%22")
    #expect(genre.text.contains("books <small>1 · Book.genres"))
    #expect(genre.addresses.contains("record?type=Book&key=1"))
  }

  @Test func `the parts of a composite are shown one below the other`() throws {
    let page = try shelf.page("record?type=Book&key=1")
    #expect(page.text.contains("<dt>row</dt><dd>3</dd>"))
  }

  @Test func `a record that does not exist is not found`() throws {
    for address in [
      "record?type=Book&key=999", "record?type=Nothing&key=1",
      "content?type=Book&key=999&field=cover",
      "content?type=Book&key=2&field=cover", "content?type=Book&key=1&field=place.nothing",
    ] { #expect(try shelf.page(address).status == 404, "\(address)") }
    for address in ["record?type=Book", "record?type=Book&key=1&key=2", "record?type=Book&key=)"] {
      #expect(try shelf.page(address).status == 400, "\(address)")
    }
  }

  // MARK: Blobs

  @Test func `a picture is shown as a picture`() throws {
    let address = "content?type=Book&key=1&field=cover"
    let page = try shelf.page("record?type=Book&key=1")
    #expect(page.text.contains("<img src=\"\(address.replacing("&", with: "&amp;"))\""))
    let picture = try shelf.page(address)
    #expect(picture.headers["Content-Type"] == "image/png")
    #expect(picture.content == Library.picture)
  }

  @Test func `a text is shown as a text, also one with markup in it`() throws {
    let page = try shelf.page("record?type=Book&key=1")
    #expect(page.text.contains("<pre>An ambiguous utopia. &lt;script&gt;"))
    let text = try shelf.page("content?type=Book&key=1&field=text")
    #expect(text.headers["Content-Type"] == "text/plain; charset=utf-8")
    #expect(text.text.hasPrefix("An ambiguous utopia. <script>"))
  }

  @Test func `other content is shown in digits, and saved instead of opened`() throws {
    let store = try Library.open(at: shelf.path)
    try Library.change(2, in: store) { $0.cover = Blob(Data([0xff, 0x00, 0x10])) }
    try Library.change(3, in: store) {
      $0.cover = Blob(Data("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".utf8))
    }
    try store.close()
    #expect(try shelf.page("record?type=Book&key=2").text.contains("<pre>ff 00 10</pre>"))
    let content = try shelf.page("content?type=Book&key=2&field=cover")
    #expect(content.headers["Content-Type"] == "application/octet-stream")
    #expect(content.headers["Content-Disposition"] == "attachment")
    let drawing = try shelf.page("content?type=Book&key=3&field=cover")
    #expect(drawing.headers["Content-Type"] == "text/plain; charset=utf-8")
  }

  // MARK: Versions, migrations, map and history

  @Test func `two versions are side by side`() throws {
    let page = try shelf.page("versions")
    #expect(page.text.contains("Version 1 → 2"))
    #expect(page.text.contains("<li>Book.title was called name</li>"))
    #expect(page.text.contains("<tr class=\"changed\"><td>name</td><td>string</td><td>title</td>"))
    #expect(page.text.contains("<tr class=\"same\"><td>year</td><td>int64?</td><td>year</td>"))
    #expect(try shelf.page("versions?new=1").text.contains("<h1>Version 1</h1>"))
    #expect(try shelf.page("versions?new=7").status == 404)
  }

  @Test func `the plan of a migration is shown, and nothing is migrated`() throws {
    #expect(try shelf.page("migration").text.contains("--schema Schema.lock"))
    let files = SchemaFiles(schema: shelf.directory + "/Schema.lock")
    let browser = shelf.browser(schema: files)
    #expect(try shelf.page("migration", of: browser).status != 200, "There is no such file yet.")
    try SchemaLock.write(Library.model(3), at: files.schema)
    let page = try shelf.page("migration", of: browser)
    #expect(page.status == 200)
    #expect(page.text.contains("Version 2 → 3"))
    #expect(page.text.contains("Can run"))
    #expect(page.text.contains("Book.published was called year"))
    #expect(try PersistentStore.inspect(at: shelf.path).version == 2)
  }

  @Test func `the map has a row of cells for each file`() throws {
    let page = try shelf.page("map")
    #expect(page.text.contains("pages 1"))
    #expect(page.text.contains("blobs 1"))
    #expect(page.text.contains("contents of blobs"))
    #expect(page.text.contains("<title>Book</title></rect>"))
  }

  @Test func `the history has the newest commit first, with the old values`() throws {
    let page = try shelf.page("history")
    let commits = page.text.matches(of: /Commit ([\d,]+)/).map {
      Int($0.1.replacing(",", with: "")) ?? 0
    }
    // Those before the migration are gone: the history has a gap where it was migrated.
    #expect(commits.count == 2)
    #expect(commits == commits.sorted(by: >))
    #expect(page.text.contains("year 1974"))
    #expect(page.text.contains("librarian"))
    let record = try shelf.page("history?type=Book&key=1")
    #expect(record.text.contains("History of Book 1"))
    #expect(record.text.matches(of: #/Commit /#).count == 2)
    #expect(!record.text.contains("Volume"))
  }

  @Test func `a store without a history says how to keep one`() throws {
    let shelf = try Shelf(empty: true)
    let store = try PersistentStore(at: shelf.path, model: Library.model(2))
    try store.close()
    let page = try shelf.page("history")
    #expect(page.status == 404)
    #expect(page.text.contains("StoreOptions.history"))
  }
}
