extension Schema {
  public func record(named name: String) -> RecordSchema? {
    records.first { $0.name == name }
  }
}

extension RecordSchema {
  /// - Parameter name: The stored name; of a composite's part, after the composite's name and a dot.
  public func field(named name: String) -> FieldSchema? {
    fields.first { $0.name == name }
  }

  public func index(named name: String) -> IndexSchema? {
    indexes.first { $0.name == name }
  }

  /// - Complexity: O(log fields).
  func field(_ number: UInt32) -> FieldSchema? { fields.field(number) }

  /// Returns true if a record may have no value for a field: for itself, or for the composite it is a part of.
  func canBeNull(_ field: FieldSchema) -> Bool {
    var field = field
    while !field.isOptional {
      // A composite's name is shorter than its part's, so this ends.
      guard let composite = field.composite.flatMap({ self.field($0) }) else { return false }
      field = composite
    }
    return true
  }

  /// The numbers of the composites that a field is a part of, the innermost first.
  func composites(_ field: FieldSchema) -> [UInt32] {
    var numbers: [UInt32] = []
    var field = field
    while let number = field.composite, let composite = self.field(number) {
      numbers.append(number)
      field = composite
    }
    return numbers
  }
}

extension [FieldSchema] {
  /// The field with a number, by which they ascend.
  ///
  /// - Complexity: O(log count).
  func field(_ number: UInt32) -> FieldSchema? {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if self[middle].number == number { return self[middle] }
      range =
        self[middle].number < number
        ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }
}
