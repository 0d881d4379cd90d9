import Cambium
import TestSupport
import Testing

/// The pattern of the crash tests in its smallest form: creating a file under a temporary name,
/// crashed before every call, under every policy, with every sync left out in turn.
struct SafeCreationTests {
  private static let contents = [UInt8](repeating: UInt8(ascii: "n"), count: 1_300)

  private func create(in fileSystem: SimulatedFileSystem) throws {
    let temporary = FileName.log(1).temporary
    let file = try fileSystem.open(temporary, .create, at: .segmentCreate)
    for start in stride(from: 0, to: 1_300, by: 650) {
      try file.write(
        Array(SafeCreationTests.contents[start..<start + 650]), from: start)
    }
    try file.sync(at: .segmentHeaderSync)
    try fileSystem.rename(temporary, to: .log(1), at: .segmentRename)
    try fileSystem.syncDirectory(at: .segmentDirectorySync)
  }

  /// The first crash that leaves a file with the name and without all its bytes, or none after the
  /// creation was acknowledged.
  private func firstLoss(ignoring site: Site?) throws -> Replay? {
    for call in 0...6 {
      let fileSystem = SimulatedFileSystem()
      if let site { fileSystem.ignoreSyncs(at: site) }
      fileSystem.inject(.stop, at: .call(call))
      let isAcknowledged = (try? create(in: fileSystem)) != nil
      #expect(isAcknowledged == (call == 6))
      for policy in CrashPolicy.every(pending: fileSystem.pendingCount) {
        let bytes = fileSystem.crashed(policy).bytes(of: .log(1))
        let isMissing = bytes == nil && !isAcknowledged
        if !isMissing && bytes != SafeCreationTests.contents {
          return Replay(seed: 0, scenario: "create", call: call, policy: policy)
        }
      }
    }
    return nil
  }

  @Test func `a file created by the book is whole or not there after every crash`() throws {
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
