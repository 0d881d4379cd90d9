/// Several layers of a spilled transaction as one: where they have the same key, the newest counts.
///
/// A tree of losers: of the inputs, each of which stands on its next operation, every node keeps the one that
/// lost there, so the next lowest is found by the comparisons on one path. (Knuth, "Sorting and Searching",
/// 5.4.1.)
///
/// - Complexity: O(log inputs) comparisons an operation, most of them of two words.
struct RunMerge: SortedInput {
  /// Newest first.
  private let inputs: [SpillInput]
  /// The first bytes of the key that each stands on.
  private var heads: [UInt64]
  private var isActive: [Bool]
  /// The losers by node, from 1 on; at 0 the winner. -1 before there is any.
  private var losers: [Int]
  private var hasBegun = false
  /// The key of the present operation, once the input that had it is moved on.
  private var lastKey: [UInt8] = []
  private let largeValues: PageReader?
  private var largeValue: [UInt8] = []
  private var isLarge = false

  /// - Parameters:
  ///   - inputs: Newest first; none was moved yet.
  ///   - largeValues: Where those of large puts are read, for whoever asks for values.
  init(newestFirst inputs: [SpillInput], largeValues: PageReader?) {
    self.inputs = inputs
    self.largeValues = largeValues
    heads = inputs.map { _ in 0 }
    isActive = inputs.map { _ in true }
    losers = inputs.map { _ in -1 }
  }

  /// The number of operations at most; nil if it is not known.
  var countMax: Int? {
    inputs.reduce(0) { sum, input in sum.flatMap { sum in input.countMax.map { sum + $0 } } }
  }

  /// Moves to the next operation, and leaves large values where they are.
  @inline(__always)
  mutating func advanceStored() throws(StoreError) -> Bool {
    if !hasBegun { return try begin() }
    var winner = losers[0]
    if !isActive[winner] { return false }
    if inputs.count == 1 {
      try step(winner)
      return isActive[winner]
    }
    let last = inputs[winner]
    lastKey.assign(last.key)
    let lastHead = heads[winner]
    repeat {
      try step(winner)
      play(winner)
      winner = losers[0]
      if !isActive[winner] { return false }
    } while heads[winner] == lastHead && hasLastKey(winner)
    return true
  }

  private func hasLastKey(_ index: Int) -> Bool {
    let input = inputs[index]
    return input.key.equals(lastKey.rawSpan)
  }

  /// Moves all inputs to their first operations. False if there is none.
  private mutating func begin() throws(StoreError) -> Bool {
    hasBegun = true
    if inputs.isEmpty { return false }
    for index in inputs.indices { try step(index) }
    for index in inputs.indices.reversed() { play(index) }
    return isActive[losers[0]]
  }

  @inline(__always)
  private mutating func step(_ index: Int) throws(StoreError) {
    let input = inputs[index]
    if try input.advance() {
      heads[index] = input.key.head(0)
    } else {
      isActive[index] = false
    }
  }

  /// Lets an input that has moved play against those that lost on its path.
  @inline(__always)
  private mutating func play(_ index: Int) {
    var winner = index
    var node = (index + inputs.count) / 2
    while node > 0 {
      let other = losers[node]
      if other < 0 || (winner >= 0 && isBefore(other, winner)) {
        losers[node] = winner
        winner = other
      }
      node /= 2
    }
    losers[0] = winner
  }

  @inline(__always)
  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    guard isActive[one] else { return false }
    guard isActive[other] else { return true }
    if heads[one] != heads[other] { return heads[one] < heads[other] }
    let (first, second) = (inputs[one], inputs[other])
    let order = first.key.compare(second.key)
    return order == 0 ? one < other : order < 0
  }
}

// MARK: - The operation

extension RunMerge {
  mutating func advance() throws(StoreError) -> Bool {
    guard try advanceStored() else { return false }
    try readValue()
    return true
  }

  /// Reads the value of the present operation, if it has pages of its own. `value` is of no meaning before.
  mutating func readValue() throws(StoreError) {
    isLarge = RunValue.kind(stored) == .largePut
    if isLarge { try readLargeValue() }
  }

  @inline(never)
  private mutating func readLargeValue() throws(StoreError) {
    largeValue.removeAll(keepingCapacity: true)
    let reference = PageReference(decoding: RunValue.content(stored), at: 0)
    try largeValues?.appendLargeValue(reference, to: &largeValue)
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let input = inputs[losers[0]]
      return unsafe _overrideLifetime(input.key, borrowing: self)
    }
  }

  /// The operation as it is in a run.
  var stored: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let input = inputs[losers[0]]
      return unsafe _overrideLifetime(input.stored, borrowing: self)
    }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { isLarge ? largeValue.rawSpan : RunValue.content(stored) }
  }

  var isRemoval: Bool { RunValue.kind(stored) == .removal }
  var schemaVersion: UInt32 { inputs[losers[0]].schemaVersion }
}
