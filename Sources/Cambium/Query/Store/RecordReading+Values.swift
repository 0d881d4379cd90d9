#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Results of queries besides the records themselves: values of some properties, groups, sums.

extension RecordReading where Self: ~Copyable {
  /// Returns properties of a query's records, as tuples. Only those properties are read, unless one is a composite, in an
  /// optional one, or computed, or the type has a hook after loading or its own coding.
  ///
  /// ```swift
  /// for (name, age) in try store.select(\.name, \.age, from: adults) { … }
  /// ```
  ///
  /// - Throws: as `fetch(_:after:)`.
  public func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    var properties: [PlacedProperty] = []
    for field in repeat each fields { properties.append(PlacedProperty(field)) }
    let values = try recordReader().values(properties, from: query)
    var layout = TupleLayout()
    repeat layout.append((each Value).self)
    let tuples: [(repeat each Value)]? = try values.tuples(layout)
    if let tuples { return tuples }
    var rows: [(repeat each Value)] = []
    while try values.next() { rows.append((repeat try values.value(each fields))) }
    return rows
  }

  /// Returns the different values of properties among a query's records: in the order of the query, each where the first
  /// record with it is; sorted by the properties if the query has no order.
  ///
  /// - Complexity: Linear in the query's records; memory for each value once.
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order.
  public func distinct<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    var properties: [PlacedProperty] = []
    for field in repeat each fields { properties.append(PlacedProperty(field)) }
    return try recordReader().distinct(query, properties) { values in
      (repeat try values.value(each fields))
    }
  }
}

extension RecordReader {
  /// - Parameter key: Returns the values of the first record that has them.
  fileprivate func distinct<Subject: Record, Key>(
    _ query: Query<Subject>, _ properties: [PlacedProperty],
    key: (FieldValues<Subject>) throws -> Key
  ) throws -> [Key] {
    let type = try entities.type(Subject.self)
    var fields: [FieldExpression] = []
    for property in properties { fields.append(.field(try type.field(of: property.reference))) }
    var grouping = try RecordGrouping(type, by: fields, [], in: self)
    let isInOrder = !query.order.isEmpty
    let found = try find(query, of: type, for: isInOrder ? .records : .recordsInAnyOrder)
    let values = FieldValues(type, found, type.places(of: properties))
    var keys: [Key] = []
    while try found.next(where: { row throws(StoreError) in try grouping.add(found.key, row) }) {
      values.begin()
      keys.append(try key(values))
    }
    return isInOrder ? keys : grouping.sorted.map { keys[$0] }
  }

  fileprivate func values<Subject: Record>(
    _ properties: [PlacedProperty], from query: Query<Subject>
  ) throws(StoreError) -> FieldValues<Subject> {
    let type = try entities.type(Subject.self)
    let places = type.places(of: properties)
    let isInKeys = places?.allSatisfy(\.isInKey) ?? false
    let found = try find(query, of: type, for: isInKeys ? .keys : .records)
    return FieldValues(type, found, places)
  }
}

// MARK: - Reading

/// A property that a key path names, if the values of the key path are as they are stored.
private struct PlacedProperty {
  let reference: PropertyReference
  let isOfType: Bool

  init<Subject, Value>(_ path: KeyPath<Subject, Value>) {
    reference = PropertyReference(path)
    isOfType = reference.type == ObjectIdentifier(Value.self)
  }
}

extension RecordType {
  /// Returns where the properties are read without the rest of their record; nil if one is read only with it.
  fileprivate func places(of properties: [PlacedProperty]) -> [PropertyPlace]? {
    guard afterLoad == nil, plan.coding == nil else { return nil }
    var places: [PropertyPlace] = []
    for property in properties {
      guard property.isOfType, let field = self.properties.field(of: property.reference),
        let column = layout.index(named: field),
        let place = plan.place(of: property.reference, column: column)
      else { return nil }
      places.append(place)
    }
    return places
  }
}

/// The values of some properties of the records that a query has found, one record after the other.
private final class FieldValues<Subject: Record> {
  private let type: RecordType<Subject>
  private let found: FoundRecords
  /// Nil if records are read as wholes.
  private let places: [PropertyPlace]?
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The number of values of the present record that were read.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var record: Subject?

  init(_ type: RecordType<Subject>, _ found: FoundRecords, _ places: [PropertyPlace]?) {
    self.type = type
    self.found = found
    self.places = places
  }

  /// Moves to the next record. False after the last.
  func next() throws(StoreError) -> Bool {
    begin()
    return try found.next()
  }

  /// Begins with the record that was found last.
  func begin() {
    unsafe count = 0
    unsafe record = nil
  }

  /// Returns the value of the next of the properties, to which `path` leads.
  func value<Value>(_ path: KeyPath<Subject, Value>) throws -> Value {
    guard let places else { return try whole()[keyPath: path] }
    let place = unsafe places[count]
    unsafe count += 1
    let (found, plan) = (found, type.plan)
    do throws(StoreError) {
      return try unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) {
        buffer throws(StoreError) in
        guard let memory = buffer.baseAddress else {
          preconditionFailure("an allocation of one value has an address")
        }
        let property = UnsafeMutableRawPointer(memory)
        if place.isInKey {
          try unsafe plan.read(
            property: property, at: place, key: found.key, row: found.key, blobs: found.blobs)
        } else {
          try unsafe plan.read(
            property: property, at: place, key: found.key, row: try found.row(),
            blobs: found.blobs)
        }
        return unsafe memory.move()
      }
    } catch {
      throw type.unreadable(error, key: found.key)
    }
  }

  private func whole() throws -> Subject {
    if let record = unsafe record { return record }
    let found = found
    let record = try type.load(key: found.key, row: try found.row(), blobs: found.blobs)
    unsafe self.record = record
    return record
  }
}

// MARK: - Tuples

/// The places of values in a tuple of them: one after the other, each aligned.
private struct TupleLayout {
  private(set) var offsets: [Int] = []
  private(set) var size = 0

  mutating func append<Value>(_ type: Value.Type) {
    let alignment = MemoryLayout<Value>.alignment
    let offset = (size + alignment - 1) / alignment * alignment
    offsets.append(offset)
    size = offset + MemoryLayout<Value>.size
  }
}

extension FieldValues {
  /// The numbers of tuples that are read at once: few at first, since no more may be there.
  private static var sizes: (first: Int, most: Int) { (16, 4_096) }

  /// Returns the values of all records. Each is read to its place in a tuple of the array, so that the types of the tuple are
  /// not needed again for each record.
  ///
  /// - Returns: nil if records are read as wholes.
  func tuples<Tuple>(_ layout: TupleLayout) throws -> [Tuple]? {
    guard let places, layout.size == MemoryLayout<Tuple>.size else { return nil }
    var (tuples, size, isOver): ([Tuple], Int, Bool) = ([], Self.sizes.first, false)
    while !isOver {
      let batch = try unsafe [Tuple](unsafeUninitializedCapacity: size) { buffer, count in
        guard let first = buffer.baseAddress else { return }
        let memory = UnsafeMutableRawPointer(first)
        let stride = MemoryLayout<Tuple>.stride
        isOver = try unsafe !read(
          places, to: memory, at: layout.offsets, stride: stride, upTo: size, &count)
      }
      if isOver, tuples.isEmpty { return batch }
      tuples.append(contentsOf: batch)
      size = min(2 * size, Self.sizes.most)
    }
    return tuples
  }

  /// Reads the values of the next records, until there are `size`. False after the last record.
  ///
  /// - Parameter count: The number of tuples that are whole, also if this throws.
  private func read(
    _ places: [PropertyPlace], to memory: UnsafeMutableRawPointer, at offsets: [Int], stride: Int,
    upTo size: Int, _ count: inout Int
  ) throws(StoreError) -> Bool {
    let found = found
    if places.allSatisfy(\.isInKey) {
      while count < size {
        guard try found.next() else { return false }
        try unsafe readKey(places, to: memory + count * stride, at: offsets)
        count += 1
      }
      return true
    }
    return try found.next(where: { row throws(StoreError) in
      try unsafe readRow(row, places, to: memory + count * stride, at: offsets)
      count += 1
      return count == size
    })
  }

  private func readKey(
    _ places: [PropertyPlace], to tuple: UnsafeMutableRawPointer, at offsets: [Int]
  ) throws(StoreError) {
    let (found, plan) = (found, type.plan)
    do throws(StoreError) {
      try unsafe plan.read(places, to: tuple, at: offsets, key: found.key)
    } catch {
      throw type.unreadable(error, key: found.key)
    }
  }

  private func readRow(
    _ row: RawSpan, _ places: [PropertyPlace], to tuple: UnsafeMutableRawPointer,
    at offsets: [Int]
  ) throws(StoreError) {
    let (found, plan) = (found, type.plan)
    do throws(StoreError) {
      try unsafe plan.read(
        places, to: tuple, at: offsets, key: found.key, row: row, blobs: found.blobs)
    } catch {
      throw type.unreadable(error, key: found.key)
    }
  }
}

// MARK: - Sums and the like, in which null is left out

extension RecordReading where Self: ~Copyable {
  /// Returns the sum of a property; 0 for no records. Integers add up to an `Int`, `Float` and `Double` to a `Double`,
  /// decimals to a `Decimal`.
  ///
  /// - Complexity: Linear in the records; no record is decoded.
  /// - Throws: as `count(_:)`; `StoreError.invalidQuery` for a sum of integers that is beyond an `Int`.
  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws(StoreError) -> Value.Total {
    let reader = try recordReader()
    let sum = try reader.sum(PropertyReference(field), of: query)
    guard let total = sum.total.flatMap({ Value.Total(fieldValue: $0) }) else {
      throw try reader.entities.type(Subject.self).sumTooLarge
    }
    return total
  }

  /// Returns the average of a property; nil for no records.
  ///
  /// - Throws: as `count(_:)`.
  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws(StoreError) -> Value.Average? {
    let sum = try recordReader().sum(PropertyReference(field), of: query)
    return sum.average.flatMap { Value.Average(fieldValue: $0) }
  }

  /// Returns the lowest value of a property that is not NaN, in the order of sorting; nil if there is none.
  ///
  /// - Complexity: O(log records) if an index has them in that order; otherwise linear.
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order.
  public func min<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(by: PropertyReference(field), isDescending: false, of: query)?[
      keyPath: field]
  }

  /// Returns the lowest value of an optional property that is neither nil nor NaN, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `min(_:of:)`.
  public func min<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value?>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(by: PropertyReference(field), isDescending: false, of: query)?[
      keyPath: field]
  }

  /// Returns the highest value of a property that is not NaN, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `min(_:of:)`.
  public func max<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(by: PropertyReference(field), isDescending: true, of: query)?[
      keyPath: field]
  }

  /// Returns the highest value of an optional property that is neither nil nor NaN, in the order of sorting; nil if there is none.
  ///
  /// - Throws: as `max(_:of:)`.
  public func max<Subject: Record, Value: FieldValueConvertible>(
    _ field: KeyPath<Subject, Value?>, of query: Query<Subject> = Query()
  ) throws -> Value? {
    try recordReader().extreme(by: PropertyReference(field), isDescending: true, of: query)?[
      keyPath: field]
  }
}

extension RecordReader {
  fileprivate func sum<Subject: Record>(
    _ property: PropertyReference, of query: Query<Subject>
  ) throws(StoreError) -> FieldSum {
    let type = try entities.type(Subject.self)
    let found = try find(query, of: type, for: .recordsInAnyOrder)
    return try found.sum(of: try type.field(of: property))
  }

  /// The record that comes first by one property among those that have it, and in which it is a number if numbers are.
  fileprivate func extreme<Subject: Record>(
    by property: PropertyReference, isDescending: Bool, of query: Query<Subject>
  ) throws -> Subject? {
    let type = try entities.type(Subject.self)
    var resolved = try query.resolved(in: type, entities)
    let field = try StoredNames(type, entities).name(of: property)
    let order = FieldOrder(field: field, isDescending: isDescending)
    let isThere = type.layout.isThere(field)
    let runner = QueryRunner(type, in: self)
    if resolved.limit == nil, resolved.offset == 0, query.after == nil {
      resolved.condition = .and([resolved.condition, isThere].compactMap { $0 })
      resolved.order = [order]
      resolved.limit = 1
    }
    let found = try runner.find(resolved)
    guard let place = try found.first(by: order, among: isThere) else { return nil }
    return try type.load(
      key: place.key.rawSpan, row: place.row.rawSpan, blobs: blobs(of: type))
  }
}

extension RowLayout {
  /// Returns the condition that a field is neither null nor NaN, as a range that an index has.
  fileprivate func isThere(_ field: String) -> FieldCondition {
    let column = index(named: field).map { columns[$0] }
    let highest: FieldValue? =
      switch column?.scalar {
      case .float: .float(.infinity)
      case .double: .double(.infinity)
      case .date: .date(Date(timeIntervalSinceReferenceDate: .infinity))
      case .decimal: .decimal(.greatestFiniteMagnitude)
      default: nil
      }
    return highest.map { .comparison(field: field, .lessOrEqual, $0) }
      ?? .comparison(field: field, .notEqual, .null)
  }
}
