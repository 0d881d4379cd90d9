/// Fills properties that are not stored and whose changes are tracked, and says what is in them.
protocol TrackedProperty: PropertyFiller {
  /// The name among changed fields: with the composites around it.
  var name: String { get }

  /// Returns the value of a property; nil if that is the default.
  func value(_ property: UnsafeRawPointer) -> (any UnstoredValue)?

  /// Fills a property, which has no value yet, from the values of its record.
  func fill(_ property: UnsafeMutableRawPointer, from values: UnstoredEntry)
}

/// A tracked property of one type.
struct TypedTrackedProperty<Value: Equatable>: TrackedProperty {
  let name: String
  /// Comes from a description, where it had to be sendable.
  nonisolated(unsafe) let standard: Value

  func value(_ property: UnsafeRawPointer) -> (any UnstoredValue)? {
    let value = unsafe property.assumingMemoryBound(to: Value.self).pointee
    return unsafe value == standard ? nil : TrackedValue(value: value)
  }

  func fill(_ property: UnsafeMutableRawPointer, from values: UnstoredEntry) {
    let tracked = values[name] as? TrackedValue<Value>
    unsafe property.initializeMemory(as: Value.self, to: tracked?.value ?? standard)
  }

  func fill(_ property: UnsafeMutableRawPointer) {
    unsafe property.initializeMemory(as: Value.self, to: standard)
  }

  func destroy(_ property: UnsafeMutableRawPointer) {
    unsafe property.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}

struct TrackedValue<Value: Equatable>: UnstoredValue {
  /// Comes from a record, which is sendable.
  nonisolated(unsafe) let value: Value

  func equals(_ other: any UnstoredValue) -> Bool {
    guard let other = other as? TrackedValue<Value> else { return false }
    return unsafe value == other.value
  }
}

extension Accesses {
  /// Returns the access to properties of `type` whose changes from `value` are tracked; nil if it is of another type, or
  /// values of the type cannot be compared.
  static func tracked(
    _ name: String, of type: any Any.Type, with value: any Sendable
  ) -> (any TrackedProperty)? {
    func make<Value: Equatable>(_: Value.Type) -> (any TrackedProperty)? {
      (value as? Value).map { TypedTrackedProperty(name: name, standard: $0) }
    }
    return (type as? any Equatable.Type).flatMap { make($0) }
  }
}
