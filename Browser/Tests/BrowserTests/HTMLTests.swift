import Testing

@testable import CambiumBrowser

/// The type that pages are made of: nothing in a record can become markup.
@Suite struct HTMLTests {
  @Test func `a text is escaped`() {
    #expect(
      HTML("a < b && \"c\" > 'd'").markup == "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;")
  }

  @Test func `a character with an accent on it is escaped, too`() {
    // One character for Swift, two for a browser.
    let text = "<\u{301}script>\u{301}\"\u{301}"
    #expect(HTML(text).markup == "&lt;\u{301}script&gt;\u{301}&quot;\u{301}")
  }

  @Test func `no text of two bytes has a character left that HTML acts on`() {
    for first in UInt8(0)...127 {
      for second in "&<>\"';a\u{1}".utf8 {
        let text = String(decoding: [first, second], as: UTF8.self)
        let markup = HTML(text).markup
        #expect(!markup.utf8.contains { "<>\"'".utf8.contains($0) }, "\(first) \(second)")
        let entities = markup.replacing(/&(amp|lt|gt|quot|#39);/, with: "")
        #expect(!entities.contains("&"), "\(first) \(second)")
        #expect(!markup.utf8.contains { $0 < 0x20 && $0 != 9 && $0 != 10 }, "\(first) \(second)")
      }
    }
  }

  @Test func `the value of an attribute is escaped`() {
    let link = element(.span, [.title: "\" onclick=\"x"], "y")
    #expect(link.markup == "<span title=\"&quot; onclick=&quot;x\">y</span>")
  }

  @Test func `an address is encoded`() {
    let address = Address(.records, ["where": "name == \"a&b\" <"])
    #expect(
      element(.a, to: address, "x").markup
        == "<a href=\"records?where=name%20%3D%3D%20%22a%26b%22%20%3C\">x</a>")
  }

  @Test func `elements and attributes cannot run code`() {
    let refused = [
      "script", "style", "iframe", "object", "embed", "base", "use", "animate", "math",
    ]
    for element in Element.allCases { #expect(!refused.contains(element.rawValue)) }
    for attribute in Attribute.allCases {
      #expect(!attribute.rawValue.hasPrefix("on"))
      #expect(!["href", "src", "action", "style", "srcdoc"].contains(attribute.rawValue))
    }
  }

  @Test func `strings in a list of content are text`() {
    let list = element(.ul) {
      for name in ["<a>", "b"] { element(.li, name) }
      if true { "<i>" }
    }
    #expect(list.markup == "<ul><li>&lt;a&gt;</li><li>b</li>&lt;i&gt;</ul>")
  }

  @Test func `every string comes back from an address`() {
    for text in ["", "a b+c", "%", "%4", "%zz", "ä&=?#/", "\u{0}\n\u{301}", "🌲"] {
      let address = Address(.record, ["key": text, "type": "T"])
      let request = BrowserRequest(target: "/t/\(address.text)", host: nil)
      #expect(request.values("key") == [text])
      #expect(request.value("type") == "T")
    }
  }
}
