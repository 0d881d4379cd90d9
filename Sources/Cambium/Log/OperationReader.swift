/// Reads the operations of one commit or one overlay, which may be any bytes.
///
/// No operation is of a tree or schema version that another payload named: each begins afresh, without
/// a tree and at version 0.
struct OperationReader: ~Escapable {
  private var reader: ByteReader
  private var hasTree = false
  private var schemaVersion: UInt32 = 0

  /// - Parameter place: Where the frame is, for the error.
  @_lifetime(copy operations)
  init(_ operations: RawSpan, at place: StoreError.CorruptPlace) {
    reader = ByteReader(operations, at: place, invariant: .logOperations)
  }

  /// The next operation; nil behind the last.
  ///
  /// - Throws: `.corrupt`; then there is no going on.
  @_lifetime(copy self)
  mutating func next() throws(StoreError) -> LogOperation? {
    if reader.remaining == 0 { return nil }
    let number = try reader.integer(UInt8.self)
    guard let kind = LogOperation.Kind(rawValue: number) else {
      throw reader.fault("an operation of kind \(number)")
    }
    switch kind {
    case .tree:
      let name = try name()
      hasTree = true
      return operation(kind, name, RawSpan())
    case .schemaVersion:
      schemaVersion = try reader.integer(UInt32.self)
      return operation(kind, RawSpan(), RawSpan())
    case .add, .replace:
      try requireTree()
      let keyLength = Int(try reader.integer(UInt16.self))
      let valueLength = Int(try reader.integer(UInt32.self))
      let key = try key(keyLength)
      return operation(kind, key, try value(valueLength))
    case .remove:
      try requireTree()
      return operation(kind, try key(Int(try reader.integer(UInt16.self))), RawSpan())
    case .clear:
      try requireTree()
      return operation(kind, RawSpan(), RawSpan())
    }
  }

  /// Reads all that is left, to know that it can be read.
  mutating func check() throws(StoreError) {
    while try next() != nil {}
  }

  @_lifetime(copy key, copy value)
  private func operation(_ kind: LogOperation.Kind, _ key: RawSpan, _ value: RawSpan)
    -> LogOperation
  {
    LogOperation(kind, key: key, value: value, schemaVersion: schemaVersion)
  }

  @_lifetime(copy self)
  private mutating func name() throws(StoreError) -> RawSpan {
    let name = try reader.run(Int(try reader.integer(UInt8.self)))
    guard String(validating: name.array(), as: UTF8.self) != nil else {
      throw reader.fault("a tree's name is not UTF-8")
    }
    return name
  }

  @_lifetime(copy self)
  private mutating func key(_ length: Int) throws(StoreError) -> RawSpan {
    guard length <= StoreError.Limit.keyLength.bound else {
      throw reader.fault("a key of \(length) bytes")
    }
    return try reader.run(length)
  }

  @_lifetime(copy self)
  private mutating func value(_ length: Int) throws(StoreError) -> RawSpan {
    guard length <= StoreError.Limit.valueLength.bound else {
      throw reader.fault("a value of \(length) bytes")
    }
    return try reader.run(length)
  }

  private func requireTree() throws(StoreError) {
    guard hasTree else { throw reader.fault("an operation comes before the first tree") }
  }
}

/// Takes the payload of a frame of commits apart.
struct CommitReader: ~Escapable {
  private var reader: ByteReader
  /// The sequence of the commit that comes next.
  private(set) var sequence: UInt64
  private let last: UInt64
  private var isDone = false

  @_lifetime(copy payload)
  init(
    _ payload: RawSpan, sequences: ClosedRange<UInt64>, at place: StoreError.CorruptPlace
  ) {
    reader = ByteReader(payload, at: place, invariant: .logOperations)
    sequence = sequences.lowerBound
    last = sequences.upperBound
  }

  /// The operations of the next commit, for an `OperationReader`; nil behind the last.
  ///
  /// - Throws: `.corrupt`, also if there are more commits or fewer than the frame has sequences.
  @_lifetime(copy self)
  mutating func next() throws(StoreError) -> RawSpan? {
    if isDone {
      guard reader.remaining == 0 else { throw reader.fault("there are more commits than said") }
      return nil
    }
    let operations = try reader.run(Int(try reader.integer(UInt32.self)))
    if sequence == last { isDone = true } else { sequence += 1 }
    return operations
  }

  /// Reads all that is left, operations too, to know that it can be read.
  mutating func check(at place: StoreError.CorruptPlace) throws(StoreError) {
    while let operations = try next() {
      var reader = OperationReader(operations, at: place)
      try reader.check()
    }
  }
}
