extension RowReader {
  /// Checks all of a record: that every field has a value of its type, that what is null has no bytes but
  /// zeros, and that nothing follows the key.
  ///
  /// - Throws: `.corrupt` (K1, R3, R4, R5); `.missing`, `.io` of blobs.
  /// - Complexity: O(bytes); it takes several times what reading does.
  func check() throws(StoreError) {
    for (index, column) in layout.columns.enumerated() {
      if isNull(column.place) {
        try checkNull(column)
      } else if case .external(let type, _) = column.field.type {
        try checkExternal(column.place.index, of: type)
      } else if column.place.kind != .composite {
        _ = try value(index)
      }
    }
  }

  /// Checks that an external column has a value or refers to one. What it refers to is read where it is a string, and
  /// blobs can be found.
  private func checkExternal(_ column: Int, of type: ScalarType) throws(StoreError) {
    switch try external(column) {
    case .waiting: throw fault(.rowExternal, "an external value waits to be stored")
    case .inline(let bytes):
      if type == .string, String(validating: bytes, as: UTF8.self) == nil {
        throw fault(.rowValues, "a string is not UTF-8")
      }
    case .reference(let reference):
      guard type == .string, let blob = try blobs?.blob(reference) else { return }
      if try !blob.isUTF8 { throw fault(.rowValues, "a string in a blob is not UTF-8") }
    }
  }

  private func checkNull(_ column: Column) throws(StoreError) {
    let isEmpty =
      switch column.place.kind {
      case .fixed: row.part(column.place.index, column.field.type.fixedWidth ?? 0).isZero
      case .variable: bytes(column.place.index).byteCount == 0
      case .key, .composite: true
      }
    guard isEmpty else { throw fault(.rowNulls, "\(column.field.name) is null and has bytes") }
  }
}

extension Blob {
  /// Whether the content is UTF-8. It is read in pieces.
  var isUTF8: Bool {
    get throws(StoreError) {
      let reader = try reader()
      var bytes: [UInt8] = []
      while let piece = try reader.read(upTo: BlobLayout.frameLength) {
        bytes += piece
        let end = bytes.count - bytes.brokenOffCount
        guard String(validating: bytes[..<end], as: UTF8.self) != nil else { return false }
        bytes.removeFirst(end)
      }
      return bytes.isEmpty
    }
  }
}

extension [UInt8] {
  /// The bytes at the end that are the beginning of a character.
  fileprivate var brokenOffCount: Int {
    for length in 1...3 where length <= count {
      let byte = self[count - length]
      if byte & 0b1100_0000 == 0b1000_0000 { continue }
      let needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
      return needed > length ? length : 0
    }
    return 0
  }
}
