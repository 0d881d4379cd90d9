import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every record whose leaf is whole is in the copy, whatever else is damaged, and the copy is a whole store.
@Suite struct SalvageSweepTests {
  // MARK: - Headers

  @Test func `a newer format is refused untouched, and what is no store is missing`() throws {
    let world = try SalvageWorld(120)
    func refusal() -> StoreError? {
      storeError { try PersistentStore.salvage(at: world.path, to: world.copy) }
    }
    // Beside a whole log, a segment of a newer format is a stray file.
    let stray = world.path + "/pages-0000009999"
    try FileManager.default.copyItem(
      atPath: try #require(try SalvageWorld.pageFiles(world.path).first), toPath: stray)
    try world.change(stray, Self.makeSegmentNewer)
    let report = try PersistentStore.salvage(at: world.path, to: world.copy)
    #expect(!report.faults.filter(\.isNewerFormat).isEmpty, "\(report.faults)")
    #expect(report.records["Sale"] == world.sales.count)
    try FileManager.default.removeItem(atPath: world.copy)
    // Without a log nothing says so.
    for log in 0...1 {
      try FileManager.default.removeItem(atPath: "\(world.path)/log-\(log)")
    }
    let before = try StoreFiles(at: world.path).contents
    guard case .newerFormat? = refusal() else {
      Issue.record("it is salvaged")
      return
    }
    #expect(try StoreFiles(at: world.path).contents == before)
    #expect(!FileManager.default.fileExists(atPath: world.copy))
    for file in try FileManager.default.contentsOfDirectory(atPath: world.path) {
      try FileManager.default.removeItem(atPath: "\(world.path)/\(file)")
    }
    #expect(refusal() == .missing(path: world.path))
  }

  @Test func `a log of a newer format is refused untouched, whatever else can be read`() throws {
    let world = try SalvageWorld(40)
    for log in 0...1 { try world.change("\(world.path)/log-\(log)", Self.makeLogNewer) }
    let before = try StoreFiles(at: world.path).contents
    let error = storeError { try PersistentStore.salvage(at: world.path, to: world.copy) }
    guard case .newerFormat? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try StoreFiles(at: world.path).contents == before)
    #expect(!FileManager.default.fileExists(atPath: world.copy))
  }

  /// Gives a segment's header the next version of the format.
  private static func makeSegmentNewer(_ bytes: inout Data) {
    bytes[8] = UInt8(SegmentHeader.formatVersion + 1)
    put(checksumOf: [0..<36, 40..<Layout.blockSize], at: 36, in: &bytes)
  }

  /// Gives both copies of a log's header the next version of the format.
  private static func makeLogNewer(_ bytes: inout Data) {
    for copy in LogLayout.copyBlocks {
      let start = Int(copy) * Layout.blockSize
      bytes[start + 8] = UInt8(SegmentHeader.formatVersion + 1)
      let block = Array(bytes[start..<start + Layout.blockSize])
      let checksum = PageChecksum.ofBlock(block.rawSpan, but: LogHeader.checksumOffset)
      for byte in 0..<PageChecksum.size {
        bytes[start + LogHeader.checksumOffset + byte] = UInt8(
          truncatingIfNeeded: checksum.rawValue >> (8 * UInt64(byte)))
      }
    }
  }

  private static func put(checksumOf parts: [Range<Int>], at place: Int, in bytes: inout Data) {
    var checksum = Checksum()
    for part in parts { checksum.update(Array(bytes[part]).rawSpan) }
    for byte in 0..<4 {
      bytes[place + byte] = UInt8(truncatingIfNeeded: checksum.rawValue >> (8 * UInt32(byte)))
    }
  }

  @Test(arguments: [0, 4, 8, 12, 16, 31, 36, 39, 40, 64, 100, 512, 2048, 4000, 4095])
  func `a flipped bit in the first block of a page file costs nothing`(offset: Int) throws {
    let world = try SalvageWorld(120)
    let pages = try world.pages()
    for file in try SalvageWorld.pageFiles(world.path) {
      try world.change(file) { $0[offset] ^= 0x10 }
    }
    let report = try world.salvageAndVerify(pages)
    #expect(report.losses.isEmpty && report.isWhole)
  }

  @Test func `without any header and without a log footers say whose pages they are`() throws {
    let world = try SalvageWorld(300, segments: 3)
    let pages = try world.pages()
    #expect(try SalvageWorld.pageFiles(world.path).count == 3)
    for file in try SalvageWorld.pageFiles(world.path) {
      try world.change(file) { $0.replaceSubrange(0..<4096, with: Data(count: 4096)) }
    }
    for log in 0...1 { try FileManager.default.removeItem(atPath: "\(world.path)/log-\(log)") }
    try world.salvageAndVerify(pages)
  }

  // MARK: - Logs

  enum LogDamage: CaseIterable {
    case firstGone, secondGone, bothGone, firstZeroed, secondZeroed, bothZeroed, firstCut, bothCut
  }

  @Test(arguments: LogDamage.allCases)
  func `a closed store loses nothing with its log`(damage: LogDamage) throws {
    let world = try SalvageWorld(300, segments: 2)
    let pages = try world.pages()
    let logs = (0...1).map { "\(world.path)/log-\($0)" }
    func zero(_ file: String) throws { try world.change(file) { $0 = Data(count: $0.count) } }
    func cut(_ file: String) throws { try world.change(file) { $0 = $0.prefix(100) } }
    switch damage {
    case .firstGone: try FileManager.default.removeItem(atPath: logs[0])
    case .secondGone: try FileManager.default.removeItem(atPath: logs[1])
    case .bothGone: for log in logs { try FileManager.default.removeItem(atPath: log) }
    case .firstZeroed: try zero(logs[0])
    case .secondZeroed: try zero(logs[1])
    case .bothZeroed: for log in logs { try zero(log) }
    case .firstCut: try cut(logs[0])
    case .bothCut: for log in logs { try cut(log) }
    }
    try world.salvageAndVerify(pages)
  }

  @Test func `what only the log has is in the copy, if the log can be read`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: SalvageWorld.model)
    try store.save(Clerk(id: 1, name: "one"))
    try store.save(Sale(id: 1, clerk: Reference(1), text: "sale"))
    try store.flush()
    // As a process that was killed leaves it.
    let killed = directory.path + "/killed"
    try StoreFiles(at: path).write(to: killed)
    try store.close()
    var bytes = try Data(contentsOf: URL(filePath: killed + "/pages-0000000001"))
    bytes[100] ^= 1
    try bytes.write(to: URL(filePath: killed + "/pages-0000000001"))
    #expect(throws: StoreError.self) { try PersistentStore(at: killed, model: SalvageWorld.model) }
    let report = try PersistentStore.salvage(at: killed, to: directory.path + "/copy")
    #expect(report.isWhole, "\(report)")
    let copy = try PersistentStore(at: directory.path + "/copy", model: SalvageWorld.model)
    #expect(try copy.fetch(Clerk.self, key: 1)?.saleCount == 1)
    #expect(try copy.fetch(Sale.self).count == 1)
    try copy.close()
  }

  @Test func `commits after damage within a log are counted, and said to be missing`() throws {
    let directory = try TemporaryDirectory()
    let (path, killed) = (directory.path + "/store", directory.path + "/killed")
    let store = try PersistentStore(at: path, model: SalvageWorld.model)
    for id in 0..<20 { try store.save(Clerk(id: id, name: "clerk \(id)")) }
    try store.flush()
    try StoreFiles(at: path).write(to: killed)
    try store.close()
    let files = try LogFiles(opening: try PosixFileSystem(at: killed), writing: false)
    var reader = LogReader(files)
    var frames: [LogFrame] = []
    while let frame = try reader.next() {
      if frame.kind == .commits { frames.append(frame) }
    }
    let damaged = frames[frames.count - 8]
    let log = URL(filePath: "\(killed)/log-\(files.inUse)")
    var bytes = try Data(contentsOf: log)
    bytes[Int(damaged.blocks.lowerBound) * Layout.blockSize + FrameHeader.size + 2] ^= 1
    try bytes.write(to: log)
    let report = try PersistentStore.salvage(at: killed, to: directory.path + "/copy")
    let last = reader.position.lastSequence
    #expect(!report.isWhole && report.newestSequence == last)
    #expect(report.sequence == damaged.sequences.lowerBound - 1)
    let unread = try #require(report.unreadLog)
    #expect(unread.wasFlushed && unread.commitCount == Int(last - report.sequence))
    let blocks = Int(reader.position.block - damaged.blocks.lowerBound)
    #expect(unread.byteCount == blocks * Layout.blockSize)
    #expect(report.records["Clerk"] == 20 - unread.commitCount)
  }

  // MARK: - Files that end early

  @Test(arguments: [10, 30, 50, 70, 90, 99], [false, true])
  func `of a page file that is cut every whole leaf before the cut is there`(
    share: Int, withoutLog: Bool
  ) throws {
    let world = try SalvageWorld(scaled(4_000, debug: 1_500))
    try world.compact()
    let pages = try world.pages()
    let file = try #require(try SalvageWorld.pageFiles(world.path).last)
    var end = 0
    try world.change(file) { bytes in
      end = bytes.count * share / 100
      bytes = bytes.prefix(end)
    }
    if withoutLog {
      for log in 0...1 { try FileManager.default.removeItem(atPath: "\(world.path)/log-\(log)") }
    }
    let report = try world.salvageAndVerify(pages) { leaf in
      (Int(leaf.position.block) + Int(leaf.blocks)) * Layout.blockSize <= end
    }
    // Near its end a file has nothing but footers.
    let isLacking = pages.leaves.contains { leaf in
      (Int(leaf.position.block) + Int(leaf.blocks)) * Layout.blockSize > end
    }
    #expect(!isLacking || !report.isWhole && report.losses.contains { $0.record != nil })
  }

  @Test func `a file of pages that is gone costs the records whose leaves were in it`() throws {
    let world = try SalvageWorld(scaled(3_000, debug: 900), segments: 3)
    let pages = try world.pages()
    let files = try StoreFiles(at: world.path)
    for number in 1...3 as ClosedRange<UInt32> {
      try files.write(to: world.path)
      try FileManager.default.removeItem(
        atPath: "\(world.path)/\(FileName.pages(number))")
      // The first has the schema.
      try world.salvageAndVerify(pages, schema: SchemaLock(SalvageWorld.model), exactly: false) {
        leaf in
        leaf.position.segment != number
      }
    }
  }

  // MARK: - Pages

  @Test(arguments: [1, 3])
  func `without any footer or branch every leaf is found`(segments: Int) throws {
    let world = try SalvageWorld(scaled(3_000, debug: 900), segments: segments)
    if segments == 1 { try world.compact() }
    let pages = try world.pages()
    for file in try SalvageWorld.pageFiles(world.path) {
      let number = try #require(UInt32(file.suffix(10)))
      try world.change(file) { bytes in
        for block in 1..<bytes.count / Layout.blockSize {
          let kind = bytes[block * Layout.blockSize + 8]
          let isOfLeaf = pages.leaves.contains {
            $0.position.segment == number && Int($0.position.block) < block
              && block < Int($0.position.block + $0.blocks)
          }
          if !isOfLeaf, kind == 2 || kind == 5 { bytes[block * Layout.blockSize + 20] ^= 1 }
        }
      }
    }
    try world.salvageAndVerify(pages)
  }

  @Test(arguments: 1...UInt64(scaled(12, debug: 4)))
  func `damaged pages cost the records in them and no others`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let world = try SalvageWorld(scaled(3_000, debug: 900), segments: Int(seed % 3) + 1, seed: seed)
    if seed % 3 == 0 { try world.compact() }
    let pages = try world.pages()
    let readable: Int
    var spoiled: Set<PagePosition> = []
    let all = pages.leaves.map(\.position) + pages.branches
    for _ in 0..<1 + Int(random.next() % 12) {
      spoiled.insert(all[Int(random.next() % UInt64(all.count))])
    }
    if seed % 2 == 0 { spoiled.formUnion(pages.footers) }
    spoiled.subtract(pages.schema)
    for position in spoiled { try world.spoil(position) }
    readable = world.readableCount()
    // Leaves that were written anew since may come back as they were, unless there is no garbage.
    if seed % 3 == 0 {
      try world.salvageAndVerify(pages) { !spoiled.contains($0.position) }
    }
    let report = try PersistentStore.salvage(at: world.path, to: world.copy)
    #expect(report.remainingFaults.isEmpty, "\(report.remainingFaults)")
    #expect(report.records.values.reduce(0, +) >= readable)
    let snapshot = try PersistentStore.snapshot(at: world.copy)
    for record in ["Clerk", "Sale", "Stamp", "Ticket"] {
      let entity = try snapshot.entities.entity(named: record)
      let keys = SalvageWorld.keys(of: record, pages) { !spoiled.contains($0.position) }
      for key in keys {
        #expect(try snapshot.trees.contains(key.rawSpan, in: entity.rows), "\(record)")
      }
    }
  }

  @Test func `the newest state alone has nothing of older pages, and what it lacks is said`() throws
  {
    let world = try SalvageWorld(900)
    try world.compact()
    let pages = try world.pages()
    let leaf = try #require(pages.leaves.first { $0.record == "Sale" })
    try world.spoil(leaf.position)
    let report = try world.salvageAndVerify(pages, extent: .newestState) {
      $0.position != leaf.position
    }
    let loss = try #require(report.losses.first { $0.record == "Sale" })
    #expect(loss.count == leaf.keys.count && loss.found == 0)
    #expect("\(loss)".contains("Sale"))
  }

  @Test func `a lost clerk's sales are kept, and the copy knows whom they lead to`() throws {
    let world = try SalvageWorld(900)
    try world.compact()
    let pages = try world.pages()
    for leaf in pages.leaves where leaf.record == "Clerk" { try world.spoil(leaf.position) }
    let report = try world.salvageAndVerify(pages) { $0.record != "Clerk" }
    #expect(report.missing.count == 45 && report.missing.allSatisfy { $0.record == "Clerk" })
    #expect(!report.isWhole)
  }

  @Test func `with a damaged schema the versions are taken from a lock`() throws {
    let world = try SalvageWorld(300)
    try world.compact()
    let pages = try world.pages()
    for position in pages.schema { try world.spoil(position) }
    #expect(throws: StoreError.self) {
      try PersistentStore.salvage(at: world.path, to: world.copy)
    }
    #expect(!FileManager.default.fileExists(atPath: world.copy))
    try world.salvageAndVerify(pages, schema: SchemaLock(SalvageWorld.model))
  }
}
