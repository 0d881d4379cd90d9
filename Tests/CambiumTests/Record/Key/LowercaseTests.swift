import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct LowercaseTests {
  @Test func `every scalar of Unicode 17 is mapped as Unicode says`() {
    var mapped = 0
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let lowercase = Lowercase.mapping(of: scalar)
      if lowercase != scalar { mapped += 1 }
      guard let age = scalar.properties.age, age.major <= 17 else { continue }
      let full = scalar.properties.lowercaseMapping.unicodeScalars
      // The one scalar whose full mapping is longer: a capital I with a dot.
      let expected = full.count == 1 ? full.first : "i"
      if lowercase != expected { Issue.record("\(String(value, radix: 16))") }
    }
    #expect(mapped == 1488)
  }

  @Test(arguments: [
    ("", ""), ("ABC xyz @[`{", "abc xyz @[`{"), ("ÄÖÜẞ", "äöüß"), ("İI", "ii"), ("ΑΣ", "ασ"),
  ])
  func `strings are mapped scalar by scalar`(text: String, lowercase: String) {
    #expect(Lowercase.bytes(of: Bytes(text.utf8).rawSpan) == Bytes(lowercase.utf8))
  }

  @Test func `bytes that are no UTF-8 stay as they are`() {
    #expect(Lowercase.bytes(of: Bytes([0x41, 0xff]).rawSpan) == [0x41, 0xff])
  }
}
