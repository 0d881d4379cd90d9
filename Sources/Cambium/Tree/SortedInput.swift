/// Operations on keys that ascend strictly, one at a time: what a merge adds to a tree.
protocol SortedInput: ~Copyable {
  /// Moves to the next operation, the first at first; false when there is none.
  mutating func advance() throws(StoreError) -> Bool

  /// The key of the present operation, until the next `advance`.
  var key: RawSpan { @_lifetime(borrow self) get }

  /// The value that the key gets; of no meaning if the operation is a removal.
  var value: RawSpan { @_lifetime(borrow self) get }

  /// Whether the key is to be there no more.
  var isRemoval: Bool { get }

  /// The schema version of the value.
  var schemaVersion: UInt32 { get }
}

/// An input without operations.
struct NoInput: SortedInput {
  mutating func advance() throws(StoreError) -> Bool { false }
  var key: RawSpan { @_lifetime(borrow self) get { RawSpan() } }
  var value: RawSpan { @_lifetime(borrow self) get { RawSpan() } }
  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { 0 }
}
