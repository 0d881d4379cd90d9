/// Puts into one tree that another thread than the transaction's puts together, to be done all at once.
struct PutBatch {
  /// As they are in a buffer of puts.
  private(set) var entries = EntryBatch()

  var count: Int { entries.count }

  mutating func removeAll() { entries.removeAll() }

  mutating func append(_ key: RawSpan, _ value: RawSpan) {
    entries.append(key, RunValue.Kind.put.rawValue, value)
  }

  @_lifetime(borrow self)
  func key(_ index: Int) -> RawSpan { entries.key(index) }

  @_lifetime(borrow self)
  func value(_ index: Int) -> RawSpan { entries.value(index) }
}
