import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct OverlaySmallWorldTests {
  enum Step: CaseIterable {
    case putLow, putMiddle, putHigh, removeLow, removeMiddle, removeHigh
    case clear, save, rollBack, finish, abort
  }

  /// Every sequence of steps of a length, as numbers whose digits are the steps.
  private static func sequences(of length: Int) -> some Sequence<[Step]> {
    let steps = Step.allCases
    let count = (0..<length).reduce(1) { product, _ in product * steps.count }
    return (0..<count).lazy.map { number in
      var rest = number
      return (0..<length).map { _ in
        defer { rest /= steps.count }
        return steps[rest % steps.count]
      }
    }
  }

  private static func run(_ step: Step, in world: inout OverlayWorld) throws {
    switch step {
    case .putLow: try world.put([1])
    case .putMiddle: try world.put([5, 5])
    case .putHigh: try world.put([9])
    case .removeLow: try world.remove([1])
    case .removeMiddle: try world.remove([5, 5])
    case .removeHigh: try world.remove([9])
    case .clear: world.clear()
    case .save: world.save()
    case .rollBack: world.rollBack()
    case .finish: try world.finish()
    case .abort: world.abort()
    }
  }

  /// With none of its neighbors there, and among so many that nodes divide.
  @Test(arguments: [[], [[2], [4], [5], [6], [8]] as [Bytes]])
  func `every short history agrees with a dictionary, and pinned versions stay`(
    others: [Bytes]
  ) {
    let keys: [Bytes] = [[], [1], [1, 0], [5], [5, 5], [7], [9], [9, 9]]
    for steps in Self.sequences(of: scaled(5, debug: 3)) {
      do {
        var world = OverlayWorld(keys: keys, below: [TreeSlot(0): [[5, 5], [9], [4]]])
        for other in others { try world.put(other) }
        for step in steps { try Self.run(step, in: &world) }
        try world.verifyPresent()
        try world.verifyEnd()
      } catch {
        Issue.record("\(steps): \(error)")
        return
      }
    }
  }
}
