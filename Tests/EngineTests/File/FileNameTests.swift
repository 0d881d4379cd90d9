import Cambium
import Testing

struct FileNameTests {
  static let texts: [(FileName, String)] = [
    (.pages(0), "pages-0000000000"), (.pages(1), "pages-0000000001"),
    (.pages(.max), "pages-4294967295"), (.pages(7).temporary, "pages-0000000007.new"),
    (.log(0), "log-0"), (.log(10), "log-10"), (.log(.max), "log-4294967295"),
    (.log(3).temporary, "log-3.new"),
    (.blobs(12), "blobs-0000000012"), (.blobs(12).temporary, "blobs-0000000012.new"),
    (.reserve, "RESERVE"), (.lock, "LOCK"), (FileName.lock.temporary, "LOCK.new"),
  ]

  @Test(arguments: texts)
  func `a name and its text say the same`(name: FileName, text: String) {
    #expect(name.description == text)
    #expect(FileName(text) == name)
  }

  @Test(arguments: [
    "", ".", "..", "lock", "LOCK ", "LOCK.new.new", ".new", "LOCK.", "LOCK-1", "reserve",
    "RESERVE-1",
    "pages", "pages-", "pages-1", "pages-00000000001", "pages-000000001", "pages-4294967296",
    "pages--000000001", "pages-+000000001", "pages-0000000001.old", "pages-0000000001.NEW",
    "Pages-0000000001", "pages-0000000001/", "../LOCK", "pages_0000000001",
    "log-", "log-01", "log-+1", "log--1", "log-4294967296", "log- 1", "log-1 ", "log-１",
    "blobs-12", "blobs-0000000012.new ", "blobs-0000000012\u{301}", "other",
  ])
  func `a text that no store computes is no name`(text: String) {
    #expect(FileName(text) == nil)
  }
}
