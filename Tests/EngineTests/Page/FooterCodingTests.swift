import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct FooterCodingTests {
  @Test func `a footer reads as it was written, whatever is in it`() throws {
    var random = SplitMix64(seed: 1)
    for round in 0..<400 {
      let footer = FooterFixtures.random(&random)
      #expect(try Footer.decode(footer.page()) == footer, "round \(round)")
    }
  }

  @Test func `an empty footer reads as it was written`() throws {
    let footer = Footer(identity: FooterFixtures.identity)
    #expect(try Footer.decode(footer.page()) == footer)
  }

  @Test func `an unknown section is passed over, unless it must be understood`() throws {
    var random = SplitMix64(seed: 2)
    let footer = FooterFixtures.random(&random)
    #expect(try Footer.decode(footer.page(extraSections: section(99, flags: 0))) == footer)
    let error = storeError { () throws(StoreError) in
      _ = try Footer.decode(
        page(of: footer, with: section(99, flags: Footer.mustUnderstand)))
    }
    guard case .newerFormat("here", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `unknown features say what may be done`() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.features.compatible = 1 << 40
    #expect(try Footer.decode(footer.page()).features.access == .writing)
    footer.features.readCompatible = 1 << 41
    #expect(try Footer.decode(footer.page()).features.access == .reading)
    footer.features.incompatible = 1 << 42
    let page = try footer.page()
    let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
    guard case .newerFormat = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a footer cut short anywhere is refused`() throws {
    var random = SplitMix64(seed: 3)
    var footer = FooterFixtures.random(&random)
    footer.previous = nil
    let page = try footer.page()
    let end = try Footer.fixedSize + footer.encodedSections().count
    for count in 0..<end {
      let error = storeError { () throws(StoreError) in
        _ = try Footer.decode(Array(page.prefix(count)))
      }
      guard case .corrupt(.page(FooterFixtures.position), .footerSections, _) = error else {
        Issue.record("\(count) bytes of \(end): \(String(describing: error))")
        return
      }
    }
  }

  /// The checksum is no part of this: a hostile file has a right one.
  @Test func `bytes changed at random are read or refused, and never trap`() throws {
    var random = SplitMix64(seed: 4)
    var refused = 0
    for _ in 0..<100 {
      let page = try FooterFixtures.random(&random).page()
      let end = Footer.fixedSize + 4 + Int(page[24]) + Int(page[25]) << 8
      for _ in 0..<200 {
        var changed = page
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let offset = Int.random(in: PageHeader.size..<min(end, page.count), using: &random)
          changed[offset] =
            [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &random)]
            .randomElement(using: &random) ?? 0
        }
        let error = storeError { () throws(StoreError) in _ = try Footer.decode(changed) }
        switch error {
        case nil: break
        case .corrupt(.page, _, _), .newerFormat: refused += 1
        default: Issue.record("\(String(describing: error))")
        }
      }
    }
    #expect(refused > 5_000)
  }

  @Test func `names that do not ascend are refused`() throws {
    for names in [["b", "a"], ["a", "a"]] {
      var footer = Footer(identity: FooterFixtures.identity)
      footer.trees = [NamedTree(name: "a", root: nil), NamedTree(name: "b", root: nil)]
      var page = try footer.page()
      // section header 8, count 4, then: name length, name, number of layers, length of options
      let first = Footer.fixedSize + 8 + 4 + 1
      page[first] = names[0].utf8.first ?? 0
      page[first + 5] = names[1].utf8.first ?? 0
      let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
      guard case .corrupt(_, .footerSections, _) = error else {
        Issue.record("\(names): \(String(describing: error))")
        continue
      }
    }
  }

  /// A footer with a tree without entries, whose line in the catalog is another.
  private static func footer(layers: UInt8, then rest: Bytes) throws -> Bytes {
    var sections: Bytes = []
    let payload: Bytes = [1, 0, 0, 0, 1, UInt8(ascii: "t"), layers] + rest
    sections.append(integer: Footer.Section.trees.rawValue)
    sections.append(integer: Footer.mustUnderstand)
    sections.append(integer: UInt32(payload.count))
    return try Footer(identity: FooterFixtures.identity)
      .page(extraSections: sections + payload)
  }

  @Test func `a tree with options is read unless one of them must be known`() throws {
    func decode(_ options: Bytes) -> StoreError? {
      storeError { () throws(StoreError) in
        guard
          let page = try? Self.footer(layers: 0, then: little(UInt64(options.count), 2) + options)
        else { return }
        let trees = try Footer.decode(page).trees
        #expect(trees == [NamedTree(name: "t")])
      }
    }
    #expect(decode([]) == nil)
    #expect(decode([1, 0, 0, 0]) == nil)
    #expect(decode([1, 0, 2, 0, 8, 8, 0xff, 0x7f, 1, 0, 9]) == nil)
    for damaged in [[1], [1, 0, 1, 0], [1, 0, 0, 0, 7]] as [Bytes] {
      guard case .corrupt(_, .footerSections, _) = decode(damaged) else {
        Issue.record("\(damaged)")
        continue
      }
    }
    for newer in [[1, 0x80, 0, 0], [1, 0, 2, 0, 8, 8, 0, 0x80, 1, 0, 9]] as [Bytes] {
      guard case .newerFormat("here", _) = decode(newer) else {
        Issue.record("\(newer)")
        continue
      }
    }
  }

  @Test func `a tree of several layers is newer, up to the most that there can be`() throws {
    for layers in [6, 16, 17, 255] as [UInt8] {
      let page = try Self.footer(layers: layers, then: Bytes(repeating: 0, count: 34 * 20))
      let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
      switch error {
      case .newerFormat: #expect(layers <= 16)
      case .corrupt(_, .footerSections, _): #expect(layers > 16)
      default: Issue.record("\(layers) layers: \(String(describing: error))")
      }
    }
    // Flags of the only layer that no part has.
    for flags in [1, 3, 9, 10, 16, 255] as [UInt8] {
      let page = try Self.footer(layers: 1, then: [flags] + Bytes(repeating: 0, count: 67))
      let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
      guard case .newerFormat = error else {
        Issue.record("\(flags): \(String(describing: error))")
        return
      }
    }
  }

  /// A layer with a root of one block that may be there.
  private static func layer(_ flags: UInt8) -> Bytes {
    let page = PageReference(
      position: PagePosition(segment: 1, block: 1), blocks: 1, checksum: PageChecksum(),
      lowestVersion: 0, count: 1, liveBytes: UInt64(Layout.blockSize))
    var bytes: Bytes = [flags, 0]
    page.encode(to: &bytes)
    return bytes
  }

  @Test func `the layers of a level come in their order, before the tree`() throws {
    for (flags, names) in [
      ([0], ["t"]), ([2, 0], ["t", "t\u{1}+"]), ([4, 0], ["t", "t\u{1}="]),
      ([6, 0], ["t", "t\u{1}~"]), ([2, 6, 0], ["t", "t\u{1}+", "t\u{1}~"]),
      ([2, 4, 6, 0], ["t", "t\u{1}+", "t\u{1}=", "t\u{1}~"]),
      ([0, 0], nil), ([2], nil), ([0, 2], nil), ([4, 2, 0], nil), ([2, 2, 0], nil),
      ([6, 4, 0], nil), ([8, 0], ["t", "t\u{1}!"]),
      ([8, 2, 4, 6, 0], ["t", "t\u{1}!", "t\u{1}+", "t\u{1}=", "t\u{1}~"]), ([8], nil),
      ([2, 8, 0], nil), ([8, 8, 0], nil),
    ] as [([UInt8], [String]?)] {
      let bytes = flags.flatMap { Self.layer($0) }
      let page = try Self.footer(layers: UInt8(flags.count), then: bytes + [0, 0])
      var found: Footer?
      let error = storeError { () throws(StoreError) in found = try Footer.decode(page) }
      #expect(found?.trees.map(\.name) == names, "\(flags): \(String(describing: error))")
      if let found {
        #expect(found.trees.allSatisfy { $0.root?.reference.count == 1 })
        var again = Footer(identity: FooterFixtures.identity)
        again.trees = found.trees
        #expect(try Footer.decode(again.page()).trees == found.trees)
      } else {
        guard case .corrupt(_, .footerSections, _) = error else {
          Issue.record("\(flags): \(String(describing: error))")
          continue
        }
      }
    }
    // Another layer.
    let page = try Self.footer(layers: 2, then: Self.layer(10) + Self.layer(0) + [0, 0])
    let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
    guard case .newerFormat = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: [96, 129])
  func `a footer whose catalog or segment table is a tree is newer`(offset: Int) throws {
    var page = try Footer(identity: FooterFixtures.identity).page()
    #expect(page[offset] == 0xff)
    page[offset] = 0
    let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
    guard case .newerFormat("here", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a reference to what lies behind the footer is refused`() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    let reference = PageReference(
      position: FooterFixtures.position, blocks: 1, checksum: PageChecksum(), lowestVersion: 1,
      count: 1, liveBytes: 4096)
    footer.trees = [NamedTree(name: "a", root: TreeRoot(reference: reference, level: 0))]
    let page = try footer.page()
    let error = storeError { () throws(StoreError) in _ = try Footer.decode(page) }
    guard case .corrupt(.page(FooterFixtures.position), .childBeforeParent, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `what is too large for a footer is refused before it is written`() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.trees = [NamedTree(name: String(repeating: "n", count: 255), root: nil)]
    #expect(try Footer.decode(footer.page()) == footer)
    footer.trees = [NamedTree(name: String(repeating: "n", count: 256), root: nil)]
    #expect(error(of: footer) == .limitExceeded(.nameLength, found: 256))

    footer.trees = (1000..<2300).map {
      NamedTree(name: String(repeating: "n", count: 200) + "\($0)", root: nil)
    }
    guard case .limitExceeded(.footerSize, let found) = error(of: footer) else {
      Issue.record("\(String(describing: error(of: footer)))")
      return
    }
    #expect(found > 1300 * 200)
  }

  @Test func `a label too long to be written is refused as one`() throws {
    let reference = FooterReference(
      position: PagePosition(segment: 1, block: 1), blocks: 1, checksum: PageChecksum(),
      copyChecksum: PageChecksum(), coveredSequence: 0)
    for length in [255, 256] {
      let label = String(repeating: "é", count: length / 2) + (length % 2 == 0 ? "" : "n")
      var kept = Footer(identity: FooterFixtures.identity)
      kept.keptStates = [KeptState(version: 1, label: label, footer: reference)]
      let expected = length == 255 ? nil : StoreError.limitExceeded(.nameLength, found: 256)
      #expect(error(of: kept) == expected)
    }
  }

  @Test func `the largest footer fits its page to the byte`() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.pendingWork = (0..<4).map { _ in PendingWork(kind: 1, cursor: [], trees: []) }
    let rest = StoreError.Limit.footerSize.bound - Footer.fixedSize
    let room = try rest - footer.encodedSections().count
    for index in 0..<4 {
      footer.pendingWork[index].cursor = Bytes(
        repeating: 1, count: room / 4 + (index < room % 4 ? 1 : 0))
    }
    #expect(try Footer.decode(footer.page()) == footer)
    footer.pendingWork[3].cursor.append(1)
    #expect(error(of: footer) == .limitExceeded(.footerSize, found: 64 * 4096 + 1))
  }

  @Test func `a cursor longer than its length field can say is refused`() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.pendingWork = [
      PendingWork(kind: 1, cursor: Bytes(repeating: 1, count: 65_535), trees: [])
    ]
    #expect(try Footer.decode(footer.page()) == footer)
    footer.pendingWork[0].cursor.append(1)
    #expect(error(of: footer) == .limitExceeded(.cursorLength, found: 65_536))
  }

  @Test func `a footer that could never be read is not written`() async {
    await #expect(processExitsWith: .failure) {
      var footer = Footer(identity: FooterFixtures.identity)
      footer.trees = [NamedTree(name: "b", root: nil), NamedTree(name: "a", root: nil)]
      _ = try footer.encodedSections()
    }
    await #expect(processExitsWith: .failure) {
      var footer = Footer(identity: FooterFixtures.identity)
      footer.segments = [
        SegmentExtent(kind: .pages, number: 1, end: 1, liveBytes: 0),
        SegmentExtent(kind: .pages, number: 1, end: 1, liveBytes: 0),
      ]
      _ = try footer.encodedSections()
    }
  }

  private func error(of footer: Footer) -> StoreError? {
    storeError { () throws(StoreError) in _ = try footer.encodedSections() }
  }

  private func page(of footer: Footer, with section: Bytes) throws(StoreError) -> Bytes {
    guard let page = try? footer.page(extraSections: section) else { return [] }
    return page
  }

  private func section(_ kind: UInt16, flags: UInt16) -> Bytes {
    var bytes: Bytes = []
    bytes.append(integer: kind)
    bytes.append(integer: flags)
    bytes.append(integer: UInt32(3))
    return bytes + [1, 2, 3]
  }
}
