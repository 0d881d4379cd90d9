import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A footer names all trees of a store, and has room for so many.
@Suite struct TreeLimitTests {
  /// Makes trees, `count` in a transaction, until one is refused.
  ///
  /// - Returns: the number of trees.
  private static func makeTrees(
    named prefix: String, count: Int, in engine: SimulatedEngine
  ) throws -> Int {
    var made = 0
    while made < 20_000 {
      do {
        try engine.write(.durable) { transaction in
          for number in made..<made + count {
            let tree = try engine.names.slot(of: "\(prefix)\(number)")
            try transaction.put(
              Bytes([1]).rawSpan, Bytes([2]).rawSpan, schemaVersion: 1, in: tree)
          }
        }
        made += count
      } catch StoreError.limitExceeded(.footerSize, _) {
        return made
      }
    }
    return made
  }

  @Test(arguments: [("record.", 500), ("an-index-with-a-rather-long-name/of.a-record.", 300)])
  func
    `trees that no footer has room for are refused in their transaction, and nothing else is harmed`(
      prefix: String, count: Int
    ) throws
  {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small(foldThreshold: 1 << 20)
    options.logSize = .init(initial: 1 << 20, max: 8 << 20)
    let engine = try SimulatedEngine.open(medium, options: options)
    let made = try Self.makeTrees(named: prefix, count: count, in: engine)
    #expect(made >= count)
    try engine.foldEverything()
    // Trees that are there take more entries; a new one is refused.
    try engine.put([2], [3], in: "\(prefix)0")
    #expect(throws: StoreError.self) {
      for number in 0..<count { try engine.put([2], [3], in: "new.\(prefix)\(number)") }
    }
    try engine.put([4], [5], in: "\(prefix)\(made - 1)")
    try engine.close()
    let again = try SimulatedEngine.open(medium, options: options)
    #expect(again.report.replayedCommits == 0)
    #expect(try again.value([2], in: "\(prefix)0") == [3])
    #expect(try again.value([1], in: "\(prefix)\(made - 1)") == [2])
    try again.close()
  }

  @Test func `copies of trees that no footer has room for are refused by their commit`() throws {
    let medium = SimulatedFileSystem()
    var options = EngineOptions.small(foldThreshold: 1 << 20)
    options.logSize = .init(initial: 1 << 20, max: 8 << 20)
    let engine = try SimulatedEngine.open(medium, options: options)
    let made = try Self.makeTrees(named: "record.", count: 500, in: engine)
    let error = #expect(throws: StoreError.self) {
      try engine.write(.durable) { transaction in
        for number in 0..<made {
          let source = try engine.names.slot(of: "record.\(number)")
          let copy = try engine.names.slot(of: "m.\(number).record")
          transaction.treeWork.operations.append(.copy(source, to: copy))
        }
      }
    }
    guard case .limitExceeded(.footerSize, _) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "")")
      return
    }
    // Everything else goes on.
    try engine.put([2], [3], in: "record.0")
    try engine.foldEverything()
    try engine.close()
    let again = try SimulatedEngine.open(medium, options: options)
    #expect(try again.value([2], in: "record.0") == [3])
    #expect(try again.value([1], in: "record.\(made - 1)") == [2])
    try again.close()
  }
}
