import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A small tree that is published twice to a medium that may fail: once before anything goes wrong, and
/// once while it does.
struct PublishingWorld {
  /// Where the second state goes.
  enum Way: CaseIterable {
    /// To a segment of its own.
    case newSegment
    /// Behind the first, by the appender that wrote that.
    case sameAppender
    /// Behind the first, by another appender, as after the store was closed and opened.
    case otherAppender
    /// The same, where the rest of the segment has room for the pages and not for the footer.
    case sameAppenderAcross
    /// The same, where the rest of the segment has room for some of the pages.
    case otherAppenderAcross

    /// The blocks of garbage before the first state.
    var filling: Int {
      switch self {
      case .newSegment, .sameAppender, .otherAppender: 0
      case .sameAppenderAcross: 64 + 46
      case .otherAppenderAcross: 64 + 49
      }
    }
  }

  static let sizes = NodeSizes(leaf: 256, branch: 320)
  static let identity = StoreIdentity(low: 21, high: 22)

  let medium = SimulatedFileSystem()
  let way: Way
  private let appenders: Appenders
  private(set) var first: FooterReference
  private let firstModel: [Bytes: Bytes]
  private let secondModel: [Bytes: Bytes]
  private let changes: [Bytes: Bytes?]

  init(_ way: Way = .newSegment) throws {
    self.way = way
    var model: [Bytes: Bytes] = [:]
    for index in 0..<40 as Range<UInt8> {
      model[[index]] = Bytes(repeating: index, count: index == 7 ? 5000 : 20)
    }
    firstModel = model
    changes = [[3]: [1, 2, 3], [20]: nil, [21, 1]: Bytes(repeating: 9, count: 300)]
    for (key, value) in changes { model[key] = value }
    secondModel = model
    first = FooterReference(
      position: PagePosition(segment: 0, block: 0), blocks: 1, checksum: PageChecksum(),
      copyChecksum: PageChecksum(), coveredSequence: 0)
    appenders = Appenders(Self.appender(to: medium, from: 1))
    for _ in 0..<way.filling { _ = try appenders.last.append(.value, blocks: 1) { _ in 0 } }
    first = try publish(firstModel.mapValues { $0 }, over: nil, sequence: 1, by: appenders.last)
  }

  /// Publishes the second state, in new segments from `number` on.
  ///
  /// - Parameter isAgain: Whether it failed before.
  func publishSecond(
    in medium: SimulatedFileSystem, from number: UInt32 = 2, isAgain: Bool = false
  ) throws(StoreError) -> FooterReference {
    let appender =
      switch way {
      case .newSegment: Self.appender(to: medium, from: number)
      case .sameAppender, .sameAppenderAcross: appenders.next(isAgain)
      case .otherAppender, .otherAppenderAcross:
        try PageAppender(
          to: medium, of: Self.identity, behind: first, from: number, output: .direct,
          segmentBlocks: 129, bufferSize: 128 * Layout.blockSize)
      }
    return try publish(changes, over: first, sequence: 2, by: appender)
  }

  /// The smallest buffer: pages reach the medium in more than one write.
  private static func appender(
    to medium: SimulatedFileSystem, from number: UInt32
  ) -> PageAppender {
    PageAppender(
      to: medium, of: identity, from: number, output: .direct, segmentBlocks: 129,
      bufferSize: 128 * Layout.blockSize)
  }

  private func publish(
    _ changes: [Bytes: Bytes?], over base: FooterReference?, sequence: UInt64,
    by appender: PageAppender
  ) throws(StoreError) -> FooterReference {
    var file: PageFile?
    if let base {
      file = try PageFile(opening: base, in: medium, reading: .buffered(cacheSize: 1 << 16))
    }
    let root = try TreeMerge.run(
      ListInput(changes), into: file?.footer.trees.first?.root, of: file?.pages, sizes: Self.sizes,
      appendingTo: appender)
    try appender.sync()
    var footer = file?.footer ?? Footer(identity: Self.identity)
    footer.coveredSequence = sequence
    footer.trees = [NamedTree(name: "t", root: root)]
    footer.previous = base
    footer.extend(by: appender.extents)
    return try appender.publish(footer)
  }

  /// The appender of the first state, and those that took over where one failed.
  private final class Appenders {
    private(set) var last: PageAppender

    init(_ first: PageAppender) {
      last = first
    }

    func next(_ hasFailed: Bool) -> PageAppender {
      if hasFailed { last = last.successor() }
      return last
    }
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
