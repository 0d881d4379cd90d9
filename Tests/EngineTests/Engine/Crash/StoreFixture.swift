import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A small store, what it must hold, and every version that its blocks ever had.
struct StoreFixture {
  enum Ending: CaseIterable, Sendable {
    /// Everything is in the trees, and the log is sealed.
    case closed
    /// The power went; the last frame has none behind it that says it was flushed.
    case unclosed
  }

  struct Place: Hashable, Sendable {
    let file: FileName
    let block: Int
  }

  let ending: Ending
  let medium: SimulatedFileSystem
  let options: EngineOptions
  /// What there was after each commit.
  let contents: [Content]
  /// Of records, in step with the contents and with trees and indexes.
  private var entries: [[[[(key: Bytes, value: Bytes)]]]] = []
  let sequence: Int
  /// What blocks held at some time, and no longer do.
  private(set) var older: [Place: Set<Bytes>] = [:]
  /// The blocks of the frames in use, the last first, in a store that was not closed. Each of the last three
  /// has one commit.
  let frames: [Set<Place>]

  init(_ ending: Ending, seed: UInt64 = 1, of kind: Content.Kind = .entries) throws {
    var scenario = Scenario(name: "fixture", seed: seed, kind: kind)
    scenario.steps = Self.steps(ending, of: kind)
    let run = ScenarioRun(scenario)
    var contents: [Content] = []
    var older: [Place: Set<Bytes>] = [:]
    for step in scenario.steps {
      try run.perform(step)
      if contents.last != run.history.newest { contents.append(run.history.newest) }
      for (place, bytes) in run.medium.blocks { older[place, default: []].insert(bytes) }
    }
    run.end()
    medium = run.medium.crashed(.none)
    for (place, bytes) in medium.blocks { older[place]?.remove(bytes) }
    self.ending = ending
    self.older = older
    self.contents = contents
    options = scenario.options
    sequence = run.history.last
    frames = ending == .closed ? [] : try Self.frames(in: medium)
    if kind == .records {
      let types = try KeptTypes(SimulatedEngine.open(SimulatedFileSystem()).names)
      for content in contents {
        entries.append(try Content.treeNames.indices.map { try types.entries(of: $0, content) })
      }
    }
  }

  private static func steps(_ ending: Ending, of kind: Content.Kind) -> [Scenario.Step] {
    let durable = Durability.durable
    let largeLength = kind == .entries ? 5_000 : 1_500
    var steps: [Scenario.Step] = [.open]
    // Records have indexes besides, so fewer of them fill as many pages.
    for index in 0..<(kind == .entries ? 12 : 3) {
      let changes = (0..<5).map {
        Change.put(tree: index % 3, key: index * 5 + $0, length: 10 + index * 4)
      }
      steps.append(.commit(changes, durable))
    }
    steps += [
      .commit([.put(tree: 1, key: 70, length: largeLength), .remove(tree: 0, key: 0)], durable),
      .freeze, .settle, .close, .open,
      .commit([.put(tree: 2, key: 4, length: 20), .remove(tree: 1, key: 8)], durable), .freeze,
      .settle, .commit([.put(tree: 0, key: 71, length: 30)], durable),
      .commit([.put(tree: 0, key: 72, length: 30), .put(tree: 1, key: 3, length: 9)], durable),
      .commit([.put(tree: 0, key: 72, length: 40)], durable),
    ]
    if ending == .closed { steps.append(.close) }
    return steps
  }

  private static func frames(in medium: SimulatedFileSystem) throws -> [Set<Place>] {
    let files = try LogFiles(opening: medium, writing: false)
    var reader = LogReader(files)
    var frames: [Set<Place>] = []
    while let frame = try reader.next() {
      let blocks = frame.blocks.map { Place(file: .log(files.header.file), block: Int($0)) }
      frames.insert(Set(blocks), at: 0)
    }
    return frames
  }

  /// What the indexes of a tree hold in one of the contents.
  func entries(of tree: Int, _ content: Content) -> [[(key: Bytes, value: Bytes)]] {
    contents.firstIndex(of: content).map { entries[$0][tree] } ?? []
  }

  /// All blocks of all files, in order.
  var places: [Place] {
    medium.blocks.keys.sorted { ("\($0.file)", $0.block) < ("\($1.file)", $1.block) }
  }
}

extension SimulatedFileSystem {
  /// The blocks of the log and of page segments.
  var blocks: [StoreFixture.Place: Bytes] {
    var blocks: [StoreFixture.Place: Bytes] = [:]
    for name in names where name != .lock {
      let bytes = bytes(of: name) ?? []
      for block in 0..<bytes.count / Layout.blockSize {
        let start = block * Layout.blockSize
        blocks[.init(file: name, block: block)] = Array(bytes[start..<start + Layout.blockSize])
      }
    }
    return blocks
  }
}
