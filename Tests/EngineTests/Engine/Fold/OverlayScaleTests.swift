import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Overlays, and files of the log, that are as large as folds need them.
@Suite struct OverlayScaleTests {
  @Test func `folds that write much for each byte double it, once or more, and others halve it`() {
    for (max, factor, written, next) in [
      (1, 1, 1_000_000, 1), (4, 1, 400, 1), (4, 1, 401, 2), (4, 2, 401, 4), (4, 4, 100_000, 4),
      (4, 4, 150, 4), (4, 4, 149, 2), (4, 2, 0, 1), (4, 1, 0, 1), (2, 2, 1000, 2),
      (8, 1, 800, 2), (8, 1, 801, 4), (8, 1, 1601, 8), (8, 1, 1_000_000, 8), (8, 2, 801, 8),
    ] {
      var scale = OverlayScale(max: max)
      while scale.factor < factor { scale.note(folded: 100, written: 401) }
      scale.note(folded: 100, written: written)
      #expect(scale.factor == next, "\(written) of 100 at \(factor), at most \(max)")
    }
  }

  @Test func `folds into levels double it likewise, and do not halve it`() {
    for (factor, written, next) in [(1, 401, 2), (1, 1601, 4), (4, 100, 4), (2, 0, 2), (2, 400, 2)]
    {
      var scale = OverlayScale(max: 4)
      while scale.factor < factor { scale.note(folded: 100, written: 401) }
      scale.note(folded: 100, written: written, isIntoTrees: false)
      #expect(scale.factor == next, "\(written) of 100 at \(factor)")
    }
  }

  /// Overlays hold 160 records at first.
  private static var options: EngineOptions {
    var options = EngineOptions()
    options.foldThreshold = 16 << 10
    options.logSize = .init(initial: 128 << 10, max: 128 << 10)
    options.overlayScaleMax = 4
    return options
  }

  @Test func `keys in no order make overlays larger, and ascending ones small again`() throws {
    var world = try FoldWorld(Self.options)
    for start in stride(from: 0, to: 40_000, by: 1000) as StrideTo<UInt64> {
      try world.put(start..<start + 1000, 1)
    }
    let engine = world.engine
    #expect(engine.overlayScale.factor == 1, "ascending keys need no larger one")
    #expect(try world.logSize() <= 2 * 128 << 10)
    try world.putAnywhere(2000, below: 40_000, 2)
    #expect(engine.overlayScale.factor == 4)
    #expect(engine.foldThreshold == 64 << 10 && engine.logMax == 512 << 10)
    let folds = engine.figures.folds.count
    try world.putAnywhere(4000, below: 40_000, 3)
    // Of 16 KiB each they would be 25 at least.
    #expect(engine.figures.folds.count - folds <= 10)
    #expect(try world.logSize() <= 2 * 512 << 10)
    try world.check(engine)

    let cut = try Engine.open(world.medium.crashed(.none), options: Self.options)
    try world.check(cut)
    try cut.close()

    for start in stride(from: 40_000, to: 60_000, by: 500) as StrideTo<UInt64> {
      try world.put(start..<start + 500, 4)
    }
    #expect(engine.overlayScale.factor == 1)
    try world.check(engine)
    try engine.close()
    #expect(try world.logSize() == 2 * 128 << 10)
    let again = try Engine.open(world.medium, options: Self.options)
    try world.check(again)
    try again.close()
  }
}

extension FoldWorld {
  /// Puts a number of records, 20 a transaction, in no order.
  fileprivate mutating func putAnywhere(
    _ count: Int, below end: UInt64, _ byte: UInt8
  ) throws {
    for _ in 0..<count / 20 {
      let keys = (0..<20).map { _ in random.next() % end }
      try put(keys, byte)
    }
  }

  /// The bytes of the log's files.
  fileprivate func logSize() throws -> Int {
    try [FileName.log(0), .log(1)].reduce(0) {
      try $0 + medium.open($1, .read, at: .test).size(at: .test)
    }
  }
}
