// Values under names, beside the records: facts of a program about its store as a whole.

extension RecordReading where Self: ~Copyable {
  /// Returns the value that was set for `name`; nil if there is none.
  ///
  /// ```swift
  /// let lastImport = try store.metadata(Date.self, for: "lastImport")
  /// ```
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`; errors of decoding if the value is of another type.
  public func metadata<Value: Decodable>(_ type: Value.Type, for name: String) throws -> Value? {
    let reader = try recordReader()
    var bytes: [UInt8] = []
    let key = Array(name.utf8)
    let tree = reader.entities.metadata
    guard try reader.trees.copyValue(of: key.rawSpan, in: tree, to: &bytes) else { return nil }
    return try JSONCodec().decode(type, from: bytes)
  }

  /// Returns the names for which programs have set values, in the order of their UTF-8 bytes. The names of stored
  /// queries, and that of the mark of a fenced store, are not among them.
  ///
  /// ```swift
  /// for name in try store.metadataNames() { print(name) }
  /// ```
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`.
  public func metadataNames() throws(StoreError) -> [String] {
    try allMetadataNames().filter {
      $0 != Fence.name && !$0.utf8.starts(with: Entities.queryPrefix.utf8)
    }
  }

  /// Returns all names, including those of queries, for copies of everything.
  ///
  /// - Throws: as `metadataNames()`.
  package func allMetadataNames() throws(StoreError) -> [String] {
    let reader = try recordReader()
    let cursor = try reader.trees.cursor(in: reader.entities.metadata)
    var names: [String] = []
    while try cursor.advance() {
      names.append(String(decoding: cursor.key.array(), as: UTF8.self))
    }
    return names
  }
}

extension WriteTransaction {
  /// Sets the value for `name`; nil removes it.
  ///
  /// ```swift
  /// try transaction.setMetadata(Date(), for: "lastImport")
  /// ```
  ///
  /// - Throws: `StoreError.limitExceeded` if the name or the value is too long, `.full`, `.corrupt`, `.io`; errors of
  ///   encoding.
  public mutating func setMetadata<Value: Encodable>(_ value: Value?, for name: String) throws {
    try writer.checkUsable()
    let key = Array(name.utf8)
    guard let value else {
      _ = try writer.trees.remove(key.rawSpan, in: entities.metadata)
      return
    }
    let bytes = try JSONCodec().encode(value)
    try writer.trees.put(key.rawSpan, bytes.rawSpan, in: entities.metadata)
  }
}
