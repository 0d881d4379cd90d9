import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A reader that knows nothing but `FORMAT.md` reads what the library wrote.
@Suite struct IndependentReaderTests {
  @Test func `the fixture reads as it is described`() throws {
    let document = try FormatDocument()
    for (line, model) in zip(
      try document.hex("The references"), [FormatFixture.oldModel, FormatFixture.newModel])
    {
      let reader = try IndependentReader(named(FormatFixture.files()), opening: line.bytes)
      #expect(reader.identity == Bytes(0..<16))
      #expect(reader.treeNames == ["empty", "notes"])
      #expect(try reader.entries(of: "empty").isEmpty)
      try verify(reader, tree: FormatFixture.treeName, model)
    }
  }

  @Test func `its versions are those of the leaves`() throws {
    let line = try FormatDocument().hex("The references")[0]
    let reader = try IndependentReader(named(FormatFixture.files()), opening: line.bytes)
    #expect(try reader.entries(of: "notes").map(\.version) == [1, 1, 1, 1, 1, 2, 2, 2, 1, 1])
  }

  @Test func `the copy of a footer serves where the first is damaged`() throws {
    let line = try FormatDocument().hex("The references")[1]
    var files = try named(FormatFixture.files())
    files["pages-0000000002"]?[3 * 4096 + 200] ^= 1
    try verify(
      IndependentReader(files, opening: line.bytes), tree: "notes", FormatFixture.newModel)
    files["pages-0000000002"]?[4 * 4096 + 200] ^= 1
    #expect(throws: IndependentReader.Refusal.self) {
      try IndependentReader(files, opening: line.bytes)
    }
  }

  @Test func `random trees read as they were written`() throws {
    replaying(0..<UInt64(scaled(60, debug: 12))) { seed in
      var random = SplitMix64(seed: seed)
      try verify(RandomTree(&random), &random)
    }
  }

  @Test func `a tree of standard nodes reads, with values of every kind`() throws {
    var random = SplitMix64(seed: 1)
    var model: [Bytes: Bytes] = [:]
    for index in 0..<UInt64(scaled(6_000, debug: 1_500)) {
      model[key(index &* 0x9e37_79b9_7f4a_7c15, length: 8)] = key(index, length: Int(index % 90))
    }
    model[[]] = []
    model[Bytes(repeating: 7, count: 1024)] = Bytes(repeating: 1, count: 3_000)
    model[Bytes("one page".utf8)] = random.bytes(LargeValue.partLengthMax)
    model[Bytes("two pages".utf8)] = random.bytes(LargeValue.partLengthMax + 1)
    try verify(RandomTree(model: model, sizes: .standard), &random)
  }

  /// Writes a tree, in two merges, and compares what the independent reader finds in it.
  private func verify(_ tree: RandomTree, _ random: inout SplitMix64) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tree.sizes)
    try world.merge(tree.model.mapValues { $0 })
    let changed = tree.model.keys.sorted(by: <).enumerated().filter { $0.offset % 7 == 3 }
    try world.merge(
      Dictionary(
        uniqueKeysWithValues: changed.map { index, key in
          (key, index % 2 == 0 ? nil : random.bytes(index % 50))
        }), version: 1)
    guard let file = world.file else { return }
    var reference: Bytes = []
    file.reference.encode(to: &reference)
    var files: [String: Bytes] = [:]
    for name in try world.medium.list(at: .test) {
      files["\(name)"] = try world.medium.contents(of: name)
    }
    try verify(IndependentReader(files, opening: reference), tree: "t", world.model)
  }

  private func verify(
    _ reader: IndependentReader, tree: String, _ model: [Bytes: Bytes]
  ) throws {
    let sorted = SortedModel(model)
    let entries = try reader.entries(of: tree)
    try agree(entries.map(\.key) == sorted.keys, "\(entries.count) keys for \(sorted.keys.count)")
    try agree(entries.map(\.value) == sorted.values, "the values differ")
    for index in stride(
      from: 0, to: entries.count, by: max(1, entries.count / scaled(12, debug: 6)))
    {
      let key = sorted.keys[index]
      try agree(reader.value(of: key, in: tree) == sorted.values[index], "no value of \(key)")
      for neighbor in neighbors(of: key) where neighbor.count <= 1024 {
        let value = try reader.value(of: neighbor, in: tree)
        try agree(value == model[neighbor], "\(neighbor) reads \(String(describing: value))")
      }
    }
  }

  private func named(_ files: [FileName: Bytes]) -> [String: Bytes] {
    Dictionary(uniqueKeysWithValues: files.map { ("\($0.key)", $0.value) })
  }
}

/// Entries for a tree, and the sizes of its nodes.
private struct RandomTree {
  var model: [Bytes: Bytes] = [:]
  var sizes: NodeSizes

  init(model: [Bytes: Bytes], sizes: NodeSizes) {
    self.model = model
    self.sizes = sizes
  }

  /// Keys that often agree in their heads, or are short, or all of one length; values likewise.
  init(_ random: inout SplitMix64) {
    sizes =
      [tinyNodes, NodeSizes(leaf: 700, branch: 500), NodeSizes(leaf: 5_000, branch: 9_000)]
      .randomElement(using: &random) ?? tinyNodes
    let prefixes = [[], random.bytes(3), random.bytes(8), random.bytes(20)]
    let keyLengths = [8...8, 0...12, 6...30, 11...11].randomElement(using: &random) ?? 8...8
    let valueLengths =
      [0...0, 5...5, 0...40, 0...sizes.leaf].randomElement(using: &random) ?? 5...5
    let letters: [UInt8] = Bool.random(using: &random) ? [0, 1, 255] : Bytes(0...255)
    for _ in 0..<Int.random(in: 1...400, using: &random) {
      let suffix = (0..<Int.random(in: keyLengths, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? 0
      }
      let key = (prefixes.randomElement(using: &random) ?? []) + suffix
      model[key] = random.bytes(Int.random(in: valueLengths, using: &random))
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func bytes(_ count: Int) -> Bytes {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
