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

@Suite struct CaseFoldingTests {
  @Test func `every scalar is folded as Unicode says, if not to several`() {
    var folded = 0
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let mapped = CaseFolding.mapping(of: scalar)
      if mapped != scalar { folded += 1 }
      // Twice is once, and neither case of a letter matters.
      if CaseFolding.mapping(of: mapped) != mapped { Issue.record("\(String(value, radix: 16))") }
      let lowercase = Lowercase.mapping(of: scalar)
      if scalar != "\u{130}", CaseFolding.mapping(of: lowercase) != mapped {
        Issue.record("\(String(value, radix: 16))")
      }
      guard let age = scalar.properties.age, age.major <= 17 else { continue }
      // What has the same capital is folded to the same, but for the dotless i.
      let capital = scalar.properties.uppercaseMapping.unicodeScalars
      if capital.count == 1, let first = capital.first, scalar != "\u{131}",
        CaseFolding.mapping(of: first) != mapped
      {
        Issue.record("\(String(value, radix: 16))")
      }
    }
    // The lines of `CaseFolding.txt` with the status C or S.
    #expect(folded == 1_512)
  }

  @Test(arguments: [
    ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ſtraẞe", "Straße"), ("µ", "Μ"), ("K", "k"),
    ("ﬅ", "ﬆ"), ("ΐ", "ΐ"), ("ꭰᏰ", "Ꭰᏸ"), ("ϐϑϕϖϰϱϵ", "ΒΘΦΠΚΡΕ"), ("ᾳ", "ᾼ"),
  ])
  func `strings that differ in case alone are the same`(one: String, other: String) {
    #expect(
      CaseFolding.bytes(of: Bytes(one.utf8).rawSpan)
        == CaseFolding.bytes(of: Bytes(other.utf8).rawSpan))
  }
}
