// The generic shell around the plan. It is thin and inlined where records are used, so that little is
// compiled for each type: all that it does is to turn values into pointers to them.

extension RecordPlan {
  /// Puts the key and the row of a record together.
  ///
  /// - Throws: as `write(_:to:key:)` of a pointer.
  @inlinable
  func write<Subject: Record>(
    _ record: Subject, to row: RowWriter, key: KeyEncoder
  ) throws(StoreError) {
    checkSubject(Subject.self)
    if let coding { return try coding.write(record, to: row, key: key) }
    try unsafe withUnsafePointer(to: record) { pointer throws(StoreError) in
      try unsafe write(UnsafeRawPointer(pointer), to: row, key: key)
    }
  }

  /// Puts the key and the row of each record together, and hands them to `body` before the next.
  ///
  /// The records are read where the array has them: none is copied or retained.
  @inlinable
  func write<Subject: Record>(
    _ records: [Subject], to row: RowWriter, key: KeyEncoder,
    _ body: (KeyEncoder, RowWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    checkSubject(Subject.self)
    if let coding {
      for record in records {
        try coding.write(record, to: row, key: key)
        try body(key, row)
      }
      return
    }
    try unsafe records.withUnsafeBufferPointer { buffer throws(StoreError) in
      guard let base = buffer.baseAddress else { return }
      for index in buffer.indices {
        try unsafe write(UnsafeRawPointer(base + index), to: row, key: key)
        try body(key, row)
      }
    }
  }

  /// Makes a record of its key and row.
  ///
  /// - Throws: as `read(_:key:row:)` into a pointer.
  @inlinable
  func read<Subject: Record>(
    _ type: Subject.Type, key: RawSpan, row: RawSpan, blobs: BlobFinder? = nil
  ) throws(StoreError) -> Subject {
    checkSubject(Subject.self)
    if let coding { return try coding.read(type, key: key, row: row, blobs: blobs) }
    return try unsafe withUnsafeTemporaryAllocation(of: Subject.self, capacity: 1) {
      buffer throws(StoreError) in
      guard let memory = buffer.baseAddress else {
        preconditionFailure("room for one is somewhere")
      }
      try unsafe read(UnsafeMutableRawPointer(memory), key: key, row: row, blobs: blobs)
      return unsafe memory.move()
    }
  }

  @inlinable
  func checkSubject<Subject: Record>(_ type: Subject.Type) {
    precondition(subject == ObjectIdentifier(type), "the plan is of another type")
  }
}
