import TestSupport

extension SplitMix64 {
  mutating func chance(_ count: UInt64) -> Bool { next() % count == 0 }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int(next() % UInt64(choices.count))]
  }
}
