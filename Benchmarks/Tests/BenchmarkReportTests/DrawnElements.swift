import Foundation
import FoundationXML
import Testing

@testable import BenchmarkReport

/// An element of a drawing, as a reader of XML finds it.
struct DrawnElement {
  let name: String
  let attributes: [String: String]
  /// The text between its tags.
  var text = ""

  func number(_ attribute: String) -> Double { attributes[attribute].flatMap(Double.init) ?? .nan }

  /// The approximate left and right edges of a text.
  var extent: (start: Double, end: Double) {
    let length = SVGDrawing.width(
      of: text, size: number("font-size"), isBold: attributes["font-weight"] == "bold")
    let x = number("x")
    return switch attributes["text-anchor"] {
    case "end": (x - length, x)
    case "middle": (x - length / 2, x + length / 2)
    default: (x, x + length)
    }
  }
}

/// Reads a drawing.
///
/// - Returns: nil if it is not well-formed.
func drawnElements(of svg: String) -> [DrawnElement]? {
  let parser = XMLParser(data: Data(svg.utf8))
  let collector = ElementCollector()
  parser.delegate = collector
  let isRead = parser.parse() && parser.parserError == nil && !collector.hasErred
  return isRead && collector.openCount == 0 ? collector.elements : nil
}

private final class ElementCollector: NSObject, XMLParserDelegate {
  private(set) var elements: [DrawnElement] = []
  private(set) var openCount = 0
  private(set) var hasErred = false

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    elements.append(DrawnElement(name: name, attributes: attributes))
    openCount += 1
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    openCount -= 1
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    guard !elements.isEmpty else { return }
    elements[elements.count - 1].text += string.trimmingCharacters(in: .newlines)
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    hasErred = true
  }
}
