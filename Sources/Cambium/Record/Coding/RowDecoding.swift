internal import FoundationEssentials

/// A record on its way from a key and a row through `init(from:)`.
///
/// Decoders and containers refer to it, and a type could keep one; so it knows the bytes only until the
/// record is there, and refuses afterwards. It has one owner at a time, and is used for one record after the other.
@safe final class RowDecoding: @unchecked Sendable {
  let layout: RowLayout
  let tree: CodingTree
  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var key = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  /// Its frame was checked.
  @exclusivity(unchecked) private var row = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  @exclusivity(unchecked) private var blobs: BlobFinder?
  @exclusivity(unchecked) private var isOpen = false

  init(layout: RowLayout, tree: CodingTree) {
    self.layout = layout
    self.tree = tree
  }

  /// - Throws: `.corrupt` where the bytes are no record; `.invalidValue`, naming the field, where the type
  ///   asks for something else than what is described, or has no such value.
  func decode<Subject: Record>(
    _ type: Subject.Type, key: RawSpan, row: RawSpan, blobs: BlobFinder?
  ) throws(StoreError) -> Subject {
    try check(key, row)
    unsafe self.blobs = blobs
    // The bytes outlive the closures, and after them nothing refers to them any more.
    return try unsafe key.withUnsafeBytes { key throws(StoreError) in
      try unsafe row.withUnsafeBytes { row throws(StoreError) in
        unsafe self.key = key
        unsafe self.row = row
        unsafe isOpen = true
        defer {
          unsafe isOpen = false
          unsafe self.blobs = nil
        }
        return try make(type)
      }
    }
  }

  private func check(_ key: RawSpan, _ row: RawSpan) throws(StoreError) {
    let layout = layout
    _ = try RowReader(key: key, row: row, layout: layout)
    var parts = KeyReader(key, layout: layout)
    for column in layout.key.columns { try parts.skip(column) }
    try parts.finish()
  }

  private func make<Subject: Record>(_ type: Subject.Type) throws(StoreError) -> Subject {
    do {
      return try Subject(from: RecordDecoder(self, tree.root))
    } catch let error as StoreError {
      throw error
    } catch {
      throw refusal(nil, "its type does not decode it: \(error)")
    }
  }

  func path(_ slot: CodingSlot) -> String { tree.entries[slot.number].path }

  func kind(_ slot: CodingSlot) -> CodingEntry.Kind { tree.entries[slot.number].kind }

  func refusal(_ slot: CodingSlot, _ reason: String) -> StoreError { refusal(path(slot), reason) }

  func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidValue(record: layout.record.name, field: field, reason: reason)
  }
}

// MARK: What is asked for

extension RowDecoding {
  private func checkOpen() throws(StoreError) {
    guard unsafe isOpen else { throw refusal(nil, "its decoder was used after it was decoded") }
  }

  func isNull(_ slot: CodingSlot) throws(StoreError) -> Bool {
    guard let bit = slot.place.nullBit else { return false }
    try checkOpen()
    let bits = unsafe row[RowLayout.nullsOffset &+ bit &>> 3]
    return bits & 1 &<< UInt8(truncatingIfNeeded: bit & 7) != 0
  }

  /// The value of a field whose column holds values of exactly this type, and not null.
  @inline(__always)
  func value<Value: ScalarValue>(
    _ type: Value.Type, of slot: CodingSlot
  ) throws(StoreError) -> Value {
    try checkOpen()
    guard slot.place.kind != .key else { return try keyValue(type, slot.place.index) }
    let layout = layout
    let key = unsafe RawSpan(_unsafeBytes: key)
    let row = unsafe RawSpan(_unsafeBytes: row)
    return try Value.get(
      from: RowReader(key: key, checkedRow: row, layout: layout), at: slot.place.index)
  }

  private func keyValue<Value: ScalarValue>(
    _ type: Value.Type, _ part: Int
  ) throws(StoreError) -> Value {
    let layout = layout
    var reader = unsafe KeyReader(RawSpan(_unsafeBytes: key), layout: layout)
    try reader.skip(part)
    return try Value.take(from: &reader, as: layout.key.columns[part].form)
  }

  /// Returns the bytes that a codec made.
  func bytes(of slot: CodingSlot) throws(StoreError) -> [UInt8] {
    try checkOpen()
    let layout = layout
    let key = unsafe RawSpan(_unsafeBytes: key)
    let row = unsafe RawSpan(_unsafeBytes: row)
    return RowReader(key: key, checkedRow: row, layout: layout).bytes(slot.place.index).array()
  }

  /// The value of an external field.
  func external(of slot: CodingSlot) throws(StoreError) -> Blob {
    try checkOpen()
    let (layout, blobs) = unsafe (layout, blobs)
    let key = unsafe RawSpan(_unsafeBytes: key)
    let row = unsafe RawSpan(_unsafeBytes: row)
    let reader = RowReader(key: key, checkedRow: row, layout: layout, blobs: blobs)
    let value = try reader.external(slot.place.index)
    return try reader.blob(value)
  }

  /// The elements of an array.
  func elements(of slot: CodingSlot, _ scalar: ScalarType) throws(StoreError) -> [FieldValue] {
    let bytes = try bytes(of: slot)
    guard let array = ArrayReader(bytes.rawSpan, of: scalar) else {
      throw rowFault("an array is none of \(scalar)")
    }
    var elements: [FieldValue] = []
    elements.reserveCapacity(array.count)
    for index in 0..<array.count {
      guard let element = FieldValue(scalar, rowBytes: array.element(index)) else {
        throw rowFault("an element of an array is no \(scalar)")
      }
      elements.append(element)
    }
    return elements
  }

  private func rowFault(_ reason: String) -> StoreError {
    layout.fault(key: unsafe RawSpan(_unsafeBytes: key), .rowValues, reason)
  }
}
