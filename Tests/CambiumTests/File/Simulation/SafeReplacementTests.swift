import Cambium
import TestSupport
import Testing

/// The pattern of the crash tests in its smallest form: replacing a file through a temporary one,
/// crashed before every call, under every policy, with every sync left out in turn.
struct SafeReplacementTests {
  private static let old = [UInt8](repeating: UInt8(ascii: "o"), count: 600)
  private static let new = [UInt8](repeating: UInt8(ascii: "n"), count: 1_300)

  private func worldWithOldFile() throws -> SimulatedFileSystem {
    let fileSystem = SimulatedFileSystem()
    let file = try fileSystem.create(.log(1), SafeReplacementTests.old)
    try fileSystem.sync(file, at: .test)
    try fileSystem.syncDirectory(at: .test)
    return fileSystem.crashed(.all)
  }

  private func replace(in fileSystem: SimulatedFileSystem) throws {
    let temporary = FileName.log(1).temporary
    let file = try fileSystem.open(temporary, .create, at: .segmentCreate)
    for start in stride(from: 0, to: 1_300, by: 650) {
      try fileSystem.write(
        Array(SafeReplacementTests.new[start..<start + 650]), to: file, from: start)
    }
    try fileSystem.sync(file, at: .segmentHeaderSync)
    try fileSystem.rename(temporary, to: .log(1), at: .segmentRename)
    try fileSystem.syncDirectory(at: .segmentDirectorySync)
  }

  /// The first crash that leaves neither the old bytes nor the new, or the old ones after the
  /// replacement was acknowledged.
  private func firstLoss(ignoring site: Site?) throws -> Replay? {
    for call in 0...6 {
      let fileSystem = try worldWithOldFile()
      if let site { fileSystem.ignoreSyncs(at: site) }
      fileSystem.inject(.stop, at: .call(call))
      let isAcknowledged = (try? replace(in: fileSystem)) != nil
      #expect(isAcknowledged == (call == 6))
      for policy in CrashPolicy.every(pending: fileSystem.pendingCount) {
        let bytes = fileSystem.crashed(policy).bytes(of: .log(1))
        let isOld = bytes == SafeReplacementTests.old && !isAcknowledged
        if !isOld && bytes != SafeReplacementTests.new {
          return Replay(seed: 0, scenario: "replace", call: call, policy: policy)
        }
      }
    }
    return nil
  }

  @Test func `a file replaced by the book is old or new after every crash`() throws {
    #expect(try firstLoss(ignoring: nil) == nil)
  }

  @Test(arguments: [(Site.segmentHeaderSync, 5), (.segmentDirectorySync, 6)])
  func `each sync that is left out is noticed, at the call where it begins to matter`(
    site: Site, call: Int
  ) throws {
    let loss = try #require(try firstLoss(ignoring: site))
    #expect(loss.crashes.map(\.call) == [call])
  }
}
