import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every call of a history of blobs fails, in every way, once and for good.
@Suite struct BlobFaultTests {
  private static let faults: [Fault] =
    [.ioError, .noSpace, .tooManyOpenFiles, .interrupted].map { .error($0) } + [
      .errorAfterAll(.ioError), .errorAfter(bytes: 100, .noSpace),
      .errorAfter(bytes: 4096, .ioError), .errorAfter(bytes: 0, .quotaExceeded),
    ] + FlushFailure.allCases.map { .flush($0) }

  @Test(arguments: Persistence.allCases, [nil, 1])
  func `after a failed call all that was synced reads, and the next blob is written`(
    persistence: Persistence, seed: UInt64?
  ) throws {
    let whole = SimulatedFileSystem()
    try BlobHistory(whole).run(seed)
    var failures = 0
    for call in 0..<whole.callCount {
      for fault in Self.faults where fault.applies(to: whole.calls[call].operation) {
        let comment = Comment("\(fault) at call \(call), \(whole.calls[call])")
        let medium = SimulatedFileSystem()
        let history = BlobHistory(medium)
        medium.inject(fault, at: .call(call), persistence)
        let error = storeError { () throws(StoreError) in try history.run(seed) }
        if let error {
          failures += 1
          #expect(isExpected(error), "\(error), \(comment)")
        }
        medium.heal()
        // No engine keeps what the medium says it has and has not.
        if fault == .flush(.errorOneCallLate) { continue }
        medium.dropCaches()
        #expect(history.violation(in: medium) == nil, comment)
        #expect(history.violation(in: medium.crashed(.none)) == nil, comment)
      }
    }
    #expect(failures > whole.callCount * 2)
    print(
      "Blobs: \(failures) failed calls of \(whole.callCount), \(persistence), seed \(seed ?? 0)")
  }

  @Test func `no file stays open when all who used it are gone, whatever failed`() throws {
    let whole = SimulatedFileSystem()
    try BlobHistory(whole).run()
    for call in 0..<whole.callCount {
      let medium = SimulatedFileSystem()
      medium.inject(.error(.ioError), at: .call(call))
      do {
        let history = BlobHistory(medium)
        _ = storeError { () throws(StoreError) in try history.run() }
      }
      #expect(medium.openFileCount == 0, "call \(call)")
    }
  }

  @Test(arguments: [Fault.error(.ioError), .error(.noSpace), .errorAfter(bytes: 10, .ioError)])
  func `nobody goes on in a segment of which a write failed`(fault: Fault) throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let before = try world.write(.text(1000), as: 1)
    medium.inject(fault, at: .site(.blobWrite, 1))
    #expect(throws: StoreError.self) { try world.write(.text(1000), as: 2) }
    let after = try world.write(.text(1000), as: 3)
    #expect(before.place.segment == 1 && after.place.segment == 2)
    try world.files.sync([before.place, after.place])
    #expect(try world.read(before) == .text(1000))
  }

  @Test(arguments: FlushFailure.allCases)
  func `after a failed sync nothing that waited for it is ever said to be synced`(
    failure: FlushFailure
  ) throws {
    if failure == .errorOneCallLate { return }
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let before = try world.write(.text(1000), as: 1)
    try world.files.sync([before.place])
    let lost = try world.write(.text(1000), as: 2)
    medium.inject(.flush(failure), at: .site(.blobSync, 1))
    #expect(throws: StoreError.self) { try world.files.sync([lost.place]) }
    #expect(
      throws: StoreError.poisoned(path: "simulated", reason: "an earlier flush of blobs failed")
    ) { try world.files.sync([lost.place]) }
    try world.files.sync([before.place])
    let after = try world.write(.text(1000), as: 3)
    #expect(after.place.segment == 2)
    try world.files.sync([after.place])
  }

  @Test func `a stream that failed says so again, and a failed read is tried again`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium, bufferSize: 8192)
    let stream = world.files.makeStream(.numbered(1), .none)
    medium.inject(.error(.ioError), at: .site(.blobWrite, 0))
    let content = Bytes.noise(600_000)
    let error = storeError { () throws(StoreError) in try stream.append(content.rawSpan) }
    #expect(error != nil)
    #expect(storeError { () throws(StoreError) in try stream.append([1].rawSpan) } == error)
    #expect(storeError { () throws(StoreError) in _ = try stream.finish() } == error)
    let blob = try world.blob(world.write(content))
    let reader = try blob.reader()
    for call in 0..<2 {
      medium.inject(.error(.ioError), at: .site(.blobRead, medium.callCount(at: .blobRead) + call))
      #expect(throws: StoreError.self) { try reader.read(upTo: 300_000) }
    }
    #expect(try reader.read(upTo: 600_000).map(Bytes.init) == content)
  }

  /// Large blobs are written by the crew, while the stream goes on.
  @Test(arguments: [0, 2], 0..<5)
  func `a failed write of a large blob is told, whoever made it`(crewSize: Int, number: Int) throws
  {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium, bufferSize: 65_536, crewSize: crewSize)
    let content = Bytes.noise(300_000)
    medium.inject(.error(.noSpace), at: .site(.blobWrite, number))
    let error = storeError { () throws(StoreError) in
      let stream = world.files.makeStream(.numbered(1), .none)
      for start in stride(from: 0, to: content.count, by: 10_000) {
        try stream.append(Bytes(content[start..<start + 10_000]).rawSpan)
      }
      _ = try stream.finish()
    }
    if case .full = error {} else { Issue.record("\(String(describing: error))") }
    #expect(medium.bytes(of: .blobs(1))?.count == BlobLayout.firstOffset)
    #expect(world.files.pinnedSegments == [])
    let next = try world.write(content, as: 2)
    #expect(next.place.segment == 2)
    #expect(try world.read(next) == content)
  }

  @Test func `a disk that fills in the middle of a stream is full, and the room comes back`() throws
  {
    for room in stride(from: 0, to: 320_000, by: 20_000) {
      let medium = SimulatedFileSystem()
      let world = BlobWorld(medium, bufferSize: 8192)
      let before = try world.write(.text(1000), as: 1)
      let usage = medium.diskUsage
      medium.limitDisk(to: usage + room)
      let error = storeError { () throws(StoreError) in
        _ = try world.write(.noise(350_000), as: 2)
      }
      guard case .full = error else {
        Issue.record("\(String(describing: error)) with room for \(room)")
        continue
      }
      #expect(medium.diskUsage == usage)
      #expect(try world.read(before) == .text(1000))
      medium.limitDisk(to: nil)
      #expect(try world.read(world.write(.noise(350_000), as: 3)) == .noise(350_000))
    }
  }

  /// A bit that flips on the way from the medium must not be copied to where it stays.
  @Test func `a copy of what was read wrong is an error`() throws {
    let medium = SimulatedFileSystem()
    let world = BlobWorld(medium)
    let blob = try world.write(.text(1000))
    let size = Int(blob.place.size)
    for bit in stride(from: 0, to: 8 * size, by: 7) {
      for read in 0..<2 {
        let moment = Moment.site(.blobRead, medium.callCount(at: .blobRead) + 1 + read)
        medium.inject(.bitFlip(bit), at: moment)
        let error = storeError { () throws(StoreError) in
          _ = try world.files.copy(blob.identity, from: blob.place)
        }
        medium.heal()
        #expect(error?.invariant == [.blobTail, .blobFrameChecksum][read], "bit \(bit)")
      }
    }
  }

  private func isExpected(_ error: StoreError) -> Bool {
    switch error {
    case .io, .full, .poisoned: true
    default: false
    }
  }
}
