import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Operations are read as they were appended, and any other bytes are refused or read, never a trap.
@Suite struct OperationTests {
  private struct Model: Equatable, CustomStringConvertible {
    var kind: LogOperation.Kind
    var key: Bytes = []
    var value: Bytes = []
    var version: UInt32 = 0

    var description: String { "\(kind) \(key.count) \(value.count) \(version)" }
  }

  private func random(_ random: inout SplitMix64, version: inout UInt32, isFirst: Bool) -> Model {
    func bytes(_ count: Int) -> Bytes {
      (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    let kind = isFirst ? .tree : LogOperation.Kind.allCases.randomElement(using: &random) ?? .clear
    var model = Model(kind: kind, version: version)
    switch kind {
    case .tree:
      model.key = Bytes(String(repeating: "ä", count: Int.random(in: 0...127, using: &random)).utf8)
    case .schemaVersion:
      version = UInt32.random(in: 0...(.max), using: &random)
      model.version = version
    case .add, .replace:
      model.key = bytes([0, 1, 16, 1024].randomElement(using: &random) ?? 0)
      model.value = bytes([0, 1, 100, 70_000].randomElement(using: &random) ?? 0)
    case .remove: model.key = bytes([0, 1, 16, 1024].randomElement(using: &random) ?? 0)
    case .clear: break
    }
    return model
  }

  private func append(_ model: Model, to buffer: FrameBuffer) {
    switch model.kind {
    case .tree: buffer.appendTree(model.key.rawSpan)
    case .schemaVersion: buffer.appendSchemaVersion(model.version)
    case .add: buffer.appendAdd(key: model.key.rawSpan, value: model.value.rawSpan)
    case .replace: buffer.appendReplace(key: model.key.rawSpan, value: model.value.rawSpan)
    case .remove: buffer.appendRemove(key: model.key.rawSpan)
    case .clear: buffer.appendClear()
    }
  }

  private func read(_ operations: RawSpan) throws(StoreError) -> [Model] {
    var reader = OperationReader(operations, at: .log(file: 0, block: 2))
    var models: [Model] = []
    while let operation = try reader.next() {
      models.append(
        Model(
          kind: operation.kind, key: operation.key.array(), value: operation.value.array(),
          version: operation.schemaVersion))
    }
    return models
  }

  @Test func `operations in commits are read as they were appended`() throws {
    replaying(0..<UInt64(scaled(200, debug: 20))) { seed in
      var generator = SplitMix64(seed: seed)
      let buffer = FrameBuffer(capacity: 0)
      var commits: [[Model]] = []
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        var version: UInt32 = 0
        let operations = FrameBuffer(capacity: 0)
        var models: [Model] = []
        for number in 0..<Int.random(in: 0...20, using: &generator) {
          models.append(random(&generator, version: &version, isFirst: number == 0))
          append(models[number], to: operations)
        }
        // A savepoint that is gone back to, and a commit that is dropped.
        let (count, mark) = (operations.payloadCount, buffer.payloadCount)
        append(random(&generator, version: &version, isFirst: true), to: operations)
        operations.truncate(to: count)
        buffer.appendCommit(operations.payload)
        if generator.next() % 4 == 0 { buffer.truncate(to: mark) } else { commits.append(models) }
      }
      if commits.isEmpty { return }
      let sequences = 9...8 + UInt64(commits.count)
      var reader = CommitReader(buffer.payload, sequences: sequences, at: .log(file: 0, block: 2))
      var found: [[Model]] = []
      while let operations = try reader.next() { found.append(try read(operations)) }
      #expect(found == commits)
      let copy = FrameBuffer()
      for commit in commits {
        let operations = FrameBuffer()
        for model in commit { append(model, to: operations) }
        copy.appendCommit(operations.payload)
      }
      #expect(copy.payload.array() == buffer.payload.array())
    }
  }

  @Test func `what is not an operation is refused`() throws {
    func fault(_ bytes: Bytes) -> String? {
      let error = storeError { () throws(StoreError) in _ = try read(bytes.rawSpan) }
      guard case .corrupt(.log(file: 0, block: 2), .logOperations, let reason) = error else {
        return nil
      }
      return reason
    }
    let tree: Bytes = [1, 1, 0x61]
    #expect(fault([]) == nil)
    #expect(fault(tree) == nil)
    #expect(fault([0]) != nil)
    #expect(fault([7]) != nil)
    #expect(fault([6]) != nil, "no tree")
    #expect(fault([5, 0, 0]) != nil, "no tree")
    #expect(fault([3, 0, 0, 0, 0, 0, 0]) != nil, "no tree")
    #expect(fault([1, 2, 0x61]) != nil, "cut")
    #expect(fault([1, 1, 0xff]) != nil, "not UTF-8")
    #expect(fault([2, 0, 0, 0]) != nil, "cut")
    #expect(fault(tree + [3, 0, 0, 0, 0, 0]) != nil, "cut")
    #expect(fault(tree + [3, 0, 0, 1, 0, 0, 0]) != nil, "cut")
    #expect(fault(tree + [5, 1, 4] + Bytes(repeating: 0, count: 1025)) != nil, "a long key")
    #expect(fault(tree + [3, 0, 0, 1, 0, 0, 1] + Bytes(repeating: 0, count: 1 << 24 + 1)) != nil)
    #expect(fault(tree + [3, 0, 0, 0xff, 0xff, 0xff, 0xff]) != nil)
  }

  @Test func `a whole log with any bytes changed and mended neither traps nor hangs`() throws {
    var refused = 0
    var read = 0
    replaying(0..<UInt64(scaled(20_000, debug: 1_000))) { seed in
      var generator = SplitMix64(seed: seed)
      let isRead = try hostile(&generator)
      if isRead { read += 1 } else { refused += 1 }
    }
    #expect(refused > 0 && read > 0)
    print("Log: \(refused) hostile logs refused, \(read) read")
  }

  /// Damages header or frames, mends the checksums, and reads and recovers what is there.
  private func hostile(_ generator: inout SplitMix64) throws -> Bool {
    let log = try CraftedLog()
    var previous = log.header.checksum
    var block: UInt32 = 2
    for sequence in 1...4 as ClosedRange<UInt64> {
      let buffer = LogWorld.commits(sequence...sequence)
      var frame = log.frame(block, sequence: sequence, after: previous)
      if generator.next() % 4 == 0 { frame.damage(&generator) }
      if generator.next() % 4 == 0 { buffer.damagePayload(&generator) }
      frame.length = min(frame.length, UInt32(buffer.payloadCount))
      previous = try log.write(frame, at: block, buffer)
      block += UInt32(LogLayout.blocks(payload: buffer.payloadCount))
    }
    if generator.next() % 4 == 0 {
      let file = try log.medium.open(.log(0), .readWrite, at: .test)
      var header = try file.read(0..<4096)
      for _ in 0...1 {
        header[Int.random(in: 32..<116, using: &generator)] = .random(
          in: 0...255, using: &generator)
      }
      header.mendHeader()
      for copy in 0...1 { try file.write(header, from: copy * 4096) }
    }
    func lastSequence(in medium: any FileSystem) -> UInt64? {
      guard let files = try? LogFiles(opening: medium, writing: true) else { return nil }
      var reader = LogReader(files)
      do {
        while try reader.next() != nil {}
      } catch {
        return nil
      }
      return reader.position.lastSequence
    }
    do throws(StoreError) {
      let files = try LogFiles(opening: log.medium, writing: true)
      var reader = LogReader(files)
      while try reader.next() != nil {}
      let position = reader.position
      let covered = position.footer.coveredSequence
      let opening =
        position.lastSequence > covered
        ? [(covered + 1...position.lastSequence, FrameBuffer())] : []
      let log = try Log(
        recovering: files, readTo: (position, reader.end), opening: opening,
        footer: position.footer, salt: 5)
      // What was written must be readable, whatever it came from.
      guard lastSequence(in: log.medium) == position.lastSequence else {
        throw .missing(path: "what was recovered")
      }
      return true
    } catch {
      switch error {
      case .corrupt, .newerFormat: return false
      default: throw error
      }
    }
  }
}

extension FrameHeader {
  fileprivate mutating func damage(_ generator: inout SplitMix64) {
    let extreme: UInt64 = [0, 1, 2, 1 << 31, 1 << 62, .max].randomElement(using: &generator) ?? 0
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: previous = PageChecksum(rawValue: extreme)
    case 1: block = UInt32(truncatingIfNeeded: extreme)
    case 2: flushedThrough = UInt32(truncatingIfNeeded: extreme)
    case 3: kind = UInt8(truncatingIfNeeded: generator.next())
    case 4: first = extreme
    case 5: last = extreme
    case 6: flags = UInt8(truncatingIfNeeded: extreme)
    case 7: time = extreme
    default: salt = extreme
    }
  }
}

extension FrameBuffer {
  /// Puts the payload together again, with some bytes changed.
  fileprivate func damagePayload(_ generator: inout SplitMix64) {
    var bytes = payload.array()
    for _ in 0...2 {
      bytes[Int.random(in: 0..<min(40, bytes.count), using: &generator)] =
        [0, 1, 3, 0x7f, 0xff].randomElement(using: &generator) ?? 0
    }
    removeAll()
    appendOperations(bytes.rawSpan)
  }
}
