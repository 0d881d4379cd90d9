import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Pages that are whole, and of a version that may compress or encrypt them.
@Suite struct NewerPageTests {
  private let store = FooterStore()
  private let reference: FooterReference

  init() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.coveredSequence = 5
    reference = try store.publish(footer)
  }

  /// Bytes of a header that only a newer program understands: a flag, an algorithm, and the bytes after it.
  private static let newer: [(offset: Int, byte: UInt8)] = [
    (11, 0x80), (11, 0xc0), (16, 1), (16, 255), (17, 1), (18, 1), (19, 0x80),
  ]
  /// Bytes of a plain page that a reader ignores: other flags, the stored length, and reserved bytes.
  private static let ignored: [(offset: Int, byte: UInt8)] = [
    (11, 0x40), (12, 1), (15, 255), (20, 1), (23, 255),
  ]

  @Test func `a page that is compressed or encrypted is of a newer format, not damaged`() throws {
    for (offset, byte) in Self.newer {
      let changed = try store.reseal(reference) { $0[offset] = byte }
      let error = storeError { () throws(StoreError) in _ = try store.open(changed) }
      guard case .newerFormat(store.medium.path, let reason) = error else {
        Issue.record("\(byte) at \(offset): \(String(describing: error))")
        continue
      }
      #expect(reason.contains("page at"))
    }
  }

  @Test func `bytes of a header that say nothing in a plain page are not looked at`() throws {
    for (offset, byte) in Self.ignored {
      let changed = try store.reseal(reference) { $0[offset] = byte }
      #expect(try store.open(changed).footer.coveredSequence == 5, "\(byte) at \(offset)")
    }
  }

  @Test func `a search of footers passes over those that only a newer program can read`() throws {
    func found() throws -> (Int, [StoreError]) {
      var search = FooterSearch(store.medium)
      try search.run()
      return (search.found.count, search.faults)
    }
    #expect(try found() == (1, []))
    _ = try store.reseal(reference) { $0[16] = 1 }
    let (count, faults) = try found()
    #expect(count == 0)
    #expect(faults.count == 2)
    for fault in faults {
      guard case .newerFormat = fault else {
        Issue.record("\(fault)")
        continue
      }
    }
  }
}
