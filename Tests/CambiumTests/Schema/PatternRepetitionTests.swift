import Testing

@testable import Cambium

/// Patterns that can take for ever, and those that look like them but cannot.
@Suite struct PatternRepetitionTests {
  @Test(arguments: [
    "^(a+)+$", "(a*)*", "(a+)*b", "((a+))+", "(?:a+)+", "(?<name>a+)+", "(?i:a+)+", "(a{2,})+",
    "(a{1,9}){1,9}", #"(\w+\s?)*"#, "([a-z]+)*", #"(\.+)+"#, "(a+|b)+", "(a+a)+", #"(\S+\.)+"#,
    "([^a]+-)+", #"(.+,)+"#, "(a+-a+)+", "((a+,)+)+,", "(a+?)+?", "((a|b+)c?)*", "(?=(a+)+$)",
    #"(\Q.\E+)+"#, "([,-.]+-)+",
  ])
  func `a repetition in a repeated group is refused`(_ pattern: String) {
    #expect(PatternRepetitions(pattern).hasNested)
    #expect(throws: DescriptionFault.self) { try CheckedRule(.pattern(pattern), for: .string) }
  }

  @Test(arguments: [
    "^[a-z0-9]+$", "a+b+", "(a+b)", "(ab)+", "(a|b)+", #"^([a-z0-9-]+\.)+[a-z]{2,}$"#,
    #"^\w+(-\w+)*$"#, "([0-9]{3}){2,}", "(a?b)+", "(a+)?", "(a+){2}", "(?>a+)+", "(a++)+",
    "([^,]+,)*", #"\(a+\)+"#, "[(a+)]+", #"([0-9]+:)*[0-9]+"#, "", "(", ")", "(?", "[", "{", "\\",
    #"(/[^/]+)*"#,
  ])
  func `what can be divided in one way only is not`(_ pattern: String) {
    #expect(!PatternRepetitions(pattern).hasNested)
  }
}
