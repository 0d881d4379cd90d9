import Cambium

/// The value of a field in a table: in one line, with a link where it leads to a record.
struct Cell {
  let value: FieldValue
  let field: FieldSchema
  /// The texts by which people know the records that a reference leads to, in the order of the reference's elements.
  var labels: [String?] = []

  /// The longest text of a cell, in characters.
  private static let widthMax = 90
  /// The most elements of a list that are shown.
  private static let elementsMax = 6

  /// The cell of a table.
  var html: HTML {
    element(.td, value.isNumber && field.reference == nil ? [.kind: "number"] : [:]) { content }
  }

  /// - Throws: nothing: a string that cannot be read is shown as such.
  private var content: HTML {
    if value == .null { return element(.span, [.kind: "null"], "–") }
    if let reference = field.reference { return links(to: reference) }
    switch value {
    case .blob(let blob) where field.type.isString:
      let beginning = (try? blob.beginning(4 * Self.widthMax))?.text
      return HTML((beginning ?? "cannot be read").shortened(to: Self.widthMax))
    case .blob, .data: return element(.span, [.kind: "size"], value.plainText)
    default: return HTML(value.plainText.shortened(to: Self.widthMax))
    }
  }

  private func links(to reference: ReferenceSchema) -> HTML {
    let elements = value.elements
    let shown = elements.prefix(Self.elementsMax).enumerated().map { place, key in
      element(
        .a, to: RecordKey(type: reference.destination, parts: [key]).address()
      ) {
        (labels.indices.contains(place) ? labels[place] : nil)?.shortened(to: Self.widthMax)
          ?? key.plainText
      }
    }
    return HTML(
      shown.enumerated().flatMap { $0 == 0 ? [$1] : [HTML(", "), $1] }
        + (elements.count > shown.count ? [HTML(" and \(elements.count - shown.count) more")] : []))
  }
}
