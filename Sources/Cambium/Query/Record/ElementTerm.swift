internal import FoundationEssentials

/// An element that an array column is to have.
struct ElementTerm: Sendable {
  private let type: ScalarType
  private let element: Element

  private enum Element: Sendable {
    case double(Double)
    /// The bytes of a value as a row has it.
    case bytes([UInt8])
  }

  /// - Returns: nil for a value that is not of the type.
  init?(_ value: FieldValue, of type: ScalarType) {
    self.type = type
    switch value {
    case .float(let value): element = .double(Double(value))
    case .double(let value): element = .double(value)
    case .date(let value): element = .double(value.timeIntervalSinceReferenceDate)
    default:
      guard let bytes = type.swiftType.rowBytes(of: value) else { return nil }
      element = .bytes(bytes)
    }
  }

  /// - Throws: `.corrupt` where the bytes are no array of the type's.
  func isFound(in bytes: RawSpan, _ record: RowReader) throws(StoreError) -> Bool {
    guard let array = ArrayReader(bytes, of: type) else {
      throw record.fault(.rowValues, "an array is not whole elements")
    }
    for index in 0..<array.count where isSame(array.element(index)) { return true }
    return false
  }

  private func isSame(_ bytes: RawSpan) -> Bool {
    switch element {
    case .bytes(let element): return bytes.equals(element.rawSpan)
    case .double(let element):
      let value =
        type == .float
        ? Double(Float(bitPattern: bytes.load(0, as: UInt32.self)))
        : Double(bitPattern: bytes.load(0, as: UInt64.self))
      return value == element
    }
  }
}
