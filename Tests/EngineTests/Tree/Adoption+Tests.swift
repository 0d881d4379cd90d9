@testable import Cambium

extension Adoption {
  static func outside(segment: UInt32) -> Adoption { .outside(SegmentSet([segment])) }

  /// Everything is written again, as far as the segments of small worlds go.
  static let nothing = Adoption.outside(SegmentSet((0..<256).map { UInt32($0) }))
}

extension TreeReport {
  /// How full the leaves are on average, from 0 to 1.
  var leafFill: Double { leafCapacity == 0 ? 1 : Double(leafBytesUsed) / Double(leafCapacity) }
}
