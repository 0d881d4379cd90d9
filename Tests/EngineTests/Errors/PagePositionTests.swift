import Cambium
import Testing

@Test func `positions are ordered by segment, then block`() {
  let ordered = [
    PagePosition(segment: 1, block: 1), PagePosition(segment: 1, block: .max),
    PagePosition(segment: 2, block: 0), PagePosition(segment: .max, block: 0),
  ]
  for (index, position) in ordered.enumerated() {
    for (otherIndex, other) in ordered.enumerated() {
      #expect((position < other) == (index < otherIndex))
    }
  }
}
