// The bytes of what is pending: an entry for each step of each record, and one for each index.
//
//     key    01 │ version that the step leads to │ record         big-endian
//     value  version that it comes from │ count │ numbers of fields │ a row that has their values
//
//     key    02 │ index                                           big-endian
//     value  the primary key up to which it has all entries

extension PendingSteps {
  private static var stepTag: UInt8 { 1 }
  private static var buildTag: UInt8 { 2 }

  /// The entry of an index.
  static func key(ofIndex number: UInt32) -> [UInt8] {
    var key = [buildTag]
    key.append(integer: number.byteSwapped)
    return key
  }

  /// - Parameter schemas: Of all versions.
  /// - Throws: `.invalidValue` for a default that no column can hold; `.limitExceeded`.
  func entries(
    _ schemas: [Schema]
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    for step in steps {
      var key = [Self.stepTag]
      key.append(integer: step.to.byteSwapped)
      key.append(integer: step.record.byteSwapped)
      entries.append((key, try Self.value(of: step, schemas)))
    }
    for (index, end) in builds.sortedRarely(by: { $0.key < $1.key }) {
      entries.append((Self.key(ofIndex: index), end))
    }
    return entries
  }

  private static func value(
    of step: PendingStep, _ schemas: [Schema]
  ) throws(StoreError) -> [UInt8] {
    let numbers = step.defaults.keys.sortedRarely()
    var bytes: [UInt8] = []
    bytes.append(integer: step.from)
    bytes.append(integer: UInt32(numbers.count))
    for number in numbers { bytes.append(integer: number) }
    let layout = try layout(of: step.record, schemas, step.to)
    let writer = RowWriter()
    writer.begin(layout)
    for column in layout.columns {
      guard let value = step.defaults[column.field.number] else { continue }
      try writer.set(value, of: column, in: layout)
    }
    writer.finish()
    bytes.append(writer.row)
    return bytes
  }

  private static func layout(
    of record: UInt32, _ schemas: [Schema], _ version: UInt32
  ) throws(StoreError) -> RowLayout {
    guard let schema = schemas.first(where: { $0.version == version }),
      let record = schema.record(number: record)
    else { throw fault("version \(version) has no record \(record)") }
    return try RowLayout(record, version: version)
  }
}

// MARK: Reading

extension PendingSteps {
  /// Reads what a state says, which may be anything.
  ///
  /// - Parameter schemas: Of all versions.
  /// - Throws: `.corrupt` (M1), `.io`.
  init(
    reading trees: TreeAccess, _ tree: TreeSlot, _ schemas: [Schema]
  ) throws(StoreError) {
    if try trees.count(in: tree) == 0 { return }
    let cursor = try trees.cursor(in: tree)
    while try cursor.advance() {
      try read(cursor.key.array(), try cursor.value(), schemas)
    }
  }

  mutating func read(
    _ key: [UInt8], _ value: RawSpan, _ schemas: [Schema]
  ) throws(StoreError) {
    switch (key.first, key.count) {
    case (Self.stepTag, 9):
      let to = key.rawSpan.load(1, as: UInt32.self).byteSwapped
      let record = key.rawSpan.load(5, as: UInt32.self).byteSwapped
      steps.append(try Self.step(value, to: to, record, key, schemas))
    case (Self.buildTag, 5):
      let index = key.rawSpan.load(1, as: UInt32.self).byteSwapped
      let isThere = schemas.last?.records.contains { $0.indexes.contains { $0.number == index } }
      guard isThere ?? false else { throw Self.fault("there is no index \(index)", key) }
      builds[index] = value.array()
    default: throw Self.fault("its key is neither of a step nor of an index", key)
    }
  }

  private static func step(
    _ value: RawSpan, to: UInt32, _ record: UInt32, _ key: [UInt8], _ schemas: [Schema]
  ) throws(StoreError) -> PendingStep {
    var reader = ByteReader(
      value, at: .entry(tree: treeName, key: key), invariant: .pendingSteps)
    let from = try reader.integer(UInt32.self)
    guard from < to else { throw reader.fault("a step from version \(from) to \(to)") }
    var numbers: [UInt32] = []
    for _ in 0..<(try reader.integer(UInt32.self)) {
      numbers.append(try reader.integer(UInt32.self))
    }
    let layout = try layout(of: record, schemas, to)
    let rowBytes = try reader.run(reader.remaining)
    var defaults: [UInt32: FieldValue] = [:]
    do throws(StoreError) {
      let key: [UInt8] = []
      let row = try RowReader(key: key.rawSpan, row: rowBytes, layout: layout)
      for number in numbers {
        guard let index = layout.index(number: number),
          [.fixed, .variable].contains(layout.columns[index].place.kind)
        else { throw fault("field \(number) is none that has bytes") }
        defaults[number] = try row.value(index)
      }
    } catch {
      throw fault("what fields get is no row: \(error)", key)
    }
    guard !defaults.values.contains(.null), defaults.count == numbers.count else {
      throw reader.fault("a field gets no value, or two")
    }
    return PendingStep(from: from, to: to, record: record, defaults: defaults)
  }
}
