/// Places the fields of a record, by number.
struct RowLayoutBuilder {
  private let record: RecordSchema
  private let version: UInt32
  private(set) var columns: [Column] = []
  private(set) var indexByNumber: [UInt32: Int] = [:]
  private(set) var indexByName: [String: Int] = [:]
  private(set) var fixedEnd = 0
  private(set) var variableCount = 0
  private(set) var impliedNulls: [(composite: Int, part: Int)] = []

  private var keyParts: [UInt32: Int] = [:]
  /// The bit of each optional field, by the field's place.
  private var bits: [Int: Int] = [:]
  /// The place of the composite that each field is a part of.
  private var composites: [Int?] = []
  /// The places of the parts of each composite.
  private var parts: [Int: [Int]] = [:]
  /// The bits of each optional field and of all in it, ascending.
  private var bitsBelow: [Int: [Int]] = [:]

  init(_ record: RecordSchema, version: UInt32) {
    self.record = record
    self.version = version
  }

  mutating func placeAll() throws(StoreError) {
    try findFields()
    try findComposites()
    for (index, field) in record.fields.enumerated() where field.isOptional {
      let bit = bits.count
      bits[index] = bit
      for place in outwards(from: index) where record.fields[place].isOptional {
        bitsBelow[place, default: []].append(bit)
      }
    }
    try findKeyParts()
    fixedEnd = RowLayout.nullsOffset + nullByteCount
    for index in record.fields.indices { columns.append(column(at: index)) }
  }

  var nullByteCount: Int { (bits.count + 7) / 8 }

  var unusedNulls: UInt8 {
    bits.count % 8 == 0 ? 0 : UInt8.max << UInt8(bits.count % 8)
  }
}

extension RowLayoutBuilder {
  private mutating func findFields() throws(StoreError) {
    for (index, field) in record.fields.enumerated() {
      let isNew =
        indexByNumber.updateValue(index, forKey: field.number) == nil
        && indexByName.updateValue(index, forKey: field.name) == nil
      guard isNew else { throw refusal(field.name, "another field has its number or name") }
    }
  }

  private mutating func findKeyParts() throws(StoreError) {
    for (index, part) in record.primaryKey.enumerated() {
      guard let place = indexByNumber[part.field] else {
        throw refusal(nil, "a part of the primary key is no field")
      }
      let field = record.fields[place]
      guard field.type.canBeKey, nullBit(of: place) == nil else {
        throw refusal(field.name, "what is \(field.type), or optional, cannot be in a primary key")
      }
      guard keyParts.updateValue(index, forKey: part.field) == nil else {
        throw refusal(field.name, "it is twice in the primary key")
      }
    }
    for index in record.indexes {
      for part in index.parts {
        guard let place = indexByNumber[part.field], record.fields[place].type.canBeKey else {
          throw refusal(nil, "the index \(index.name) has a part that cannot be in a key")
        }
      }
    }
  }

  private mutating func column(at index: Int) -> Column {
    let field = record.fields[index]
    if let bit = bits[index], let outer = composites[index].flatMap(nullBit) {
      impliedNulls.append((outer, bit))
    }
    return Column(
      field: field, scalar: field.type.scalar, place: place(field, nullBit: nullBit(of: index)),
      nullBits: bitsBelow[index] ?? [], parts: parts[index] ?? [])
  }

  private mutating func place(_ field: FieldSchema, nullBit: Int?) -> ColumnPlace {
    if let part = keyParts[field.number] {
      return ColumnPlace(.key, index: part, nullBit: nil)
    }
    if field.type == .composite {
      return ColumnPlace(.composite, index: 0, nullBit: nullBit)
    }
    if let width = field.type.fixedWidth {
      defer { fixedEnd += width }
      return ColumnPlace(.fixed, index: fixedEnd, nullBit: nullBit)
    }
    defer { variableCount += 1 }
    return ColumnPlace(.variable, index: variableCount, nullBit: nullBit)
  }
}

// MARK: Composites

extension RowLayoutBuilder {
  /// Finds the composite that has each field as a part.
  private mutating func findComposites() throws(StoreError) {
    for (place, field) in record.fields.enumerated() {
      guard let number = field.composite else {
        composites.append(nil)
        continue
      }
      guard let index = indexByNumber[number], record.fields[index].type == .composite else {
        throw refusal(field.name, "it is a part of what is no composite")
      }
      composites.append(index)
      parts[index, default: []].append(place)
    }
    try checkEnds()
  }

  /// Throws where a field is a part of itself, by whatever way.
  private func checkEnds() throws(StoreError) {
    var isWithinOutermost = composites.map { $0 == nil }
    for index in record.fields.indices {
      var way: Set<Int> = []
      var next = index
      while !isWithinOutermost[next] {
        guard way.insert(next).inserted, let outer = composites[next] else {
          throw refusal(record.fields[index].name, "it is a part of itself")
        }
        next = outer
      }
      for place in way { isWithinOutermost[place] = true }
    }
  }

  /// The field and all that it is in. There are not many: the names of composites are in those of their parts.
  private func outwards(from index: Int) -> [Int] {
    var found: [Int] = []
    var next: Int? = index
    while let place = next {
      found.append(place)
      next = composites[place]
    }
    return found
  }

  /// The bit of the nearest that is optional: the field, or a composite that it is in.
  private func nullBit(of index: Int) -> Int? {
    outwards(from: index).lazy.compactMap { bits[$0] }.first
  }

  private func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: record.name, field: field, version: Int(version), reason: reason)
  }
}
