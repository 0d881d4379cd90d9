import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A log that is small where the volume is.
@Suite struct SmallVolumeTests {
  @Test func `the log takes an eighth of a small volume at most, and a mebibyte of the smallest`() {
    let usual = EngineOptions()
    for (volume, file) in [
      (nil, 32 << 20), (1 << 40, 32 << 20), (512 << 20, 32 << 20), (511 << 20, 16 << 20),
      (30 << 20, 1 << 20), (1 << 20, 512 << 10), (0, 512 << 10),
    ] as [(Int?, Int)] {
      let options = usual.fitting(volume: volume)
      #expect(options.logSize.max == file)
      #expect(options.foldThreshold == min(usual.foldThreshold, file / 2))
      #expect(options.logSize.initial == usual.logSize.initial)
    }
    // Overlays and files of the log become larger only where four times as much is still a sixteenth.
    var large = usual
    large.overlayScaleMax = 4
    for (volume, scale) in [
      (nil, 4), (1 << 40, 4), (2 << 30, 4), ((2 << 30) - 1, 2), (1 << 30, 2), (512 << 20, 1),
      (0, 1),
    ] as [(Int?, Int)] {
      #expect(large.fitting(volume: volume).overlayScaleMax == scale)
    }
    // What was set smaller stays.
    var small = EngineOptions()
    small.foldThreshold = 1000
    #expect(small.fitting(volume: 30 << 20).foldThreshold == 1000)
  }

  @Test func `a store of 11 MiB leaves most of a volume of 30 MiB free`() throws {
    let medium = InMemoryFileSystem()
    let engine = try Engine.open(medium, options: EngineOptions().fitting(volume: 30 << 20))
    let tree = try engine.names.slot(of: "t")
    var number: UInt64 = 0
    func put(_ count: Int) throws {
      try engine.write(.durable) { transaction in
        for _ in 0..<count {
          number += 1
          let key = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
          let value = Bytes(repeating: key[7], count: 1000)
          try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
        }
      }
      var logs = 0
      for log in [FileName.log(0), .log(1)] {
        logs += try medium.open(log, .read, at: .test).size(at: .test)
      }
      #expect(logs <= (30 << 20) / 8, "\(logs) after \(number)")
    }
    for _ in 0..<50 { try put(100) }
    // Also a transaction that no frame of such a log holds.
    try put(6000)
    for _ in 0..<10 { try put(1) }
    try engine.close()
  }
}
