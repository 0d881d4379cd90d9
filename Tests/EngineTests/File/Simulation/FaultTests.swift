import Cambium
import TestSupport
import Testing

struct FaultTests {
  let fileSystem = SimulatedFileSystem()

  /// One call of each kind but `willNeed`, which cannot fail.
  private func call(_ operation: Operation, _ file: any File) throws {
    switch operation {
    case .open: _ = try fileSystem.open(.pages(1), .read, at: .test)
    case .size: _ = try file.size(at: .test)
    case .read: _ = try file.read(0..<3)
    case .write: try file.write([7], from: 0)
    case .sync: try file.sync(at: .test)
    case .syncDirectory: try fileSystem.syncDirectory(at: .test)
    case .truncate: try file.truncate(to: 2, at: .test)
    case .rename: try fileSystem.rename(.pages(1), to: .pages(2), at: .test)
    case .unlink: try fileSystem.unlink(.pages(1), at: .test)
    case .list: _ = try fileSystem.list(at: .test)
    case .lock: try file.lock(at: .test)
    case .isLocked: _ = try file.isLocked(at: .test)
    case .lockDirectory: _ = try fileSystem.lockDirectory(at: .test)
    case .isNamed: _ = try file.isNamed(.pages(1), at: .test)
    case .map: _ = try file.map(capacity: 3, at: .test)
    case .willNeed: file.willNeed(0..<1, at: .test)
    }
  }

  private static let refusable = Operation.allCases.filter { $0 != .willNeed }

  // MARK: Refused calls

  @Test(
    arguments: refusable,
    [
      SystemErrorCode.ioError, .noSpace, .quotaExceeded, .fileTooLarge, .tooManyOpenFiles,
      .readOnlyFileSystem,
    ])
  func `a refused call says why and does nothing`(
    operation: Operation, errno: SystemErrorCode
  ) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    let pending = fileSystem.pendingCount
    fileSystem.inject(.error(errno), at: .operation(operation, fileSystem.callCount(of: operation)))
    do {
      try call(operation, file)
      Issue.record("\(operation) was not refused")
    } catch StoreError.full {
      #expect(errno.isFull)
    } catch StoreError.io(let found, _, _) {
      #expect(found == errno)
    }
    #expect(fileSystem.names == [.pages(1)])
    #expect(fileSystem.bytes(of: .pages(1)) == [1, 2, 3])
    #expect(fileSystem.pendingCount == pending)
    try call(operation, file)
  }

  @Test func `a call may do its work and say that it failed`() throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    let error = StoreError.failed("rename", .ioError, path: "simulated/pages-0000000001")
    fileSystem.inject(.errorAfterAll(.ioError), at: .operation(.rename, 0))
    #expect(throws: error) { try call(.rename, file) }
    #expect(fileSystem.names == [.pages(2)])
    fileSystem.inject(.errorAfterAll(.ioError), at: .operation(.write, 1))
    #expect(throws: StoreError.self) { try call(.write, file) }
    #expect(fileSystem.bytes(of: .pages(2)) == [7, 2, 3])
  }

  @Test(arguments: [
    (0, [1, 1, 1]), (1, [2, 1, 1]), (2, [2, 2, 1]), (3, [2, 2, 2]), (4, [2, 2, 2]),
  ])
  func `a write may end early`(count: Int, bytes: [UInt8]) throws {
    let file = try fileSystem.create(.pages(1), [1, 1, 1])
    fileSystem.inject(.errorAfter(bytes: count, .noSpace), at: .operation(.write, 1))
    #expect(throws: StoreError.full(path: "simulated/pages-0000000001")) {
      try file.write([2, 2, 2], from: 0)
    }
    #expect(fileSystem.bytes(of: .pages(1)) == bytes)
  }

  // MARK: When

  @Test func `a fault comes once or for good, at a call, a site or a kind of call`() throws {
    let cases: [(Moment, Persistence, failing: [Int])] = [
      (.call(3), .once, [3]),
      (.call(3), .forGood, [3, 5, 7]),
      (.site(.pageWrite, 1), .once, [3]),
      (.site(.pageWrite, 1), .forGood, [3, 4]),
      (.operation(.write, 1), .once, [3]),
      (.operation(.write, 1), .forGood, [3, 5, 7]),
      (.call(99), .once, []),
    ]
    for (moment, persistence, failing) in cases {
      let fileSystem = SimulatedFileSystem()
      fileSystem.inject(.error(.ioError), at: moment, persistence)
      let file = try fileSystem.open(.pages(1), .create, at: .test)
      var failed: [Int] = []
      func attempt(_ call: () throws -> Void) {
        let number = fileSystem.callCount
        do { try call() } catch { failed.append(number) }
      }
      let write = { (site: Site) in
        unsafe try file.write([1].span.bytes, from: 0, at: site)
      }
      attempt { try write(.pageWrite) }  // 1
      attempt { try file.sync(at: .pageSync) }  // 2
      attempt { try write(.pageWrite) }  // 3
      attempt { try file.sync(at: .pageWrite) }  // 4
      attempt { try write(.segmentHeaderWrite) }  // 5
      attempt { try file.sync(at: .pageSync) }  // 6
      attempt { try write(.segmentHeaderWrite) }  // 7
      #expect(failed == failing, "\(moment) \(persistence)")
    }
  }

  @Test func `a fault that means nothing to a call is passed over`() throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    for fault in [
      Fault.bitFlip(0), .stale, .flush(.errorStillDirty), .errorAfter(bytes: 1, .noSpace),
    ] {
      fileSystem.inject(fault, at: .call(fileSystem.callCount))
      try call(.truncate, file)
    }
    fileSystem.inject(.error(.ioError), at: .call(fileSystem.callCount))
    file.willNeed(0..<1, at: .pageAdvise)
    #expect(fileSystem.callCount(at: .pageAdvise) == 1)
  }

  @Test func `healing takes faults back`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    fileSystem.inject(.error(.noSpace), at: .operation(.write, 1), .forGood)
    for _ in 0..<3 { #expect(throws: StoreError.self) { try call(.write, file) } }
    fileSystem.heal()
    try call(.write, file)
  }

  // MARK: The end of the process

  @Test(arguments: 0..<13)
  func `a process that has ended does nothing more`(moment: Int) throws {
    let file = try fileSystem.create(.pages(1), [1, 2, 3])
    let before = fileSystem.callCount
    fileSystem.inject(.stop, at: .call(before + moment))
    // `unlink` before `rename`, which needs the name, would fail by itself.
    let operations: [Operation] = [
      .size, .read, .write, .willNeed, .sync, .syncDirectory, .truncate, .list, .lock,
      .map, .open, .unlink, .write,
    ]
    var failed = 0
    for (number, operation) in operations.enumerated() {
      #expect(fileSystem.hasStopped == (number > moment))
      do {
        try call(operation, file)
        #expect(number < moment || operation == .willNeed)
      } catch StoreError.io(.ioError, _, _) {
        failed += 1
        #expect(number >= moment)
      }
    }
    #expect(failed == operations[moment...].count { $0 != .willNeed })
    #expect(fileSystem.callCount == before + moment + 1)
    #expect(fileSystem.names == (moment > 11 ? [] : [.pages(1)]))
  }

  @Test func `a restarted process finds what was written, and its files closed`() throws {
    let file = try fileSystem.create(.pages(1), [1])
    try file.lock(at: .test)
    fileSystem.inject(.stop, at: .call(fileSystem.callCount))
    #expect(throws: StoreError.self) { try call(.write, file) }
    fileSystem.restart()
    #expect(!fileSystem.hasStopped)
    let closed = StoreError.failed("write", .badDescriptor, path: "simulated/pages-0000000001")
    #expect(throws: closed) { try call(.write, file) }
    let again = try fileSystem.open(.pages(1), .readWrite, at: .test)
    try again.lock(at: .test)
    #expect(try again.contents() == [1])
    #expect(fileSystem.openFileCount == 1)
  }

  // MARK: Wrong bytes

  @Test func `a flipped bit is right again at the next read`() throws {
    let file = try fileSystem.create(.pages(1), [0, 0, 0])
    for bit in 0..<24 {
      fileSystem.inject(.bitFlip(bit), at: .operation(.read, fileSystem.callCount(of: .read)))
      var expected: [UInt8] = [0, 0, 0]
      expected[bit / 8] = 1 << (bit % 8)
      #expect(try file.read(0..<3) == expected)
      #expect(try file.read(0..<3) == [0, 0, 0])
    }
  }

  @Test func `a stale read shows what was there before the last write`() throws {
    let file = try fileSystem.create(.pages(1), [UInt8](repeating: 1, count: 4096))
    func stale() throws -> [UInt8] {
      fileSystem.inject(.stale, at: .operation(.read, fileSystem.callCount(of: .read)))
      return try Array(file.read(4095..<4098))
    }
    #expect(try stale() == [0])
    try file.sync(at: .test)
    #expect(try stale() == [0])
    try file.write([2, 2], from: 4095)
    #expect(try stale() == [1, 0])
    try file.sync(at: .test)
    #expect(try stale() == [1, 0])
    #expect(try file.read(4095..<4098) == [2, 2])
    #expect(fileSystem.crashed(.none).names.isEmpty)
  }

  @Test func `a displaced read shows bytes of another place`() throws {
    let file = try fileSystem.create(.pages(1), [0, 1, 2, 3, 4, 5])
    for (distance, expected) in [(2, [3, 4]), (-1, [0, 1]), (-9, [0, 1]), (4, [5]), (9, [])] {
      fileSystem.inject(
        .displaced(by: distance), at: .operation(.read, fileSystem.callCount(of: .read)))
      #expect(try file.read(1..<3).map(Int.init) == expected)
    }
  }

  // MARK: Room

  @Test func `a full disk refuses what needs room and takes the rest`() throws {
    let file = try fileSystem.create(.pages(1), [UInt8](repeating: 1, count: 4096))
    fileSystem.limitDisk(to: 3 * 4096)
    let block = [UInt8](repeating: 2, count: 4096)
    let full = StoreError.full(path: "simulated/pages-0000000001")
    #expect(throws: full) { try file.write(block + block + block, from: 4096) }
    #expect(fileSystem.bytes(of: .pages(1))?.count == 4096)
    #expect(fileSystem.diskUsage == 4096)
    try file.write(block + block, from: 4096)
    #expect(throws: full) { try file.write([1], from: 9 * 4096) }
    // Into what is there, writing goes on.
    try file.write(block + block + block, from: 0)
    #expect(fileSystem.diskUsage == 3 * 4096)
    try file.truncate(to: 4096, at: .test)
    #expect(fileSystem.diskUsage == 4096)
    fileSystem.limitDisk(to: nil)
    try file.write(block, from: 50 * 4096)
  }

  @Test func `an unlinked file gives its room back when it is closed and the name is gone`() throws
  {
    var file: (any File)? = try fileSystem.create(.pages(1), [1])
    #expect(file != nil)
    try fileSystem.unlink(.pages(1), at: .test)
    try fileSystem.syncDirectory(at: .test)
    #expect(fileSystem.diskUsage == 4096)
    file = nil
    #expect(fileSystem.diskUsage == 0)
  }

  @Test func `a misaligned direct write is refused`() throws {
    let file = try fileSystem.open(.pages(1), .createDirect, at: .test)
    #expect(throws: StoreError.self) { try file.write([1], from: 0) }
    let aligned = try AnonymousMemory.reserve(capacity: 8192).get().mapping(capacity: 8192)
    for (start, offset) in [(1, 0), (0, 1)] {
      #expect(throws: StoreError.self) {
        try file.write(
          aligned.bytes(start..<start + 4096), from: offset, at: .test)
      }
    }
    try file.write(aligned.bytes(0..<4096), from: 4096, at: .test)
  }
}
