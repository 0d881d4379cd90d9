internal import FoundationEssentials

/// A record on its way through `encode(to:)` into a key and a row.
///
/// Values come in the order of the type's own; those of variable columns and of the key wait until all are
/// there. It has one owner at a time, and is used for one record after the other.
final class RowEncoding: @unchecked Sendable {
  let layout: RowLayout
  let tree: CodingTree
  // One owner uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var row = RowWriter()
  @exclusivity(unchecked) private var key = KeyEncoder()
  /// For each column, whether a value came.
  @exclusivity(unchecked) private var arrived: [Bool]
  /// The part of the key that is to come next, and what came too early.
  @exclusivity(unchecked) private var keyPart = 0
  @exclusivity(unchecked) private var keyValues: [Int: FieldValue] = [:]
  /// The bytes of variable columns.
  @exclusivity(unchecked) private var pending = PendingBytes()
  @exclusivity(unchecked) private var variables: [Range<Int>]
  @exclusivity(unchecked) private var arrays: [Int: ArrayWriter] = [:]
  /// The values of external columns, by their places among the variable ones.
  @exclusivity(unchecked) private var externals: [Int: Blob] = [:]
  /// The error of a container that cannot throw.
  @exclusivity(unchecked) private var failure: StoreError?

  init(layout: RowLayout, tree: CodingTree) {
    self.layout = layout
    self.tree = tree
    unsafe arrived = Array(repeating: false, count: layout.columns.count)
    unsafe variables = Array(repeating: 0..<0, count: layout.variableCount)
  }

  /// Encodes a record.
  ///
  /// - Throws: `.invalidValue`, naming the field, for what the description does not say of the type.
  func encode<Subject: Record>(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    unsafe self.row = row
    unsafe self.key = key
    begin()
    do {
      try record.encode(to: RecordEncoder(self, tree.root))
    } catch let error as StoreError {
      throw error
    } catch {
      throw refusal(nil, "its type does not encode it: \(error)")
    }
    if let failure = unsafe failure { throw failure }
    try finishNulls()
    try finishKey()
    do throws(StoreError) {
      try finishVariables()
    } catch {
      throw row.naming(error, key.key, layout)
    }
    row.finish()
  }

  private func begin() {
    unsafe row.begin(layout)
    unsafe key.begin()
    unsafe keyPart = 0
    unsafe pending.removeAll()
    unsafe failure = nil
    if unsafe !externals.isEmpty { unsafe externals = [:] }
    for index in unsafe arrived.indices { unsafe arrived[index] = false }
    for index in unsafe variables.indices { unsafe variables[index] = 0..<0 }
  }
}

// MARK: What comes

extension RowEncoding {
  /// Takes the value of a field whose column holds values of exactly its type.
  @inline(__always)
  func put<Value: ScalarValue>(_ value: Value, in slot: CodingSlot) throws(StoreError) {
    unsafe arrived[slot.column] = true
    switch slot.place.kind {
    case .fixed: try unsafe value.put(in: row, at: slot.place.index)
    case .key: try putKey(value, slot.place.index)
    case .variable:
      let start = unsafe pending.count
      unsafe value.append(to: &pending)
      unsafe variables[slot.place.index] = unsafe start..<pending.count
    case .composite: break
    }
  }

  private func putKey<Value: ScalarValue>(_ value: Value, _ part: Int) throws(StoreError) {
    guard unsafe part == keyPart else {
      unsafe keyValues[part] = value.fieldValue
      return
    }
    try unsafe value.append(to: key, as: layout.key.columns[part], of: layout)
    unsafe keyPart += 1
  }

  func put(_ bytes: [UInt8], in slot: CodingSlot) {
    unsafe arrived[slot.column] = true
    let start = unsafe pending.count
    unsafe pending.append(bytes.rawSpan)
    unsafe variables[slot.place.index] = unsafe start..<pending.count
  }

  func put(_ blob: Blob, in slot: CodingSlot) {
    unsafe arrived[slot.column] = true
    unsafe externals[slot.place.index] = blob
  }

  func putNull(in slot: CodingSlot) throws(StoreError) {
    guard slot.isOptional else { throw refusal(slot, "it is nil, but not optional") }
    if slot.column >= 0 { unsafe arrived[slot.column] = false }
  }

  func beginComposite(_ slot: CodingSlot) { unsafe arrived[slot.column] = true }

  func beginArray(_ slot: CodingSlot, of scalar: ScalarType) {
    unsafe arrived[slot.column] = true
    unsafe arrays[slot.place.index] = ArrayWriter(of: scalar)
  }

  /// Appends to an array that was begun.
  func append<Value: ScalarValue>(_ value: Value, to slot: CodingSlot) {
    guard var writer = unsafe arrays.removeValue(forKey: slot.place.index) else { return }
    value.append(to: &writer)
    unsafe arrays[slot.place.index] = writer
  }

  func path(_ slot: CodingSlot) -> String { tree.entries[slot.number].path }

  func kind(_ slot: CodingSlot) -> CodingEntry.Kind { tree.entries[slot.number].kind }

  func refusal(_ slot: CodingSlot, _ reason: String) -> StoreError {
    refusal(path(slot), reason)
  }

  func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidValue(record: layout.record.name, field: field, reason: reason)
  }

  /// Notes a refusal where it cannot be thrown.
  func refuse(_ field: String?, _ reason: String) {
    if unsafe failure == nil { unsafe failure = refusal(field, reason) }
  }
}

// MARK: When all came

extension RowEncoding {
  private func finishNulls() throws(StoreError) {
    for index in unsafe arrived.indices where unsafe !arrived[index] {
      let column = layout.columns[index]
      if column.field.isOptional {
        unsafe row.setNull(column)
      } else if !isInNull(column.field) {
        throw refusal(column.field.name, "it is not encoded, and not optional")
      }
    }
  }

  private func isInNull(_ field: FieldSchema) -> Bool {
    guard let outer = field.composite.flatMap({ layout.index(number: $0) }) else { return false }
    return unsafe !arrived[outer] || isInNull(layout.columns[outer].field)
  }

  private func finishVariables() throws(StoreError) {
    if unsafe !arrays.isEmpty { finishArrays() }
    for index in unsafe variables.indices {
      if unsafe !externals.isEmpty, let blob = unsafe externals[index] {
        try unsafe row.append(blob, to: index)
        continue
      }
      let range = unsafe variables[index]
      if !range.isEmpty { try unsafe pending.put(range, in: row, at: index) }
    }
  }

  private func finishArrays() {
    for index in unsafe Array(arrays.keys) {
      guard var writer = unsafe arrays.removeValue(forKey: index) else { continue }
      let start = unsafe pending.count
      unsafe pending.append(writer.finish().rawSpan)
      unsafe variables[index] = unsafe start..<pending.count
    }
  }

  private func finishKey() throws(StoreError) {
    while unsafe keyPart < layout.key.columns.count {
      guard let value = unsafe keyValues.removeValue(forKey: keyPart) else { break }
      try unsafe key.append(value, layout.key.columns[keyPart], of: layout)
      unsafe keyPart += 1
    }
    try unsafe key.finishPrimaryKey(of: layout)
  }
}
