/// Several inputs as one: where they have the same key, the newest counts.
///
/// - Complexity: O(inputs) comparisons an operation. Whoever has many merges some first.
struct MergedInputs<Input: SortedInput>: SortedInput {
  /// Newest first; each stands on its next operation.
  private var inputs: [Input]
  /// Which of them have one.
  private var isActive: [Bool]
  private var current: Int?
  private var hasBegun = false
  private var currentKey: [UInt8] = []
  private var currentValue: [UInt8] = []

  /// - Parameter inputs: Newest first.
  init(newestFirst inputs: [Input]) {
    self.inputs = inputs
    isActive = inputs.map { _ in true }
  }

  mutating func advance() throws(StoreError) -> Bool {
    if hasBegun {
      guard let current else { return false }
      try skip(keyOf: current)
    } else {
      hasBegun = true
      for index in inputs.indices { isActive[index] = try inputs[index].advance() }
    }
    current = lowest()
    guard let current else { return false }
    currentKey.assign(inputs[current].key)
    currentValue.assign(inputs[current].value)
    return true
  }

  /// Moves every input past the key that the present operation has.
  private mutating func skip(keyOf current: Int) throws(StoreError) {
    for index in inputs.indices where index != current && isActive[index] {
      if inputs[index].key.equals(currentKey.rawSpan) {
        isActive[index] = try inputs[index].advance()
      }
    }
    isActive[current] = try inputs[current].advance()
  }

  /// The newest of the inputs with the lowest key.
  private func lowest() -> Int? {
    var lowest: Int?
    for index in inputs.indices where isActive[index] {
      guard let best = lowest else {
        lowest = index
        continue
      }
      if inputs[index].key.compare(inputs[best].key) < 0 { lowest = index }
    }
    return lowest
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.rawSpan }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { currentValue.rawSpan }
  }

  var isRemoval: Bool { inputs[present].isRemoval }
  var schemaVersion: UInt32 { inputs[present].schemaVersion }

  private var present: Int {
    guard let current else { preconditionFailure("advance before reading an operation") }
    return current
  }
}
