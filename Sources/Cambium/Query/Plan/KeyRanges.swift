/// The ranges of one tree's keys that conditions leave, and which conditions they say all of.
struct KeyRanges: Sendable {
  /// Ascending, without overlap, none of them empty.
  private(set) var ranges: [KeyRange] = []
  /// The conjuncts that need not be looked at again.
  private(set) var said = ConjunctSet()
  /// The value of each part that can have only one, as far as parts are bound.
  private(set) var fixed: [FieldValue?] = []
  /// The number of parts that have bounds.
  private(set) var boundCount = 0
  /// True if there are bounds on the expanded part, the one for which a record has several entries.
  private(set) var boundsExpanded = false
  /// True if a record may have more than one entry in the ranges.
  private(set) var mayRepeat = false

  /// Without a bound.
  static let all = {
    var ranges = KeyRanges()
    ranges.append(.all)
    return ranges
  }()

  /// True if every part that has bounds can have only one value.
  var isFixed: Bool { fixed.allSatisfy { if case .some = $0 { true } else { false } } }

  /// The highest number of ranges that are sought one by one.
  static var most: Int { 256 }
}

/// Finds the ranges of one tree: values of the first parts, and bounds of the next.
struct KeyRangeBuilder: ~Copyable {
  private struct Prefix {
    var bytes: [UInt8] = []
    var hasNull = false
    /// True if it is a whole key, of which the last bytes have no end.
    var isWhole = false

    var range: KeyRange { isWhole ? KeyRange(only: bytes) : KeyRange(prefix: bytes) }
  }

  private let parts: KeyLayout
  /// The parts where they are the whole key; nil if they never are, or always.
  private let wholeParts: KeyLayout?
  private let expanded: ExpandedPart?
  private let layout: RowLayout
  private let terms: [FieldTerm]
  private let encoder: KeyEncoder
  private var prefixes: [Prefix] = []
  private var result = KeyRanges()
  /// True if every bound is what the terms say, and not cut.
  private var isExact = true

  /// For the rows themselves.
  init(rowsOf layout: RowLayout, _ terms: [FieldTerm], _ encoder: KeyEncoder) {
    self.layout = layout
    self.terms = terms
    self.encoder = encoder
    parts = layout.key
    wholeParts = nil
    expanded = nil
  }

  init(_ index: IndexLayout, of layout: RowLayout, _ terms: [FieldTerm], _ encoder: KeyEncoder) {
    self.layout = layout
    self.terms = terms
    self.encoder = encoder
    parts = index.parts
    wholeParts = index.schema.isUnique ? index.wholeParts : nil
    expanded = index.expanded
  }

  /// - Throws: `.invalidQuery`, where a value cannot be in a key.
  mutating func build() throws(StoreError) -> KeyRanges {
    if !terms.contains(where: { suits($0, 0) }) { return .all }
    prefixes.append(Prefix())
    var bounds: [KeyRange]?
    for place in parts.columns.indices {
      if let (values, conjunct) = fewestValues(place) {
        guard try extend(by: values, place) else { break }
        result.note(conjunct, fixed: values.count == 1 ? values.first : Optional.none)
        if place == expanded?.place { result.noteExpanded(mayRepeat: values.count > 1) }
      } else {
        bounds = try self.bounds(terms.filter { suits($0, place) }, place)
        if bounds != nil, place == expanded?.place { result.noteExpanded(mayRepeat: true) }
        break
      }
    }
    if prefixes.count == 1, bounds == nil {
      finish(prefixes[0].range)
    } else {
      for range in bounds ?? prefixes.map({ $0.range }) { finish(range) }
    }
    if !isExact { result.sayNothing() }
    return result
  }

  private func suits(_ term: FieldTerm, _ place: Int) -> Bool {
    let column = parts.columns[place]
    let expansion = expanded?.place == place ? expanded?.expansion : KeyPart.Expansion.none
    guard term.column == Int(column.column), term.expansion == expansion else { return false }
    if case .isNotNull = term.demand { return true }
    // A key without case also says whether there is a value.
    if case .isAny(let values) = term.demand, values.allSatisfy({ $0 == .null }) { return true }
    // Of a sort key nothing follows for the string itself.
    return column.collation == nil
      && column.form.contains(.isCaseInsensitive) == term.isCaseInsensitive
  }

  /// Terms of values say all of their conjuncts.
  private func fewestValues(_ place: Int) -> ([FieldValue], Int)? {
    var best: ([FieldValue], Int)?
    for term in terms where suits(term, place) {
      let values: [FieldValue]
      switch term.demand {
      case .isAny(let all): values = all
      case .isLike(let text): values = [.string(text)]
      default: continue
      }
      if best == nil || values.count < best?.0.count ?? 0 { best = (values, term.conjunct) }
    }
    return best
  }
}

// MARK: Values

extension KeyRangeBuilder {
  /// Continues after each prefix with each value. False if that gets too many; then nothing has changed.
  private mutating func extend(by values: [FieldValue], _ place: Int) throws(StoreError) -> Bool {
    guard values.count * prefixes.count <= KeyRanges.most else { return false }
    if values.count == 1, prefixes.count == 1 {
      try extendOnly(by: values[0], place)
      return true
    }
    var extended: [Prefix] = []
    for prefix in prefixes {
      for value in values {
        let column = column(place, behind: prefix, isNull: value == .null)
        guard let bytes = try encoded(value, column) else { continue }
        extended.append(
          Prefix(
            bytes: prefix.bytes + bytes, hasNull: prefix.hasNull || value == .null,
            isWhole: column.form.isRaw && column.type.fixedWidth == nil))
      }
    }
    if extended.count > 1 {
      extended.sort { $0.bytes.rawSpan.compare($1.bytes.rawSpan) < 0 }
      var last: [UInt8]?
      extended = extended.filter { prefix in
        defer { last = prefix.bytes }
        return prefix.bytes != last
      }
    }
    prefixes = extended
    return true
  }

  /// Extends the ranges by one value, if there is one of each.
  private mutating func extendOnly(by value: FieldValue, _ place: Int) throws(StoreError) {
    let column = column(place, behind: prefixes[0], isNull: value == .null)
    guard let bytes = try encoded(value, column) else { return prefixes.removeAll() }
    prefixes[0].bytes = prefixes[0].bytes.isEmpty ? bytes : prefixes[0].bytes + bytes
    prefixes[0].hasNull = prefixes[0].hasNull || value == .null
    prefixes[0].isWhole = column.form.isRaw && column.type.fixedWidth == nil
  }

  /// Nil for null where that cannot be.
  private func encoded(_ value: FieldValue, _ column: KeyColumn) throws(StoreError) -> [UInt8]? {
    if value == .null, !column.form.contains(.isOptional) { return nil }
    encoder.begin()
    try encoder.append(value, column, of: layout)
    return encoder.key.array()
  }

  /// The form of a part depends on whether the key is whole with it, which it is unless something is null.
  private func column(_ place: Int, behind prefix: Prefix, isNull: Bool) -> KeyColumn {
    guard let wholeParts, !prefix.hasNull, !isNull else { return parts.columns[place] }
    return wholeParts.columns[place]
  }
}

// MARK: Bounds

extension KeyRangeBuilder {
  private mutating func bounds(_ terms: [FieldTerm], _ place: Int) throws(StoreError) -> [KeyRange]?
  {
    guard !terms.isEmpty else { return nil }
    var ranges: [KeyRange] = []
    for prefix in prefixes {
      let column = column(place, behind: prefix, isNull: false)
      var range = valueRange(prefix.bytes, column)
      for term in terms { try narrow(&range, by: term, column, behind: prefix.bytes) }
      ranges.append(range)
    }
    for term in terms { result.note(term.conjunct, fixed: nil, isSaid: term.isWhole) }
    return ranges
  }

  /// The keys whose next part is not null.
  private func valueRange(_ prefix: [UInt8], _ column: KeyColumn) -> KeyRange {
    guard column.form.contains(.isOptional) else { return KeyRange(prefix: prefix) }
    let marker: UInt8 = column.form.contains(.isDescending) ? 0xfe : 1
    return KeyRange(prefix: prefix + [marker])
  }

  private func narrow(
    _ range: inout KeyRange, by term: FieldTerm, _ column: KeyColumn, behind prefix: [UInt8]
  ) throws(StoreError) {
    switch term.demand {
    case .isNotNull, .isAny, .isLike: return
    case .hasPrefix(let text, _):
      guard var bytes = try encoded(.string(text), column) else { return }
      // The end of an escaped string is no part of a prefix.
      if !column.form.isRaw { bytes.removeLast(2) }
      let begun = KeyRange(prefix: prefix + bytes)
      range.begin(at: begun.low)
      range.end(before: begun.high)
    case .isBeyond(let value, let isAbove, let orEqual):
      guard let bytes = try encoded(value, column) else { return }
      let first = prefix + bytes
      // Where nothing follows, the value is one key; otherwise all that begin with it.
      let behind =
        column.form.isRaw && column.type.fixedWidth == nil ? first + [0] : first.behindPrefix
      if isAbove == column.form.contains(.isDescending) {
        range.end(before: orEqual ? behind : first)
      } else if let low = orEqual ? first : behind {
        range.begin(at: low)
      } else {
        range = KeyRange(low: first, high: first)
      }
    }
  }
}

// MARK: Ending

extension KeyRangeBuilder {
  /// Index keys that are too long end with a hash, so bounds are cut to the part before it.
  private mutating func finish(_ range: KeyRange) {
    var range = range
    if range.low.count > IndexLayout.cutPrefix {
      range.low = Array(range.low.prefix(IndexLayout.cutPrefix))
      isExact = false
    }
    if let high = range.high, high.count > IndexLayout.cutPrefix {
      range.high = Array(high.prefix(IndexLayout.cutPrefix)).behindPrefix
      isExact = false
    }
    if !range.isEmpty { result.append(range) }
  }
}

extension KeyRanges {
  fileprivate mutating func note(_ conjunct: Int, fixed value: FieldValue?, isSaid: Bool = true) {
    if isSaid { said.insert(conjunct) }
    if fixed.count == boundCount { fixed.append(value) }
    boundCount = fixed.count
  }

  /// Ranges that were cut may overlap.
  fileprivate mutating func append(_ range: KeyRange) {
    if let last = ranges.last, let high = last.high, high.rawSpan.compare(range.low.rawSpan) > 0 {
      if range.high == nil || range.high?.rawSpan.compare(high.rawSpan) ?? 0 > 0 {
        ranges[ranges.count - 1].high = range.high
      }
      return
    }
    if let last = ranges.last, last.high == nil { return }
    ranges.append(range)
  }

  /// Ranges that were cut have more entries than the condition wants, possibly several of one record.
  fileprivate mutating func sayNothing() {
    said = ConjunctSet()
    mayRepeat = boundsExpanded
  }

  fileprivate mutating func noteExpanded(mayRepeat: Bool) {
    boundsExpanded = true
    self.mayRepeat = mayRepeat
  }
}

/// A run of keys in a tree.
struct KeyRange: Hashable, Sendable {
  /// The first key may be this.
  var low: [UInt8] = []
  /// Every key is below this; nil is without bound.
  var high: [UInt8]?

  static let all = KeyRange()
  /// After every key.
  static let highest = [UInt8](repeating: 0xff, count: StoreError.Limit.keyLength.bound + 1)

  init(low: [UInt8] = [], high: [UInt8]? = nil) {
    self.low = low
    self.high = high
  }

  /// The keys that begin with `prefix`.
  init(prefix: [UInt8]) {
    low = prefix
    high = prefix.behindPrefix
  }

  /// Only one key.
  init(only key: [UInt8]) {
    low = key
    high = key + [0]
  }

  var isEmpty: Bool {
    guard let high else { return false }
    return high.rawSpan.compare(low.rawSpan) <= 0
  }

  /// Leaves out keys below `bound`.
  mutating func begin(at bound: [UInt8]) {
    if bound.rawSpan.compare(low.rawSpan) > 0 { low = bound }
  }

  /// Leaves out keys from `bound` on.
  mutating func end(before bound: [UInt8]?) {
    guard let bound else { return }
    if let high, high.rawSpan.compare(bound.rawSpan) <= 0 { return }
    high = bound
  }

  func contains(_ key: RawSpan) -> Bool {
    if key.compare(low.rawSpan) < 0 { return false }
    guard let high else { return true }
    return key.compare(high.rawSpan) < 0
  }
}

extension [UInt8] {
  /// The lowest key that comes after all that begin with these bytes; nil if there is none.
  var behindPrefix: [UInt8]? {
    guard let place = lastIndex(where: { $0 < 0xff }) else { return nil }
    var bound = self
    bound.removeLast(count - 1 - place)
    bound[place] += 1
    return bound
  }
}
