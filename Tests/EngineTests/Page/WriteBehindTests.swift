import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Pages that another thread writes out while the next are made.
@Suite struct WriteBehindTests {
  private static let identity = FooterFixtures.identity

  private static func appender(
    _ medium: any FileSystem, from number: UInt32 = 1
  ) -> PageAppender {
    PageAppender(
      to: medium, of: identity, from: number, output: .buffered,
      segmentBlocks: 3 * Layout.pageBlocksMax, bufferSize: 2 * 64 * Layout.blockSize)
  }

  private static func append(
    _ count: Int, to appender: PageAppender
  ) throws(StoreError) {
    for number in 0..<count {
      _ = try appender.append(.value, blocks: 1 + number % 30) { page in
        page.store(UInt64(number), at: PageHeader.size)
        return PageHeader.size + 8
      }
    }
  }

  @Test func `the bytes are the same whoever writes them`() throws {
    let media = (InMemoryFileSystem(), InMemoryFileSystem())
    let appenders = (Self.appender(media.0), Self.appender(media.1))
    // Some pages at once, some behind, then at once again.
    for round in 0..<3 {
      try Self.append(70, to: appenders.0)
      try appenders.0.sync()
      if round == 1 { appenders.1.beginWritingBehind { false } }
      try Self.append(70, to: appenders.1)
      try appenders.1.sync()
      appenders.1.endWritingBehind()
      #expect(appenders.0.extents == appenders.1.extents)
      for extent in appenders.0.extents {
        let name = FileName.pages(extent.number)
        #expect(try media.0.contents(of: name) == media.1.contents(of: name))
      }
    }
  }

  @Test func `while others wait for the medium it is asked for little at once`() throws {
    for isShared in [false, true] {
      let medium = InMemoryFileSystem()
      let watched = SimulatedFileSystem()
      let appender = Self.appender(watched)
      appender.beginWritingBehind { isShared }
      try Self.append(70, to: appender)
      try appender.sync()
      appender.endWritingBehind()
      let atOnce = Self.appender(medium)
      try Self.append(70, to: atOnce)
      try atOnce.sync()
      let bytes = appender.extents.reduce(0) { $0 + $1.blocks.count * Layout.blockSize }
      let least = isShared ? bytes / (128 << 10) : 0
      #expect(watched.callCount(at: .pageWrite) >= least)
      for extent in atOnce.extents {
        let name = FileName.pages(extent.number)
        #expect(try watched.contents(of: name) == medium.contents(of: name))
      }
    }
  }

  @Test func `what ends it waits for what is being written`() throws {
    let medium = SimulatedFileSystem()
    let appender = Self.appender(medium)
    appender.beginWritingBehind { false }
    try Self.append(70, to: appender)
    appender.endWritingBehind()
    let calls = medium.callCount(at: .pageWrite)
    #expect(calls > 0)
    try appender.sync()
    #expect(medium.callCount(at: .pageWrite) == calls + 1, "the rest is written at once")
  }

  @Test func `after a write that failed nothing more is written, and the failure is thrown`() throws
  {
    for failing in 0..<5 {
      let medium = SimulatedFileSystem()
      medium.inject(.error(.ioError), at: .site(.pageWrite, failing))
      let appender = Self.appender(medium)
      appender.beginWritingBehind { false }
      let error = storeError { () throws(StoreError) in
        try Self.append(200, to: appender)
        try appender.sync()
      }
      guard case .io = error else {
        Issue.record("\(failing): \(String(describing: error))")
        continue
      }
      appender.endWritingBehind()
      #expect(medium.callCount(at: .pageWrite) == failing + 1)
      #expect(medium.callCount(at: .pageSync) == 0)
      let next = storeError { () throws(StoreError) in try appender.sync() }
      guard case .poisoned = next else {
        Issue.record("\(failing): \(String(describing: next))")
        continue
      }
    }
  }

  @Test func `a failure that nobody has seen yet is not forgotten at the end`() throws {
    let medium = SimulatedFileSystem()
    medium.inject(.error(.ioError), at: .site(.pageWrite, 0))
    let appender = Self.appender(medium)
    appender.beginWritingBehind { false }
    // As much as is written out once.
    for _ in 0..<140 { try Self.append(1, to: appender) }
    appender.endWritingBehind()
    let error = storeError { () throws(StoreError) in try appender.sync() }
    guard case .poisoned = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(medium.callCount(at: .pageSync) == 0)
  }
}
