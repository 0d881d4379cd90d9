/// A picture of the report, and the name of its file.
public struct Plot: Equatable, Sendable {
  /// `latency.svg`
  public let fileName: String
  /// A description for readers who cannot see it.
  public let title: String
  public let svg: String

  /// - Parameter words: What to name the file after; whatever is not a letter or digit becomes a dash.
  init(_ words: [String], title: String, drawing: SVGDrawing) {
    fileName = Self.slug(words.joined(separator: " ")) + ".svg"
    self.title = title
    svg = drawing.text
  }

  private static func slug(_ text: String) -> String {
    let words = text.lowercased().split { character in
      !(character.isASCII && (character.isLetter || character.isNumber))
    }
    return words.joined(separator: "-")
  }
}
