internal import FoundationEssentials

extension RecordPlan {
  /// Puts the key and the row of a record together.
  ///
  /// - Parameter record: Points to a value of the type that the plan was made for.
  /// - Throws: `.invalidValue` where a column has no place for a value, the key is too long or not a number, or the
  ///   row is too long.
  @usableFromInline
  func write(
    _ record: UnsafeRawPointer, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    precondition(coding == nil, "the type encodes itself")
    key.begin()
    for index in keySteps.indices {
      try unsafe write(record, to: key, keySteps[index])
    }
    try key.finishPrimaryKey(of: layout)
    row.begin(layout)
    do throws(StoreError) {
      try unsafe write(record, to: row)
    } catch {
      throw row.naming(error, key.key, layout)
    }
    row.finish()
  }

  private func write(_ record: UnsafeRawPointer, to row: RowWriter) throws(StoreError) {
    // The optional composites that are nil, a bit for each.
    var missing: UInt32 = 0
    for index in writes.indices {
      let step = writes[index]
      let property = unsafe record + Int(step.offset)
      if step.composites & missing != 0 {
        if step.action == .composite { missing |= 1 &<< step.detail }
        continue
      }
      switch step.action {
      case .scalar(.boolean): try unsafe put(property, as: Bool.self, row, step)
      case .scalar(.int8): try unsafe put(property, as: Int8.self, row, step)
      case .scalar(.int16): try unsafe put(property, as: Int16.self, row, step)
      case .scalar(.int32): try unsafe put(property, as: Int32.self, row, step)
      case .scalar(.int64): try unsafe put(property, as: Int64.self, row, step)
      case .scalar(.uint8): try unsafe put(property, as: UInt8.self, row, step)
      case .scalar(.uint16): try unsafe put(property, as: UInt16.self, row, step)
      case .scalar(.uint32): try unsafe put(property, as: UInt32.self, row, step)
      case .scalar(.uint64): try unsafe put(property, as: UInt64.self, row, step)
      case .scalar(.float): try unsafe put(property, as: Float.self, row, step)
      case .scalar(.double): try unsafe put(property, as: Double.self, row, step)
      case .scalar(.date): try unsafe put(property, as: Date.self, row, step)
      case .scalar(.uuid): try unsafe put(property, as: UUID.self, row, step)
      case .scalar(.decimal): try unsafe put(property, as: Decimal.self, row, step)
      case .scalar(.string): try unsafe put(property, as: String.self, row, step)
      case .scalar(.url): try unsafe put(property, as: URL.self, row, step)
      case .scalar(.binaryData): try unsafe put(property, as: Data.self, row, step)
      case .access:
        try unsafe accesses[Int(step.detail)].write(property, to: row, at: step.place)
      case .composite:
        if unsafe writeNil(property, to: row, step) { missing |= 1 &<< step.detail }
      case .transient, .compositeEnd: break
      }
    }
  }

  @inline(__always)
  private func put<Value: ColumnValue>(
    _ property: UnsafeRawPointer, as type: Value.Type, _ row: RowWriter, _ step: PlanStep
  ) throws(StoreError) {
    if step.isOptional, unsafe property.isNil(Value.self) { return row.setNull(at: step.place) }
    // Of an optional too: what it wraps is where it is.
    let value = unsafe property.assumingMemoryBound(to: Value.self)
    try unsafe value.pointee.put(in: row, at: step.place.index)
  }

  /// Writes an optional composite if it is nil.
  private func writeNil(
    _ property: UnsafeRawPointer, to row: RowWriter, _ step: PlanStep
  ) -> Bool {
    let composite = composites[Int(step.detail)]
    guard unsafe composite.access.isNil(property) else { return false }
    row.setNull(layout.columns[composite.column])
    return true
  }
}

extension UnsafeRawPointer {
  /// Returns true if an optional of `type` is nil.
  @inline(__always)
  func isNil<Wrapped>(_ type: Wrapped.Type) -> Bool {
    if case .none = unsafe assumingMemoryBound(to: Wrapped?.self).pointee { return true }
    return false
  }
}

// MARK: Keys

extension RecordPlan {
  @inline(__always)
  private func write(
    _ record: UnsafeRawPointer, to key: KeyEncoder, _ step: KeyStep
  ) throws(StoreError) {
    let property = unsafe record + Int(step.offset)
    switch step.action {
    case .scalar(.boolean): try unsafe append(property, as: Bool.self, key, step)
    case .scalar(.int8): try unsafe append(property, as: Int8.self, key, step)
    case .scalar(.int16): try unsafe append(property, as: Int16.self, key, step)
    case .scalar(.int32): try unsafe append(property, as: Int32.self, key, step)
    case .scalar(.int64): try unsafe append(property, as: Int64.self, key, step)
    case .scalar(.uint8): try unsafe append(property, as: UInt8.self, key, step)
    case .scalar(.uint16): try unsafe append(property, as: UInt16.self, key, step)
    case .scalar(.uint32): try unsafe append(property, as: UInt32.self, key, step)
    case .scalar(.uint64): try unsafe append(property, as: UInt64.self, key, step)
    case .scalar(.float): try unsafe append(property, as: Float.self, key, step)
    case .scalar(.double): try unsafe append(property, as: Double.self, key, step)
    case .scalar(.date): try unsafe append(property, as: Date.self, key, step)
    case .scalar(.uuid): try unsafe append(property, as: UUID.self, key, step)
    case .scalar(.decimal): try unsafe append(property, as: Decimal.self, key, step)
    case .scalar(.string): try unsafe append(property, as: String.self, key, step)
    case .scalar(.url): try unsafe append(property, as: URL.self, key, step)
    case .scalar(.binaryData): try unsafe append(property, as: Data.self, key, step)
    case .access:
      try unsafe accesses[Int(step.detail)].write(property, to: key, step.column, of: layout)
    case .transient, .composite, .compositeEnd: break
    }
  }

  @inline(__always)
  private func append<Value: ColumnValue>(
    _ property: UnsafeRawPointer, as type: Value.Type, _ key: KeyEncoder, _ step: KeyStep
  ) throws(StoreError) {
    let value = unsafe property.assumingMemoryBound(to: Value.self)
    try unsafe value.pointee.append(to: key, as: step.column, of: layout)
  }
}
