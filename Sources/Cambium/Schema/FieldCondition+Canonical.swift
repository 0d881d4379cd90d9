extension FieldCondition {
  /// The depth to which conditions may be nested.
  static let depthMax = 32

  /// The condition with the operands of every `and` and `or` in the order of their bytes, so that conditions that differ in
  /// nothing else are equal. Only for conditions that an index can have.
  var canonical: FieldCondition {
    switch self {
    case .comparison, .isIn, .match, .contains, .computed: self
    case .and(let operands): .and(Self.sorted(operands))
    case .or(let operands): .or(Self.sorted(operands))
    case .not(let operand): .not(operand.canonical)
    }
  }

  private static func sorted(_ operands: [FieldCondition]) -> [FieldCondition] {
    let keyed = operands.map { operand in
      let operand = operand.canonical
      var bytes: [UInt8] = []
      bytes.append(condition: operand) { name in
        var bytes: [UInt8] = []
        bytes.append(text: name)
        return bytes
      }
      return (bytes, operand)
    }
    return keyed.sortedRarely { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }

  /// Returns true if it is nested over so many levels deep, computed values included. It is safe to ask of conditions that
  /// are too deep for anything else.
  func isDeeper(than limit: Int) -> Bool {
    if limit <= 0 { return true }
    return switch self {
    case .comparison, .isIn, .match, .contains: false
    case .computed(let one, _, let other):
      one.isDeeper(than: limit - 1) || other.isDeeper(than: limit - 1)
    case .and(let operands), .or(let operands):
      operands.contains { $0.isDeeper(than: limit - 1) }
    case .not(let operand): operand.isDeeper(than: limit - 1)
    }
  }

  /// Returns the condition with each term that is not *and*, *or* or *not* replaced by the result of `change`.
  func mapTerms<Failure: Error>(
    _ change: (FieldCondition) throws(Failure) -> FieldCondition
  ) throws(Failure) -> FieldCondition {
    switch self {
    case .comparison, .isIn, .match, .contains, .computed: return try change(self)
    case .and(let operands): return .and(try Self.map(operands, change))
    case .or(let operands): return .or(try Self.map(operands, change))
    case .not(let operand): return .not(try operand.mapTerms(change))
    }
  }

  private static func map<Failure: Error>(
    _ operands: [FieldCondition],
    _ change: (FieldCondition) throws(Failure) -> FieldCondition
  ) throws(Failure) -> [FieldCondition] {
    var changed: [FieldCondition] = []
    for operand in operands { changed.append(try operand.mapTerms(change)) }
    return changed
  }
}
