@testable import Cambium

extension FrameBuffer {
  /// Appends a commit of the operations that `body` appends to another buffer.
  func appendCommit(_ body: (FrameBuffer) -> Void) {
    let operations = FrameBuffer()
    body(operations)
    appendCommit(operations.payload)
  }
}
