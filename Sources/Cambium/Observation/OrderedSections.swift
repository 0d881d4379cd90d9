/// The place of a record in a list of sections. Places are sorted by section, then by row.
///
/// ```swift
/// let record = sections[place.section].records[place.row]
/// ```
public struct SectionPlace: Hashable, Sendable {
  /// The offset of the section among all sections.
  public let section: Int
  /// The offset of the record in its section.
  public let row: Int
}

extension SectionPlace: Comparable {
  /// Returns true if a place is in an earlier section than another, or in the same section and before it.
  public static func < (one: SectionPlace, other: SectionPlace) -> Bool {
    (one.section, one.row) < (other.section, other.row)
  }
}

/// The sections of ordered results: their keys, and the offset at which each begins.
///
///     results    a b c │ d │ e f
///     starts     0       3   4     6
struct OrderedSections: Sendable {
  /// Ascending; they sort as the sections do.
  private(set) var keys: [[UInt8]] = []
  /// The offsets, and after them the number of results.
  private var starts = [0]

  /// The change of one record: the keys of its old and its new section.
  struct Change: Sendable {
    /// Nil if the record was not among the results.
    let old: [UInt8]?
    /// Nil if it is not.
    let new: [UInt8]?
  }

  var resultCount: Int { starts[keys.count] }

  /// Returns the place of the result at an offset.
  ///
  /// - Complexity: O(log sections).
  func place(at offset: Int) -> SectionPlace {
    precondition(0 <= offset && offset < resultCount, "there is no such result")
    // Sections are not empty, so one search finds the last that begins at the offset or before.
    var (low, high) = (0, keys.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return SectionPlace(section: low, row: offset - starts[low])
  }

  /// Takes changes in, of which each is of another record.
  ///
  /// - Complexity: O(changes × log sections), and linear in the sections.
  mutating func apply(_ changes: [Change]) {
    var counts = keys.indices.map { starts[$0 + 1] - starts[$0] }
    var created: [[UInt8]: Int] = [:]
    for change in changes where change.old != change.new {
      if let old = change.old.flatMap(section) { counts[old] -= 1 }
      guard let new = change.new else { continue }
      if let section = section(new) { counts[section] += 1 } else { created[new, default: 0] += 1 }
    }
    var sections: [(key: [UInt8], count: Int)] = created.map { ($0.key, $0.value) }
    for (key, count) in zip(keys, counts) where count > 0 { sections.append((key, count)) }
    sections.sort { $0.key.rawSpan.compare($1.key.rawSpan) < 0 }
    keys = sections.map(\.key)
    starts = [0]
    for section in sections { starts.append(starts[starts.count - 1] + section.count) }
  }

  /// Returns the section with a key; nil if there is none.
  private func section(_ key: [UInt8]) -> Int? {
    let section = OrderedKeys(keys).rank(of: key)
    return section < keys.count && keys[section] == key ? section : nil
  }
}

/// The changes from the sections of one state to those of the next, by the offsets of the sections.
struct SectionSteps: Sendable, Equatable {
  /// In the sections as they were; ascending, as are all.
  private(set) var removed: [Int] = []
  /// In the sections as they are.
  private(set) var inserted: [Int] = []

  init(from old: OrderedSections, to new: OrderedSections) {
    let wasThere = Set(old.keys)
    let isThere = Set(new.keys)
    removed = old.keys.indices.filter { !isThere.contains(old.keys[$0]) }
    inserted = new.keys.indices.filter { !wasThere.contains(new.keys[$0]) }
  }
}
