/// A pattern that a text has to match.
public struct TextMatch: Hashable, Sendable {
  public let kind: Kind
  public let text: String
  public let options: Options

  public init(_ kind: Kind, _ text: String, _ options: Options = []) {
    self.kind = kind
    self.text = text
    self.options = options
  }

  public enum Kind: Hashable, Sendable, CaseIterable {
    /// The value begins with the text. Bytes of UTF-8 are compared, not characters, so `"e"` is a prefix of an e that is
    /// followed by a combining accent.
    case prefix
    case suffix
    /// The value contains the text; an array, without options, has it as an element.
    case contains
    /// The value equals the text, according to the options.
    case equals
    /// The whole value matches the text, in which `?` stands for one Unicode scalar and `*` for any number of them. After a
    /// backslash these, and the backslash, stand for themselves.
    case like
  }

  /// The differences that a match ignores.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Ignores case: both are mapped to lowercase as in case-insensitive keys, by Unicode's simple mapping of each scalar.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Ignores diacritics: both are decomposed canonically, and nonspacing marks are removed.
    public static let diacriticInsensitive = Options(rawValue: 2)
  }
}
