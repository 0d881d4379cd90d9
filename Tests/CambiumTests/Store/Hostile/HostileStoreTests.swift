import TestSupport
import Testing

@testable import Cambium

/// Stores whose checksums are right, in every public way of reading: each ends, in time, with an answer or a
/// `StoreError`.
@Suite struct HostileStoreTests {
  @Test(.timeLimit(.minutes(2)), arguments: HostileStores.names, StoreUse.allCases)
  func `every use of a hostile store ends with an answer or an error`(
    name: String, use: StoreUse
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files(name).write(to: path)
    let time = ContinuousClock().measure {
      do {
        _ = try use.run(at: path, scratch: directory.path + "/copy")
      } catch {
        #expect(error is StoreError, "\(error)")
      }
    }
    #expect(time < .seconds(30))
  }

  @Test(arguments: [
    ("leaf-cells-behind-page", Invariant.nodeLayout),
    // Its root says what such a branch would have to.
    ("branch-cells-behind-page", .referenceBounds),
    ("live-bytes-of-segments-overflow", .footerSections),
    ("counts-of-trees-overflow", .referenceBounds),
    ("graph-that-doubles", .referenceBounds),
    ("schema-of-20000-fields", .rowLayout),
  ])
  func `a deep check says what is wrong with a hostile store`(
    name: String, invariant: Invariant
  ) throws {
    let directory = try TemporaryDirectory()
    try HostileStores.files(name).write(to: directory.path + "/store")
    let faults = try StoreUse.deepCheck.run(
      at: directory.path + "/store", scratch: directory.path + "/copy")
    #expect(faults.contains { $0.invariant == invariant }, "\(faults)")
  }

  @Test func `a store with a large blob is whole, in every use`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try HostileStores.files("blob-of-2-gib").write(to: path)
    for use in StoreUse.allCases where use != .blobs {
      #expect(try use.run(at: path, scratch: directory.path + "/copy").isEmpty)
    }
  }
}
