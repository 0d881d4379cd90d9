import Foundation
import FoundationXML
import Testing

/// An element of a drawing, as a reader of XML finds it.
struct DrawnElement {
  let name: String
  let attributes: [String: String]

  func number(_ attribute: String) -> Double { attributes[attribute].flatMap(Double.init) ?? .nan }
}

/// Reads a drawing.
///
/// - Returns: nil where it is not well-formed.
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

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    hasErred = true
  }
}
