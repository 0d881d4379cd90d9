import Testing

@testable import Cambium

/// A table of `FORMAT.md` that says where the fields of a structure are.
struct ByteTable {
  private struct Row {
    let field: String
    /// Nil for `next`.
    let offset: Int?
    /// Nil for a size that differs.
    let size: Int?
  }

  private let heading: String
  private let rows: [Row]

  init(_ heading: String, in document: FormatDocument) throws {
    self.heading = heading
    rows = try document.table(heading).map { row in
      guard let field = row["field"], let offset = row["offset"], let size = row["size"],
        offset == "next" || Int(offset) != nil, size == "–" || Int(size) != nil
      else { throw Disagreement(description: "no row of a byte table: \(row)") }
      return Row(field: field, offset: Int(offset), size: Int(size))
    }
  }

  /// Compares the table with `bytes`, a structure that the code encoded, whose fields are known.
  ///
  /// - Parameters:
  ///   - start: Where the first field is.
  ///   - fields: all of the table's, in its order.
  func verify(
    _ bytes: Bytes, from start: Int = 0, _ fields: KeyValuePairs<String, Bytes>
  ) throws {
    try agree(rows.map(\.field) == fields.map(\.key), "“\(heading)” has \(rows.map(\.field))")
    var end = start
    for (row, field) in zip(rows, fields.map(\.value)) {
      let name = "\(row.field) of “\(heading)”"
      if let offset = row.offset { try agree(offset == end, "\(name): \(end), not \(offset)") }
      if let size = row.size { try agree(size == field.count, "\(name): \(field.count) bytes") }
      let found = bytes[min(end, bytes.count)..<min(end + field.count, bytes.count)]
      try agree(Bytes(found) == field, "\(name) is \(Bytes(found)), not \(field)")
      end += field.count
    }
    try agree(end == bytes.count, "“\(heading)” ends at \(end), the structure at \(bytes.count)")
  }
}

/// An integer as the document says it is stored.
func little(_ value: UInt64, _ size: Int) -> Bytes {
  (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
}
