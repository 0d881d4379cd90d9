/// A write transaction, lent to a closure for as long as that runs. It cannot be kept: it is neither copied
/// nor taken out of the closure.
@_spi(Raw) public struct RawTransaction: ~Copyable {
  private let transaction: Transaction

  init(_ transaction: Transaction) {
    self.transaction = transaction
  }

  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Throws: `.limitExceeded`, `.corrupt`, `.io`; then this call did nothing. Of a transaction larger than its
  ///   budget also `.full` and `.io` for good: it cannot be committed, unless a savepoint takes that back.
  public mutating func put(
    _ key: RawSpan, _ value: RawSpan, in tree: RawTreeName
  ) throws(StoreError) {
    try transaction.put(key, value, schemaVersion: 1, in: tree.slot)
  }

  /// Takes `key` out. False if it is not there.
  ///
  /// - Throws: `.corrupt`, `.io`; then this call did nothing.
  @discardableResult
  public mutating func remove(_ key: RawSpan, in tree: RawTreeName) throws(StoreError) -> Bool {
    try transaction.remove(key, in: tree.slot)
  }

  /// Takes all entries of a tree out.
  ///
  /// - Complexity: linear in what was committed lately in this tree, whatever else it holds.
  public mutating func removeAll(in tree: RawTreeName) throws(StoreError) {
    transaction.removeAll(in: tree.slot)
  }

  /// A copy of the value of `key`, as changed so far; nil if there is none.
  public func value(for key: RawSpan, in tree: RawTreeName) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try transaction.tree(tree.slot).copyValue(for: key, to: &value) ? value : nil
  }

  /// The number of entries, as changed so far. Constant time, unless the transaction is larger than its budget:
  /// then they are counted one by one.
  ///
  /// - Throws: `.corrupt`, `.full`, `.io`.
  public func count(in tree: RawTreeName) throws(StoreError) -> Int {
    try transaction.tree(tree.slot).count()
  }

  /// Runs `body`, and takes back what it did if it throws. May be nested.
  ///
  /// - Throws: what `body` throws.
  public mutating func savepoint<Value: ~Copyable>(
    _ body: (inout RawTransaction) throws -> Value
  ) throws -> Value {
    let savepoint = try transaction.savepoint()
    defer { transaction.release(savepoint) }
    do {
      return try body(&self)
    } catch {
      transaction.rollBack(to: savepoint)
      throw error
    }
  }
}
