import Testing

@testable import Cambium

@Suite struct OrderedSectionsTests {
  /// All lists of up to three sections of up to three results.
  private static let worlds: [[Int]] = (0..<4).flatMap { a in
    (0..<4).flatMap { b in (0..<4).map { [a, b, $0] } }
  }

  private static func sections(_ counts: [Int]) -> OrderedSections {
    var sections = OrderedSections()
    sections.apply(
      counts.enumerated().flatMap { key, count in
        (0..<count).map { _ in OrderedSections.Change(old: nil, new: [UInt8(key)]) }
      })
    return sections
  }

  @Test func `each offset has the place that counting gives`() {
    for counts in Self.worlds {
      let sections = Self.sections(counts)
      let lengths = counts.filter { $0 > 0 }
      let places = lengths.enumerated().flatMap { section, count in
        (0..<count).map { SectionPlace(section: section, row: $0) }
      }
      #expect(sections.resultCount == places.count && places == places.sorted())
      #expect((0..<places.count).map { sections.place(at: $0) } == places)
    }
  }

  @Test func `sections come with their first result and go with their last`() {
    for from in Self.worlds {
      for to in Self.worlds {
        var sections = Self.sections(from)
        let old = sections
        var changes: [OrderedSections.Change] = []
        for key in 0..<3 {
          let (less, more) = (min(from[key], to[key]), max(from[key], to[key]))
          for _ in less..<more {
            let isNew = to[key] > from[key]
            changes.append(
              .init(old: isNew ? nil : [UInt8(key)], new: isNew ? [UInt8(key)] : nil))
          }
        }
        sections.apply(changes)
        let steps = SectionSteps(from: old, to: sections)
        var keys = old.keys
        for offset in steps.removed.reversed() { keys.remove(at: offset) }
        for offset in steps.inserted { keys.insert(sections.keys[offset], at: offset) }
        let expected = Self.sections(to).keys
        if keys != expected || sections.keys != expected
          || sections.resultCount != to.reduce(0, +)
          || steps.removed.count != (0..<3).count(where: { from[$0] > 0 && to[$0] == 0 })
        {
          Issue.record("from \(from) to \(to)")
        }
      }
    }
  }
}
