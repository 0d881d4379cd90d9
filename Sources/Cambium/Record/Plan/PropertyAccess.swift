// What is done to properties whose types the plan does not know. The pointers are to the property, of
// exactly the type that the access was made for; nobody else makes accesses than `PropertyMatcher`.

/// Reads and fills properties of one type by way of what a column holds instead.
protocol PropertyAccess: Sendable {
  /// Puts the property into its column; the row says null where it is nil.
  func write(
    _ property: UnsafeRawPointer, to row: RowWriter, at place: ColumnPlace
  ) throws(StoreError)

  /// Appends the property to a key.
  func write(
    _ property: UnsafeRawPointer, to key: KeyEncoder, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError)

  /// Fills the property, which has no value yet. It has none either if this throws.
  func read(
    _ property: UnsafeMutableRawPointer, from row: borrowing RowReader, at place: ColumnPlace
  ) throws(StoreError)

  /// Fills the property from the next part of a key.
  func read(
    _ property: UnsafeMutableRawPointer, from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError)

  /// Ends the life of the property's value.
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct ConvertedAccess<Conversion: ValueConversion>: PropertyAccess {
  let conversion: Conversion
  let isOptional: Bool

  /// The property's value; nil if it is an optional without one.
  private func value(_ property: UnsafeRawPointer) -> Conversion.Value? {
    isOptional
      ? unsafe property.assumingMemoryBound(to: Conversion.Value?.self).pointee
      : unsafe property.assumingMemoryBound(to: Conversion.Value.self).pointee
  }

  private func fill(_ property: UnsafeMutableRawPointer, with value: consuming Conversion.Value) {
    if isOptional {
      unsafe property.initializeMemory(as: Conversion.Value?.self, to: value)
    } else {
      unsafe property.initializeMemory(as: Conversion.Value.self, to: value)
    }
  }

  func write(
    _ property: UnsafeRawPointer, to row: RowWriter, at place: ColumnPlace
  ) throws(StoreError) {
    guard let value = unsafe value(property) else { return row.setNull(at: place) }
    try conversion.stored(value).put(in: row, at: place.index)
  }

  func write(
    _ property: UnsafeRawPointer, to key: KeyEncoder, _ column: KeyColumn, of layout: RowLayout
  ) throws(StoreError) {
    guard let value = unsafe value(property) else { throw layout.noKey(column) }
    try conversion.stored(value).append(to: key, as: column, of: layout)
  }

  func read(
    _ property: UnsafeMutableRawPointer, from row: borrowing RowReader, at place: ColumnPlace
  ) throws(StoreError) {
    if isOptional, row.isNull(place) {
      unsafe property.initializeMemory(as: Conversion.Value?.self, to: nil)
    } else {
      let stored = try Conversion.Stored.get(from: row, at: place.index)
      unsafe fill(property, with: try conversion.value(stored))
    }
  }

  func read(
    _ property: UnsafeMutableRawPointer, from key: inout KeyReader, as form: KeyForm
  ) throws(StoreError) {
    let stored = try Conversion.Stored.take(from: &key, as: form)
    unsafe fill(property, with: try conversion.value(stored))
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    if isOptional {
      unsafe property.assumingMemoryBound(to: Conversion.Value?.self).deinitialize(count: 1)
    } else {
      unsafe property.assumingMemoryBound(to: Conversion.Value.self).deinitialize(count: 1)
    }
  }
}

/// Fills properties that are not stored.
protocol PropertyFiller: Sendable {
  func fill(_ property: UnsafeMutableRawPointer)
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct TransientFiller<Value>: PropertyFiller {
  /// Comes from a description, where it had to be sendable.
  nonisolated(unsafe) let value: Value

  func fill(_ property: UnsafeMutableRawPointer) {
    unsafe property.initializeMemory(as: Value.self, to: value)
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    unsafe property.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}

/// Tells and says of properties that are optional composites whether they are there.
///
/// What an optional wraps stands where the optional does, so the parts of the composite are read and filled
/// like all others.
protocol CompositeAccess: Sendable {
  func isNil(_ property: UnsafeRawPointer) -> Bool
  /// Fills the property with nil.
  func fillWithNil(_ property: UnsafeMutableRawPointer)
  /// Makes the composite, whose parts were filled, an optional.
  func wrap(_ property: UnsafeMutableRawPointer)
  func destroy(_ property: UnsafeMutableRawPointer)
}

struct OptionalComposite<Wrapped>: CompositeAccess {
  func isNil(_ property: UnsafeRawPointer) -> Bool {
    if case .none = unsafe property.assumingMemoryBound(to: Wrapped?.self).pointee { return true }
    return false
  }

  func fillWithNil(_ property: UnsafeMutableRawPointer) {
    unsafe property.initializeMemory(as: Wrapped?.self, to: nil)
  }

  func wrap(_ property: UnsafeMutableRawPointer) {
    let composite = unsafe property.assumingMemoryBound(to: Wrapped.self).move()
    unsafe property.initializeMemory(as: Wrapped?.self, to: composite)
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    unsafe property.assumingMemoryBound(to: Wrapped?.self).deinitialize(count: 1)
  }
}
