import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Patterns mean what Swift's regular expressions do, and are matched in one pass.
@Suite struct PatternTests {
  private static let patterns = [
    "^[a-z]+(\\.[a-z]+)*@x$", "(?i)abc|d", "a.c$", "^\\w+\\s\\d{2,3}$", "^[^\\d\\s]{1,}$",
    "\\bcat\\b", "é+", "^\\p{L}+$", "[[a-z]&&[^aeiou]]+", "^(foo|ba[rz])?$", "a{,2}b", "x*?y",
    "(?<y>\\d{4})-(?<m>\\d\\d)", "^$", "(?m)^b$", "\\Q.*\\E", "\\u{e9}", "^\\S+$", "(?i:A)b", "a|",
    "\\Aab\\z", "\\R", "^.{3}$", "\\Bat", "^(?:a|b|ab)*c$", "\\x41", "[\\]x]y",
    "(ab|a)(c|bcd)(d*)$",
    "^(a+)?$", "(?#no)b", "^a\\Z", "[a-c1-2]{2}", "\\D\\W", "",
  ]
  private static let parts = [
    "a", "b", "c", "A", "x", "y", "@", ".", "1", "2", " ", "\n", "\r\n", "é", "e\u{301}", "cat",
    "foo",
    "bar", "٣", "-", "_", "'", "*", "日", "]", "d", "B",
  ]

  @Test func `a pattern matches as Swift's regular expression does`() throws {
    var random = SplitMix64(seed: 5)
    for text in Self.patterns {
      let (pattern, regex) = (try Pattern(text), try Regex(text))
      for _ in 0..<60 {
        let string = (0..<Int(random.next() % 6)).map { _ in
          Self.parts[Int(random.next() % UInt64(Self.parts.count))]
        }.joined()
        #expect(
          pattern.matches(string) == (string.firstMatch(of: regex) != nil), "\(text): \(string)")
      }
    }
  }

  @Test(arguments: [
    "^(?:a?a?)*$", "^(a(?:a)?)+$", "^(a?){28}a{28}$", "^(a+)+$", "^(a*)*$", "((a|a)*)*b",
    "^(a|aa)+$",
    "(a{1,9}){1,9}b", "a*a*a*a*a*b", "^(?:(?:a+)+)+$",
  ])
  func `no pattern takes more than one pass over a string`(_ text: String) throws {
    let pattern = try Pattern(text)
    let times = [1_000, 4_000].map { count in
      let string = String(repeating: "a", count: count) + "!"
      return Duration.nanoseconds(nanoseconds(each: 1) { #expect(!pattern.matches(string)) })
    }
    #expect(times[1] < max(times[0] * 12, .milliseconds(50)), "\(times)")
  }

  @Test(arguments: [
    "(?=a)b", "(?!a)b", "(?<=a)b", "(a)\\1", "(?<n>a)\\k<n>", "(?>a)b", "a++", "(", "[", ")", "*a",
    "a{1000}{1000}", "(a{100}){101}",
  ])
  func `a pattern that only backtracking can match is refused`(_ pattern: String) {
    #expect(throws: DescriptionFault.self) { try CheckedRule(.pattern(pattern), for: .string) }
  }

  @Test func `a pattern is nested as deep as a small stack can hold`() throws {
    try onSmallStack {
      // Swift refuses what is nested over about 60 deep, before the pattern's own bound of 100 is reached.
      for count in [20, 50, 100, 200, 2_000] {
        let text = String(repeating: "(", count: count) + "a" + String(repeating: ")", count: count)
        do {
          let pattern = try Pattern(text)
          #expect(pattern.matches("a") && count < 100)
        } catch is Pattern.Fault {
          #expect(count > 50)
        }
      }
    }
  }
}
