import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A large transaction on real files")
struct SpillFileTests {
  @Test func `leaves no file of its runs, and little more than its data`() throws {
    let directory = try TemporaryDirectory()
    var options = RawStoreOptions()
    options.engine.transactionBudget = 1 << 20
    let store = try RawStore(at: directory.path, options: options)
    let tree = try store.tree("t")
    let files = try PosixFileSystem(at: directory.path)
    let count = scaled(300_000, debug: 30_000)
    var random = SplitMix64(seed: 7)
    let value = Bytes(repeating: 5, count: 100)
    try store.write { transaction in
      for number in 0..<count {
        let key: [UInt64] = [random.next(), UInt64(number)]
        try transaction.put(unsafe key.span.bytes, value.rawSpan, in: tree)
      }
      #expect(Self.unlinkedFiles(in: directory.path) > 0)
      #expect(try files.list(at: .test).allSatisfy { !$0.isTemporary })
    }
    #expect(Self.unlinkedFiles(in: directory.path) == 0)
    #expect(try store.snapshot()[tree].count == count)
    var size = 0
    for name in try files.list(at: .test) {
      guard case .pages = name.kind else { continue }
      size += try files.open(name, .read, at: .test).size(at: .test)
    }
    #expect(Double(size) <= 1.10 * Double(count * 116))
    try store.close()
  }

  @Test func `writes ascending entries once`() throws {
    let directory = try TemporaryDirectory()
    var options = RawStoreOptions()
    options.engine.transactionBudget = 1 << 20
    let store = try RawStore(at: directory.path, options: options)
    let tree = try store.tree("t")
    let count = scaled(300_000, debug: 30_000)
    let value = Bytes(repeating: 5, count: 100)
    try store.write { transaction in
      for number in 0..<count {
        let key: [UInt64] = [UInt64(number).bigEndian, 7]
        try transaction.put(unsafe key.span.bytes, value.rawSpan, in: tree)
      }
      #expect(Self.unlinkedFiles(in: directory.path) == 0)
    }
    let snapshot = try store.snapshot()
    #expect(snapshot[tree].count == count)
    let files = try PosixFileSystem(at: directory.path)
    var size = 0
    for name in try files.list(at: .test) {
      guard case .pages = name.kind else { continue }
      size += try files.open(name, .read, at: .test).size(at: .test)
    }
    #expect(Double(size) <= 1.12 * Double(count * 116))
    try store.close()
  }

  /// The files of a directory that this process has open and that have no name.
  private static func unlinkedFiles(in path: String) -> Int {
    (0..<1024).count { descriptor in
      var target = Bytes(repeating: 0, count: 4096)
      let length = unsafe target.withUnsafeMutableBytes {
        guard let base = $0.baseAddress else { return 0 }
        return unsafe readlink("/proc/self/fd/\(descriptor)", base, $0.count)
      }
      guard length > 0 else { return false }
      let text = String(decoding: target[..<length], as: UTF8.self)
      return text.contains(path) && text.hasSuffix("(deleted)")
    }
  }
}
