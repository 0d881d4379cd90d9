/// Calls `body` and returns its value, or the reason why it was -1.
///
/// With `retryOnInterrupt` it is called again for as long as a signal is what stopped it. Leave that
/// out where the call may have done its work before it was interrupted.
func valueOrErrno<Value: FixedWidthInteger & SignedInteger>(
  retryOnInterrupt: Bool, _ body: () -> Value
) -> Result<Value, SystemErrorCode> {
  while true {
    let value = body()
    if value != -1 { return .success(value) }
    let errno = SystemErrorCode.current
    if errno == .interrupted && retryOnInterrupt { continue }
    return .failure(errno)
  }
}

/// Makes a call that returns nothing but success, with errors thrown as above.
func nothingOrErrno<Value: FixedWidthInteger & SignedInteger>(
  retryOnInterrupt: Bool, _ body: () -> Value
) -> Result<Void, SystemErrorCode> {
  valueOrErrno(retryOnInterrupt: retryOnInterrupt, body).map { _ in }
}

/// Repeats a call that may do part of its work until `count` bytes are through, and returns how many
/// are: fewer only if the call said 0, which a read does at the end of the file.
///
/// `step` is told how many bytes are done.
func transferAll(
  _ count: Int, _ step: (_ done: Int) -> Result<Int, SystemErrorCode>
) -> Result<Int, SystemErrorCode> {
  var done = 0
  while done < count {
    switch step(done) {
    case .success(0): return .success(done)
    case .success(let more): done += more
    case .failure(let errno): return .failure(errno)
    }
  }
  return .success(done)
}

/// Makes a call that must transfer all bytes: one that returns 0 has failed, since repeating it might loop
/// forever.
func transferWhole(
  _ count: Int, _ step: (_ done: Int) -> Result<Int, SystemErrorCode>
) -> Result<Void, SystemErrorCode> {
  transferAll(count, step).flatMap { $0 == count ? .success(()) : .failure(.ioError) }
}

extension Result where Failure == SystemErrorCode {
  /// The value, or the failure as an error that says what was done to which file.
  func get(_ operation: String, path: String) throws(StoreError) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let errno): throw StoreError.failed(operation, errno, path: path)
    }
  }
}
