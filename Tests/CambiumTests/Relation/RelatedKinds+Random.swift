import TestSupport

@testable import Cambium
@testable import InternalTestSupport

extension RelatedKinds {
  /// Kinds and references of every shape.
  static func random(_ random: inout SplitMix64) -> RelatedKinds {
    let count = Int.random(in: 1...5, using: &random)
    var made = RelatedKinds(
      kinds: (0..<count).map { place in
        Kind(
          name: String(decoding: [UInt8(ascii: "A") + UInt8(place)], as: UTF8.self),
          key: .number(
            random.next() % 8 == 0
              ? random.pick([.longString, .longestString])
              : random.pick([.integer, .integer, .string, .uuid])),
          hasCode: random.chance(3))
      }, links: (0..<count).map { _ in [] })
    for number in 0..<Int.random(in: 0...8, using: &random) {
      let owner = Int.random(in: 0..<count, using: &random)
      let destinations = made.kinds.indices.filter { made.kinds[$0].canBeDestination }
      guard let destination = destinations.randomElement(using: &random) else { continue }
      var link = Link(
        name: "r\(number)", owner: owner, destination: destination,
        shape: random.pick([.required, .optional, .optional, .list, .list, .optionalList]))
      made.putInKey(&link, &random)
      made.links[owner].append(made.withRules(link, number, &random))
    }
    return made
  }

  /// Makes some required references a part of the key, or the whole.
  private mutating func putInKey(_ link: inout Link, _ random: inout SplitMix64) {
    guard link.shape == .required, random.chance(3), case .number = kinds[link.owner].key else {
      return
    }
    let place = links[link.owner].count
    let isDestination = links.joined().contains { $0.destination == link.owner }
    let leadsBack = link.destination >= link.owner
    // Keys of two fields lead nowhere, and a key that is a reference must not lead back to itself.
    let type = keyType(of: link.destination)
    if !isDestination, link.destination != link.owner, type != .longestString {
      let isLong = type == .longString
      kinds[link.owner].key = random.chance(2) && !isLong ? .linkSecond(place) : .linkFirst(place)
    }
    if !leadsBack, random.chance(2) { kinds[link.owner].key = .link(place) }
  }

  private func withRules(
    _ link: Link, _ number: Int, _ random: inout SplitMix64
  ) -> Link {
    var link = link
    let isKey = kinds[link.owner].key.link == links[link.owner].count
    let canCut = link.shape != .required
    if !isKey {
      link.composite = random.chance(6) ? random.pick([.required, .optional]) : .none
      link.isUnique = random.chance(5)
      if !link.isUnique { link.index = random.pick([.made, .made, .stated, .compound]) }
    }
    link.isDeclaredChecked = !random.chance(10)
    if link.isList, link.isDeclaredChecked, random.chance(3) {
      link.bounds = random.pick([0...2, 1...3, 1...Int.max, 2...4, 0...3])
    }
    if !link.isDeclaredChecked {
      if random.chance(3) { link.inverse = Inverse(name: "i\(number)", rule: .noAction) }
      return link
    }
    if random.chance(2) {
      let rules: [DeleteRule] = [.cascade, .deny, .cascade, .deny, .noAction]
      link.inverse = Inverse(
        name: "i\(number)", rule: random.pick(rules + (canCut ? [.nullify, .nullify] : [])))
      if link.isChecked, random.chance(3) {
        link.inverse?.bounds = random.pick([0...1, 0...2, 0...3, 1...4, 1...Int.max])
      }
    }
    if link.isChecked { link.ownRule = random.pick([.nullify, .nullify, .cascade, .deny]) }
    return link
  }
}
