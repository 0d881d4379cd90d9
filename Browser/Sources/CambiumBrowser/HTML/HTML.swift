/// A piece of HTML that is escaped by construction.
///
/// No function makes one from markup: a string always becomes text, and elements and attributes come from `Element` and
/// `Attribute`, which name nothing that runs or loads code. So a record cannot put markup into a page, whatever its values.
struct HTML: Hashable, Sendable {
  /// The markup, ready to be sent.
  let markup: String

  private init(markup: String) { self.markup = markup }

  /// Creates text, with the characters escaped that HTML would act on.
  init(_ text: String) { markup = Self.escaped(text) }

  /// Creates an element.
  ///
  /// - Parameters:
  ///   - attributes: The attributes, in the order in which they are written.
  ///   - address: The address that a link leads to, a form is sent to or a picture is read from. An address is never a string
  ///     of a record.
  init(
    _ element: Element, _ attributes: KeyValuePairs<Attribute, String>, to address: Address?,
    _ content: HTML
  ) {
    var tag = element.rawValue
    if let address { tag += " \(element.addressName)=\"\(Self.escaped(address.text))\"" }
    for (attribute, value) in attributes {
      tag += " \(attribute.rawValue)=\"\(Self.escaped(value))\""
    }
    markup = element.isVoid ? "<\(tag)>" : "<\(tag)>\(content.markup)</\(element.rawValue)>"
  }

  /// Creates the pieces, one after the other.
  init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

  /// Creates a document.
  static func document(_ root: HTML) -> HTML { HTML(markup: "<!DOCTYPE html>\n\(root.markup)\n") }

  /// Escapes bytes, not characters: a combining accent makes another character of `<`, which a browser still reads as `<`.
  /// Control characters become the pictures of them.
  private static func escaped(_ text: String) -> String {
    let needsNothing = text.utf8.allSatisfy { byte in
      byte >= 0x20 && byte != 0x7f && !"&<>\"'".utf8.contains(byte)
    }
    if needsNothing { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"): bytes.append(byte)
      // U+2400 to U+241F, in UTF-8.
      case ..<0x20: bytes += [0xe2, 0x90, 0x80 + byte]
      case 0x7f: bytes += "\u{2421}".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Returns an element with the content that a closure lists. Strings in it are text.
func element(
  _ element: Element, _ attributes: KeyValuePairs<Attribute, String> = [:],
  to address: Address? = nil, @HTMLBuilder _ content: () throws -> HTML
) rethrows -> HTML {
  HTML(element, attributes, to: address, try content())
}

/// Returns an element with attributes and a text, or with nothing in it.
func element(
  _ element: Element, _ attributes: KeyValuePairs<Attribute, String> = [:],
  to address: Address? = nil, _ text: String = ""
) -> HTML {
  HTML(element, attributes, to: address, HTML(text))
}

/// Returns an element with a text in it.
func element(_ element: Element, _ text: String) -> HTML {
  HTML(element, [:], to: nil, HTML(text))
}

/// Joins the pieces that a closure lists.
@resultBuilder enum HTMLBuilder {
  static func buildExpression(_ html: HTML) -> HTML { html }
  static func buildExpression(_ text: String) -> HTML { HTML(text) }
  static func buildBlock(_ pieces: HTML...) -> HTML { HTML(pieces) }
  static func buildArray(_ pieces: [HTML]) -> HTML { HTML(pieces) }
  static func buildOptional(_ piece: HTML?) -> HTML { piece ?? HTML([]) }
  static func buildEither(first piece: HTML) -> HTML { piece }
  static func buildEither(second piece: HTML) -> HTML { piece }
}
