/// What a text has to look like.
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
    /// It begins with the text: bytes of UTF-8, not characters, so `"e"` is a prefix of an e with an accent
    /// of its own.
    case prefix
    case suffix
    /// Of an array, without options, that it has the text as an element.
    case contains
    /// As a comparison, but with options.
    case equals
    /// All of it is the text, in which `?` stands for one Unicode scalar and `*` for any number of them.
    /// A backslash before either, or before itself, lets it stand for itself.
    case like
  }

  /// What makes no difference.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Both are made lowercase, as in keys without case: by Unicode's simple mapping of each scalar.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Both are decomposed canonically, and lose their nonspacing marks.
    public static let diacriticInsensitive = Options(rawValue: 2)
  }
}
