extension FieldSource {
  /// The value of a field in the new version, as its column holds it; null where it has none.
  ///
  /// - Parameters:
  ///   - value: What the field was, null where it was not.
  ///   - record: The whole old record, where the source is a function of it.
  /// - Throws: `.stepFailed` where a closure throws; `.invalidValue` where its value is of another type, or
  ///   one does not convert and is not to be replaced; `.corrupt`, `.io` where a blob is to be read: one that cannot
  ///   be is none that does not convert.
  func made(
    of value: FieldValue, _ record: OldRecord?, for target: Column, in layout: RowLayout
  ) throws(StoreError) -> FieldValue {
    switch self {
    case .field: return try value.widened(to: target.field.type)
    case .conversion(let policy):
      if value == .null { return .null }
      let value = try value.read(for: target.field.type)
      if let converted = value.converting(to: target.field.type) { return converted }
      switch policy {
      case .refuse:
        throw layout.refusal(target, "\(value) does not convert to \(target.field.type)")
      case .replace(let value): return try fitted(value, for: target, in: layout)
      case .setAside: return .null
      }
    case .value(let body):
      return try fitted(
        try call(target, layout) { try body(value) }, for: target, in: layout)
    case .record(let body):
      guard let record else { return .null }
      return try fitted(try call(target, layout) { try body(record) }, for: target, in: layout)
    }
  }

  /// Returns true if a value that was there has no counterpart in the new type, and is to be kept aside.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func setsAside(_ value: FieldValue, _ type: ColumnType) throws(StoreError) -> Bool {
    guard case .conversion(.setAside) = self, value != .null else { return false }
    return try value.read(for: type).converting(to: type) == nil
  }

  private func fitted(
    _ value: FieldValue, for target: Column, in layout: RowLayout
  ) throws(StoreError) -> FieldValue {
    switch target.field.type {
    case _ where value == .null: return .null
    case .composite, .transformable: return value
    default:
      let value = try value.read(for: target.field.type)
      guard let converted = value.converted(to: target.field.type) else {
        throw layout.refusal(target, value)
      }
      return converted
    }
  }

  private func call(
    _ target: Column, _ layout: RowLayout, _ body: () throws -> FieldValue
  ) throws(StoreError) -> FieldValue {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch {
      throw .stepFailed(
        version: Int(layout.version), source: "\(layout.record.name).\(target.field.name)",
        reason: "\(error)")
    }
  }
}

extension FieldValue {
  /// The value in a type that its own widens to, or in its own.
  ///
  /// - Throws: `.corrupt`, `.io` where a blob is to be read.
  func widened(to type: ColumnType) throws(StoreError) -> FieldValue {
    switch (self, type) {
    case (.float(let value), .double): return .double(Double(value))
    case (.blob, .binaryData): return try read(for: type)
    case (.array(let values), .array(of: let element)):
      return .array(
        try values.map { value throws(StoreError) in try value.widened(to: .scalar(element)) })
    // What widens converts, always, but for what is no number, and that is the same in all types.
    default: return converted(to: type) ?? self
    }
  }

  /// The value as a column in the row takes it: the content of a blob.
  ///
  /// - Throws: `.corrupt`, `.io`.
  fileprivate func read(for type: ColumnType) throws(StoreError) -> FieldValue {
    guard case .blob(let blob) = self, !type.isExternal else { return self }
    return .data(try blob.data())
  }
}
