#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RecordPlan {
  /// Makes a record of its key and row.
  ///
  /// - Parameter record: Points to memory for a value of the type that the plan was made for, without a
  ///   value. If this throws, it is without one again.
  /// - Throws: `.corrupt` where the bytes are no such record, `.newerFormat` where this version does not
  ///   know what they begin with; `.invalidValue` where the type has no such
  ///   value.
  @usableFromInline
  func read(
    _ record: UnsafeMutableRawPointer, key: RawSpan, row: RawSpan, blobs: BlobFinder?
  ) throws(StoreError) {
    let layout = layout
    try unsafe read(
      record, from: try RowReader(key: key, row: row, layout: layout, blobs: blobs))
  }

  /// Reads a record of a row whose frame was checked.
  func read(
    _ record: UnsafeMutableRawPointer, from row: borrowing RowReader
  ) throws(StoreError) {
    precondition(coding == nil, "the type decodes itself")
    try unsafe readKey(record, row.key)
    var index = 0
    do throws(StoreError) {
      try unsafe readColumns(record, row, &index, before: reads.count)
    } catch {
      unsafe destroy(record, before: index)
      unsafe destroyKey(record, before: keySteps.count)
      throw error
    }
  }

  /// Does the steps from the one at `index` to that before `end`; if one throws, `index` is its place.
  @inline(never)
  private func readColumns(
    _ record: UnsafeMutableRawPointer, _ row: borrowing RowReader, _ index: inout Int,
    before end: Int
  ) throws(StoreError) {
    while index < end {
      let step = reads[index]
      let property = unsafe record + Int(step.offset)
      switch step.action {
      case .scalar(.boolean): try unsafe fill(property, as: Bool.self, row, step)
      case .scalar(.int8): try unsafe fill(property, as: Int8.self, row, step)
      case .scalar(.int16): try unsafe fill(property, as: Int16.self, row, step)
      case .scalar(.int32): try unsafe fill(property, as: Int32.self, row, step)
      case .scalar(.int64): try unsafe fill(property, as: Int64.self, row, step)
      case .scalar(.uint8): try unsafe fill(property, as: UInt8.self, row, step)
      case .scalar(.uint16): try unsafe fill(property, as: UInt16.self, row, step)
      case .scalar(.uint32): try unsafe fill(property, as: UInt32.self, row, step)
      case .scalar(.uint64): try unsafe fill(property, as: UInt64.self, row, step)
      case .scalar(.float): try unsafe fill(property, as: Float.self, row, step)
      case .scalar(.double): try unsafe fill(property, as: Double.self, row, step)
      case .scalar(.date): try unsafe fill(property, as: Date.self, row, step)
      case .scalar(.uuid): try unsafe fill(property, as: UUID.self, row, step)
      case .scalar(.decimal): try unsafe fill(property, as: Decimal.self, row, step)
      case .scalar(.string): try unsafe fill(property, as: String.self, row, step)
      case .scalar(.url): try unsafe fill(property, as: URL.self, row, step)
      case .scalar(.binaryData): try unsafe fill(property, as: Data.self, row, step)
      case .access:
        try unsafe accesses[Int(step.detail)].read(property, from: row, at: step.place)
      case .transient:
        unsafe fillers[Int(step.detail)].fill(property)
      case .tracked:
        let values = row.blobs?.unstored(of: row.key) ?? UnstoredEntry()
        unsafe tracked[Int(step.detail)].fill(property, from: values)
      case .composite:
        guard row.isNull(step.place) else { break }
        unsafe composites[Int(step.detail)].access.fillWithNil(property)
        index = composites[Int(step.detail)].last
      case .compositeEnd:
        unsafe composites[Int(step.detail)].access.wrap(property)
      }
      index &+= 1
    }
  }

  @inline(__always)
  private func fill<Value: ColumnValue>(
    _ property: UnsafeMutableRawPointer, as type: Value.Type, _ row: borrowing RowReader,
    _ step: PlanStep
  ) throws(StoreError) {
    if !step.isOptional {
      let value = try Value.get(from: row, at: step.place.index)
      unsafe property.initializeMemory(as: Value.self, to: value)
    } else if row.isNull(step.place) {
      unsafe property.initializeMemory(as: Value?.self, to: nil)
    } else {
      let value = try Value.get(from: row, at: step.place.index)
      unsafe property.initializeMemory(as: Value?.self, to: value)
    }
  }
}

// MARK: Keys

extension RecordPlan {
  /// Fills the properties that are in the key; none of them if this throws.
  @inline(never)
  private func readKey(_ record: UnsafeMutableRawPointer, _ bytes: RawSpan) throws(StoreError) {
    let layout = layout
    var key = KeyReader(bytes, layout: layout)
    var index = 0
    do throws(StoreError) {
      while index < keySteps.count {
        try unsafe readKey(record, &key, keySteps[index])
        index &+= 1
      }
      try key.finish()
    } catch {
      unsafe destroyKey(record, before: index)
      throw error
    }
  }

  @inline(__always)
  private func readKey(
    _ record: UnsafeMutableRawPointer, _ key: inout KeyReader, _ step: KeyStep
  ) throws(StoreError) {
    let property = unsafe record + Int(step.offset)
    switch step.action {
    case .scalar(.boolean): try unsafe fill(property, as: Bool.self, &key, step)
    case .scalar(.int8): try unsafe fill(property, as: Int8.self, &key, step)
    case .scalar(.int16): try unsafe fill(property, as: Int16.self, &key, step)
    case .scalar(.int32): try unsafe fill(property, as: Int32.self, &key, step)
    case .scalar(.int64): try unsafe fill(property, as: Int64.self, &key, step)
    case .scalar(.uint8): try unsafe fill(property, as: UInt8.self, &key, step)
    case .scalar(.uint16): try unsafe fill(property, as: UInt16.self, &key, step)
    case .scalar(.uint32): try unsafe fill(property, as: UInt32.self, &key, step)
    case .scalar(.uint64): try unsafe fill(property, as: UInt64.self, &key, step)
    case .scalar(.float): try unsafe fill(property, as: Float.self, &key, step)
    case .scalar(.double): try unsafe fill(property, as: Double.self, &key, step)
    case .scalar(.date): try unsafe fill(property, as: Date.self, &key, step)
    case .scalar(.uuid): try unsafe fill(property, as: UUID.self, &key, step)
    case .scalar(.decimal): try unsafe fill(property, as: Decimal.self, &key, step)
    case .scalar(.string): try unsafe fill(property, as: String.self, &key, step)
    case .scalar(.url): try unsafe fill(property, as: URL.self, &key, step)
    case .scalar(.binaryData): try unsafe fill(property, as: Data.self, &key, step)
    case .access:
      try unsafe accesses[Int(step.detail)].read(property, from: &key, as: step.column.form)
    case .transient, .tracked, .composite, .compositeEnd: break
    }
  }

  @inline(__always)
  private func fill<Value: ColumnValue>(
    _ property: UnsafeMutableRawPointer, as type: Value.Type, _ key: inout KeyReader,
    _ step: KeyStep
  ) throws(StoreError) {
    let value = try Value.take(from: &key, as: step.column.form)
    unsafe property.initializeMemory(as: Value.self, to: value)
  }

  private func destroyKey(_ record: UnsafeMutableRawPointer, before end: Int) {
    for step in keySteps[..<end] {
      let property = unsafe record + Int(step.offset)
      unsafe destroy(property, step.action, isOptional: false, detail: step.detail)
    }
  }
}

// MARK: Single properties

/// A property that can be read without the rest of its record.
@usableFromInline
struct PropertyPlace {
  /// The step that reads it: of those of the key, or of the row.
  fileprivate let step: Int
  let isInKey: Bool
}

extension RecordPlan {
  /// Returns where the property that a field is stored of is read; nil for values that are read with their whole
  /// record: composites, parts of an optional one, and properties of a type with its own coding.
  ///
  /// - Parameter column: The place of the field in the layout's columns.
  func place(of property: PropertyReference, column: Int) -> PropertyPlace? {
    if let step = keySteps.firstIndex(where: { Int($0.column.column) == column }) {
      return Int(keySteps[step].offset) == property.offset
        ? PropertyPlace(step: step, isInKey: true) : nil
    }
    let place = layout.columns[column].place
    let found = reads.firstIndex { step in
      switch step.action {
      case .transient, .tracked, .composite, .compositeEnd: false
      default: step.place == place
      }
    }
    guard let found, reads[found].composites == 0,
      Int(reads[found].offset) == property.offset
    else { return nil }
    return PropertyPlace(step: found, isInKey: false)
  }

  /// Fills one property, which has no value yet, from the key or the row of its record. It has none either if this throws.
  ///
  /// - Throws: as `read` of a whole record.
  @usableFromInline
  func read(
    property: UnsafeMutableRawPointer, at place: PropertyPlace, key: RawSpan, row: RawSpan,
    blobs: BlobFinder?
  ) throws(StoreError) {
    if place.isInKey { return try unsafe readKey(property, at: place, key) }
    let layout = layout
    try unsafe readColumn(
      property, at: place, try RowReader(key: key, row: row, layout: layout, blobs: blobs))
  }

  /// Fills properties of one record, which have no values yet. None of them has one if this throws.
  ///
  /// - Parameter offsets: The place of each property in the memory.
  /// - Throws: as `read` of a whole record.
  func read(
    _ places: [PropertyPlace], to memory: UnsafeMutableRawPointer, at offsets: [Int],
    key: RawSpan, row: RawSpan, blobs: BlobFinder?
  ) throws(StoreError) {
    let layout = layout
    let reader = try RowReader(key: key, row: row, layout: layout, blobs: blobs)
    var count = 0
    do throws(StoreError) {
      while count < places.count {
        let property = unsafe memory + offsets[count]
        if places[count].isInKey {
          try unsafe readKey(property, at: places[count], key)
        } else {
          try unsafe readColumn(property, at: places[count], reader)
        }
        count &+= 1
      }
    } catch {
      unsafe destroy(places[..<count], in: memory, at: offsets)
      throw error
    }
  }

  /// Likewise for properties that are all in the key.
  func read(
    _ places: [PropertyPlace], to memory: UnsafeMutableRawPointer, at offsets: [Int], key: RawSpan
  ) throws(StoreError) {
    var count = 0
    do throws(StoreError) {
      while count < places.count {
        try unsafe readKey(memory + offsets[count], at: places[count], key)
        count &+= 1
      }
    } catch {
      unsafe destroy(places[..<count], in: memory, at: offsets)
      throw error
    }
  }

  private func readKey(
    _ property: UnsafeMutableRawPointer, at place: PropertyPlace, _ key: RawSpan
  ) throws(StoreError) {
    let (layout, step) = (layout, keySteps[place.step])
    var reader = KeyReader(key, layout: layout)
    try reader.skip(place.step)
    try unsafe readKey(property - Int(step.offset), &reader, step)
  }

  private func readColumn(
    _ property: UnsafeMutableRawPointer, at place: PropertyPlace, _ row: borrowing RowReader
  ) throws(StoreError) {
    var index = place.step
    try unsafe readColumns(property - Int(reads[index].offset), row, &index, before: index + 1)
  }

  private func destroy(
    _ places: ArraySlice<PropertyPlace>, in memory: UnsafeMutableRawPointer, at offsets: [Int]
  ) {
    for index in places.indices {
      let (place, property) = unsafe (places[index], memory + offsets[index])
      if place.isInKey {
        let step = keySteps[place.step]
        unsafe destroy(property, step.action, isOptional: false, detail: step.detail)
      } else {
        let step = reads[place.step]
        unsafe destroy(property, step.action, isOptional: step.isOptional, detail: step.detail)
      }
    }
  }
}

// MARK: Unfinished records

extension RecordPlan {
  /// Destroys the properties that the steps before `end` filled.
  private func destroy(_ record: UnsafeMutableRawPointer, before end: Int) {
    var index = 0
    while index < end {
      let step = reads[index]
      let property = unsafe record + Int(step.offset)
      if step.action == .composite, composites[Int(step.detail)].last < end {
        // The whole of it, whether it is nil or not.
        unsafe composites[Int(step.detail)].access.destroy(property)
        index = composites[Int(step.detail)].last
      } else {
        unsafe destroy(property, step.action, isOptional: step.isOptional, detail: step.detail)
      }
      index += 1
    }
  }

  private func destroy(
    _ property: UnsafeMutableRawPointer, _ action: PlanStep.Action, isOptional: Bool, detail: UInt32
  ) {
    switch action {
    case .scalar(.string): unsafe destroy(property, as: String.self, isOptional)
    case .scalar(.url): unsafe destroy(property, as: URL.self, isOptional)
    case .scalar(.binaryData): unsafe destroy(property, as: Data.self, isOptional)
    case .access: unsafe accesses[Int(detail)].destroy(property)
    case .transient: unsafe fillers[Int(detail)].destroy(property)
    case .tracked: unsafe tracked[Int(detail)].destroy(property)
    default: break
    }
  }

  private func destroy<Value>(
    _ property: UnsafeMutableRawPointer, as type: Value.Type, _ isOptional: Bool
  ) {
    if isOptional {
      unsafe property.assumingMemoryBound(to: Value?.self).deinitialize(count: 1)
    } else {
      unsafe property.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
  }
}
