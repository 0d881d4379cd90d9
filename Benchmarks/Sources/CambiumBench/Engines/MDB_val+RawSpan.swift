import CLMDB

extension MDB_val {
  /// For a call: the bytes must not move until it has returned.
  @inline(__always)
  init(_ bytes: RawSpan) {
    unsafe self = bytes.withUnsafeBytes {
      unsafe MDB_val(mv_size: $0.count, mv_data: UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }
}

extension RawSpan {
  /// The bytes that LMDB returned: in its map, so until the end of the transaction.
  @inline(__always)
  @_lifetime(immortal)
  init(_ value: MDB_val) {
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    self = unsafe _overrideLifetime(span, borrowing: ())
  }
}
