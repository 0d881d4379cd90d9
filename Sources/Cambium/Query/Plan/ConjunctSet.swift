/// Some of a condition's conjuncts, by their places: of the first 64, since ranges of keys say no others.
struct ConjunctSet: Hashable, Sendable {
  private var bits: UInt64 = 0

  static var most: Int { 64 }

  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }

  mutating func insert(_ conjunct: Int) {
    precondition(conjunct < Self.most, "no range says the conjunct")
    bits |= 1 << UInt64(conjunct)
  }

  func contains(_ conjunct: Int) -> Bool {
    conjunct < Self.most && bits & 1 << UInt64(conjunct) != 0
  }

  func union(_ other: ConjunctSet) -> ConjunctSet {
    var union = self
    union.bits |= other.bits
    return union
  }

  func isSubset(of other: ConjunctSet) -> Bool { bits & ~other.bits == 0 }
}
