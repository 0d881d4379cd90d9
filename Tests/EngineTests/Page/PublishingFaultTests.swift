import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every call of publishing and opening fails, in every way, once.
@Suite struct PublishingFaultTests {
  private static let faults: [Fault] =
    [.ioError, .noSpace, .tooManyOpenFiles, .interrupted].map { .error($0) } + [
      .errorAfterAll(.ioError), .errorAfter(bytes: 100, .noSpace),
      .errorAfter(bytes: 4096, .ioError), .errorAfter(bytes: 0, .quotaExceeded),
    ] + FlushFailure.allCases.map { .flush($0) }

  @Test(arguments: PublishingWorld.Way.allCases)
  func `after a failed call the state before reads, and the next segment takes the new one`(
    way: PublishingWorld.Way
  ) throws {
    let whole = try PublishingWorld(way)
    let start = whole.medium.callCount
    _ = try whole.publishSecond(in: whole.medium)
    let end = whole.medium.callCount
    var failures = 0
    for call in start..<end {
      for fault in Self.faults {
        let world = try PublishingWorld(way)
        let openFiles = world.medium.openFileCount
        world.medium.inject(fault, at: .call(call))
        let error = storeError { () throws(StoreError) in
          _ = try world.publishSecond(in: world.medium)
        }
        if let error {
          failures += 1
          #expect(isExpected(error), "\(error), \(fault) at call \(call)")
        }
        world.medium.heal()
        let comment = Comment("\(fault) at call \(call)")
        // An appender that is kept keeps the segment where it stopped.
        #expect(world.medium.openFileCount <= max(openFiles, way.isKept ? 2 : 0), comment)
        #expect(world.faultOfFirst(in: world.medium) == nil, comment)
        let second = try publishAgain(world, after: fault)
        world.medium.dropCaches()
        #expect(world.faultOfFirst(in: world.medium) == nil, comment)
        #expect(world.faultOfSecond(second, in: world.medium) == nil, comment)
        let image = world.medium.crashed(.none)
        #expect(world.faultOfSecond(second, in: image) == nil, comment)
      }
    }
    #expect(failures > (end - start) * 3)
    print("Publishing: \(failures) failed calls of \(end - start), \(way)")
  }

  @Test func `a read that fails while opening is an error, and the next opens`() throws {
    let world = try PublishingWorld()
    let start = world.medium.callCount
    #expect(world.faultOfFirst(in: world.medium) == nil)
    let end = world.medium.callCount
    let faults: [Fault] = [
      .error(.ioError), .error(.tooManyOpenFiles), .displaced(by: 4096), .bitFlip(20 * 8),
    ]
    for call in 0..<end - start {
      for fault in faults {
        let before = world.medium.callCount
        world.medium.inject(fault, at: .call(before + call))
        let isRead = world.medium.calls[start + call].operation == .read
        let isFelt = isRead || fault == .error(.ioError) || fault == .error(.tooManyOpenFiles)
        let found = world.faultOfFirst(in: world.medium)
        #expect((found != nil) == isFelt, "\(fault) at call \(call)")
        world.medium.heal()
        #expect(world.faultOfFirst(in: world.medium) == nil, "\(fault) at call \(call)")
      }
    }
  }

  @Test func `a full disk is said to be full, and is healed by room`() throws {
    let whole = try PublishingWorld()
    let used = whole.medium.diskUsage
    _ = try whole.publishSecond(in: whole.medium)
    let needed = whole.medium.diskUsage - used
    for room in stride(from: 0, to: needed, by: Layout.blockSize) {
      let world = try PublishingWorld()
      world.medium.limitDisk(to: used + room)
      let error = storeError { () throws(StoreError) in
        _ = try world.publishSecond(in: world.medium)
      }
      guard case .full = error else {
        Issue.record("\(String(describing: error)) with room for \(room)")
        continue
      }
      #expect(world.faultOfFirst(in: world.medium) == nil)
      world.medium.limitDisk(to: nil)
      let second = try world.publishSecond(in: world.medium, from: 3)
      #expect(world.faultOfSecond(second, in: world.medium) == nil)
    }
  }

  /// A flush that failed late fails the next one, which is then the first of this attempt.
  private func publishAgain(
    _ world: PublishingWorld, after fault: Fault
  ) throws(StoreError) -> FooterReference {
    do throws(StoreError) {
      return try world.publishSecond(in: world.medium, from: 3, isAgain: true)
    } catch {
      guard fault == .flush(.errorOneCallLate) else { throw error }
      return try world.publishSecond(in: world.medium, from: 4, isAgain: true)
    }
  }

  private func isExpected(_ error: StoreError) -> Bool {
    switch error {
    case .io, .full: true
    default: false
    }
  }
}

extension PublishingWorld.Way {
  /// Whether the appender of the first state lives as long as the world does.
  fileprivate var isKept: Bool { self == .sameAppender || self == .sameAppenderAcross }
}
