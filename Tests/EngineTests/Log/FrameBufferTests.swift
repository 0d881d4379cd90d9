import TestSupport
import Testing

@testable import Cambium

@Suite struct FrameBufferTests {
  @Test func `memory that one large transaction needed is released after small ones`() {
    let buffer = FrameBuffer()
    let large = [UInt8](repeating: 1, count: 1 << 20)
    for _ in 0..<16 { buffer.appendOperations(large.rawSpan) }
    buffer.removeAll()
    #expect(buffer.memorySize >= 16 << 20)
    for _ in 0..<40 {
      buffer.appendOperations(large.rawSpan.part(0, 1000))
      #expect(buffer.payloadCount == 1000)
      buffer.removeAll()
    }
    #expect(buffer.memorySize <= 64 << 10)
    buffer.appendOperations(large.rawSpan)
    #expect(buffer.payload.array() == large)
  }

  @Test func `memory that is used now and then is kept`() {
    let buffer = FrameBuffer()
    let large = [UInt8](repeating: 1, count: 4 << 20)
    for round in 0..<200 {
      buffer.appendOperations(large.rawSpan.part(0, round % 10 == 0 ? large.count : 1000))
      buffer.removeAll()
      #expect(buffer.memorySize >= 4 << 20)
    }
  }
}
