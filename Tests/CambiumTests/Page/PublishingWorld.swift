import TestSupport

@testable import Cambium

/// A small tree that is published twice to a medium that may fail: once before anything goes wrong, and
/// once while it does.
struct PublishingWorld {
  static let sizes = NodeSizes(leaf: 256, branch: 320)
  static let identity = StoreIdentity(low: 21, high: 22)

  let medium = SimulatedFileSystem()
  private(set) var first: FooterReference
  private let firstModel: [Bytes: Bytes]
  private let secondModel: [Bytes: Bytes]
  private let changes: [Bytes: Bytes?]

  init() throws {
    var model: [Bytes: Bytes] = [:]
    for index in 0..<40 as Range<UInt8> {
      model[[index]] = Bytes(repeating: index, count: index == 7 ? 5000 : 20)
    }
    firstModel = model
    changes = [[3]: [1, 2, 3], [20]: nil, [21, 1]: Bytes(repeating: 9, count: 300)]
    for (key, value) in changes { model[key] = value }
    secondModel = model
    first = FooterReference(
      position: PagePosition(segment: 0, block: 0), blocks: 1, checksum: Checksum(),
      copyChecksum: Checksum(), coveredSequence: 0)
    first = try publish(
      firstModel.mapValues { $0 }, over: nil, sequence: 1, in: medium, from: 1)
  }

  /// Publishes the second state, in segments from `number` on.
  func publishSecond(
    in medium: SimulatedFileSystem, from number: UInt32 = 2
  ) throws(StoreError) -> FooterReference {
    try publish(changes, over: first, sequence: 2, in: medium, from: number)
  }

  private func publish(
    _ changes: [Bytes: Bytes?], over base: FooterReference?, sequence: UInt64,
    in medium: SimulatedFileSystem, from number: UInt32
  ) throws(StoreError) -> FooterReference {
    var file: PageFile<SimulatedFileSystem>?
    if let base {
      file = try PageFile(opening: base, in: medium, reading: .buffered(cacheSize: 1 << 16))
    }
    // The smallest buffer: pages reach the medium in more than one write.
    let appender = PageAppender(
      to: medium, of: Self.identity, from: number, output: .direct, segmentBlocks: 129,
      bufferSize: 128 * Layout.blockSize)
    let root = try TreeMerge.run(
      ListInput(changes), into: file?.footer.trees.first?.root, of: file?.pages,
      transform: NoTransform(), sizes: Self.sizes, appendingTo: appender)
    try appender.sync()
    var footer = file?.footer ?? Footer(identity: Self.identity)
    footer.coveredSequence = sequence
    footer.trees = [NamedTree(name: "t", root: root)]
    footer.previous = base
    footer.segments += appender.extents.map {
      SegmentExtent(kind: .pages, number: $0.number, end: UInt64($0.endBlock), liveBytes: 0)
    }
    return try appender.publish(footer)
  }

  /// What is wrong with the first state as `medium` has it; nil if all is right.
  func faultOfFirst(in medium: SimulatedFileSystem) -> String? {
    fault(of: first, firstModel, in: medium)
  }

  func faultOfSecond(_ reference: FooterReference, in medium: SimulatedFileSystem) -> String? {
    fault(of: reference, secondModel, in: medium)
  }

  private func fault(
    of reference: FooterReference, _ model: [Bytes: Bytes], in medium: SimulatedFileSystem
  ) -> String? {
    do throws(StoreError) {
      let file = try PageFile(
        opening: reference, in: medium, reading: .buffered(cacheSize: 1 << 16))
      if let healed = file.healedCopy { return "\(healed)" }
      let tree = Tree(pages: file.pages, root: file.footer.trees.first?.root)
      let faults = TreeCheck.run(tree, sizes: Self.sizes).faults
      if !faults.isEmpty { return "\(faults)" }
      var value: Bytes = []
      for (key, expected) in model {
        guard try tree.copyValue(for: key.rawSpan, to: &value) else { return "no \(key)" }
        if value != expected { return "\(key) is \(value)" }
      }
      return tree.count == model.count ? nil : "\(tree.count) entries"
    } catch {
      return "\(error)"
    }
  }

  /// The segments with a name and without a whole header.
  func headlessSegments(in medium: SimulatedFileSystem) -> [FileName] {
    medium.names.filter { name in
      guard case .pages(let number) = name.kind, !name.isTemporary else { return false }
      let bytes = medium.bytes(of: name) ?? []
      let header = try? SegmentHeader(decoding: bytes.rawSpan, number: number, path: "")
      return header?.identity != Self.identity
    }
  }
}
