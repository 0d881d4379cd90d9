import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A new log with frames put into it by hand, right or wrong.
struct CraftedLog {
  let medium = InMemoryFileSystem()
  let header: LogHeader
  private let file: any File

  init() throws {
    _ = try Log.create(in: medium, of: LogWorld.identity, footer: LogWorld.footer(0), salt: 77)
    file = try medium.open(.log(0), .readWrite, at: .test)
    header = try LogFiles(opening: medium, writing: false).header
  }

  /// A frame with one commit, or with another payload, as it should be.
  func frame(
    _ block: UInt32, sequence: UInt64, after previous: PageChecksum? = nil, flushed: UInt32 = 17,
    payload: Int? = nil
  ) -> FrameHeader {
    FrameHeader(
      .commits, sequences: sequence...sequence,
      length: payload ?? LogWorld.commits(sequence...sequence).payloadCount,
      previous: previous ?? header.checksum, salt: header.salt, block: block,
      flushedThrough: flushed, time: 0)
  }

  /// Writes a frame at `place`, which need not be where it says it is.
  @discardableResult
  func write(
    _ frame: FrameHeader, at place: UInt32? = nil, _ payload: FrameBuffer? = nil,
    damage: (inout Bytes) -> Void = { _ in }
  ) throws -> PageChecksum {
    let buffer = payload ?? LogWorld.commits(frame.first...frame.first)
    let checksum = buffer.seal(frame, in: LogWorld.identity)
    var bytes = buffer.frame.array()
    damage(&bytes)
    try file.write(bytes, from: Int(place ?? frame.block) * Layout.blockSize)
    return checksum
  }

  /// Reads to the end; a payload need not be what `LogWorld` makes.
  func read() throws(StoreError) -> (frames: [LogFrame], end: LogEnd?) {
    var reader = LogReader(try LogFiles(opening: medium, writing: false))
    var frames: [LogFrame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return (frames, reader.end)
  }
}
