/// The trees of which somebody wants to know the keys that change.
struct ObservedTrees: Sendable {
  let trees: [TreeSlot]
  /// By the tree's number, its place in `trees`; -1 for the others.
  private let places: [Int32]

  init(_ trees: [TreeSlot]) {
    self.trees = trees
    let count = trees.reduce(0) { max($0, Int($1.number) + 1) }
    var places = [Int32](repeating: -1, count: count)
    for (place, tree) in trees.enumerated() { places[Int(tree.number)] = Int32(place) }
    self.places = places
  }

  /// The place of a tree in `trees`; nil if nobody observes it.
  @inline(__always)
  func place(of tree: TreeSlot) -> Int? {
    let number = Int(tree.number)
    guard number < places.count, places[number] >= 0 else { return nil }
    return Int(places[number])
  }
}

/// Keys of one tree, one behind the other, in the order in which they were noted. One may be there twice.
struct NotedKeys: Sendable {
  private var bytes: [UInt8] = []
  /// Where each key ends in `bytes`.
  private var ends: [Int32] = []
  /// False where there were too many to be kept, or nobody knows which: any key may have changed.
  private(set) var isComplete = true

  /// How many keys one commit may have noted, and their bytes. Of one that changes more, none is kept: by
  /// then it takes no longer to compare two states as a whole.
  static var countMax: Int { 1 << 16 }
  static var byteCountMax: Int { 1 << 20 }

  var count: Int { ends.count }
  var byteCount: Int { bytes.count }
  var isEmpty: Bool { ends.isEmpty && isComplete }

  /// Nobody knows which.
  static var unknown: NotedKeys {
    var keys = NotedKeys()
    keys.isComplete = false
    return keys
  }

  mutating func append(_ key: RawSpan) {
    guard isComplete else { return }
    guard count < Self.countMax, byteCount + key.byteCount <= Self.byteCountMax else {
      return forget()
    }
    bytes.append(key)
    ends.append(Int32(bytes.count))
  }

  mutating func forget() { self = .unknown }

  /// The key at a place below `count`.
  @_lifetime(borrow self)
  func key(_ place: Int) -> RawSpan {
    let start = place == 0 ? 0 : Int(ends[place - 1])
    let all = bytes.rawSpan
    return unsafe _overrideLifetime(all.part(start, Int(ends[place]) - start), borrowing: self)
  }
}

/// Takes down which keys are changed of the trees that are observed, while one thread changes them.
///
/// There may be more than in the end were changed: what is taken back stays noted.
final class KeyNotes {
  let observed: ObservedTrees
  /// In step with `observed.trees`.
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: [NotedKeys]

  init(of observed: ObservedTrees) {
    self.observed = observed
    unsafe keys = [NotedKeys](repeating: NotedKeys(), count: observed.trees.count)
  }

  @inline(__always)
  func note(_ key: RawSpan, in tree: TreeSlot) {
    guard let place = observed.place(of: tree) else { return }
    unsafe keys[place].append(key)
  }

  /// All keys of a tree may have changed.
  func noteAll(in tree: TreeSlot) {
    guard let place = observed.place(of: tree) else { return }
    unsafe keys[place].forget()
  }

  /// All keys of all trees may have changed.
  func noteEverything() {
    for place in observed.trees.indices { unsafe keys[place].forget() }
  }

  /// What was noted of a tree; of one that was not observed in the beginning, nobody knows.
  func keys(of tree: TreeSlot) -> NotedKeys {
    guard let place = observed.place(of: tree) else { return .unknown }
    return unsafe keys[place]
  }
}
