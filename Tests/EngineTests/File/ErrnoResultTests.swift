import Glibc
import Testing

@testable import Cambium

struct ErrnoResultTests {
  @Test(arguments: [0, 1, 2, 100])
  func `an interrupted call is made again until it is not`(interruptions: Int) {
    var calls = 0
    let result: Result<Int, SystemErrorCode> = valueOrErrno(retryOnInterrupt: true) {
      calls += 1
      if calls <= interruptions { return failing(EINTR) }
      return 7
    }
    #expect(result == .success(7))
    #expect(calls == interruptions + 1)
  }

  @Test func `an interrupted call that may have worked is made once`() {
    var calls = 0
    let result: Result<Int, SystemErrorCode> = valueOrErrno(retryOnInterrupt: false) {
      calls += 1
      return failing(EINTR)
    }
    #expect(result == .failure(.interrupted))
    #expect(calls == 1)
  }

  @Test func `another error ends the attempts`() {
    var script = [EINTR, EIO, EINTR]
    let result = nothingOrErrno(retryOnInterrupt: true) { failing(script.removeFirst()) }
    #expect(throws: SystemErrorCode.ioError) { try result.get() }
    #expect(script == [EINTR])
  }

  @Test func `a failed sync is not repeated after a signal`() {
    // An end of a pipe cannot be synced: the call fails for sure, and says so once.
    var ends: [Int32] = [-1, -1]
    #expect(unsafe pipe(&ends) == 0)
    defer { ends.forEach(Syscall.close) }
    #expect(throws: SystemErrorCode.invalidArgument) { try Syscall.syncBytes(ends[1]).get() }
    #expect(throws: SystemErrorCode.invalidArgument) { try Syscall.sync(ends[1]).get() }
  }

  struct Transfer: Sendable {
    let count: Int
    let steps: [Result<Int, SystemErrorCode>]
    let expected: Result<Int, SystemErrorCode>
    let callsMade: Int
  }

  @Test(arguments: [
    Transfer(count: 10, steps: [.success(10)], expected: .success(10), callsMade: 1),
    Transfer(
      count: 10, steps: [.success(1), .success(8), .success(1)], expected: .success(10),
      callsMade: 3),
    Transfer(count: 10, steps: [.success(4), .success(0)], expected: .success(4), callsMade: 2),
    Transfer(count: 10, steps: [.success(0)], expected: .success(0), callsMade: 1),
    Transfer(
      count: 10, steps: [.success(4), .failure(.noSpace)], expected: .failure(.noSpace),
      callsMade: 2),
    Transfer(count: 0, steps: [], expected: .success(0), callsMade: 0),
  ])
  func `a call that does part of its work goes on where it stopped`(transfer: Transfer) {
    var offsets: [Int] = []
    let result = transferAll(transfer.count) { done in
      offsets.append(done)
      return transfer.steps[offsets.count - 1]
    }
    #expect(result == transfer.expected)
    #expect(offsets.count == transfer.callsMade)
    var done = 0
    for (offset, step) in zip(offsets, transfer.steps) {
      #expect(offset == done)
      if case .success(let more) = step { done += more }
    }
  }

  @Test(
    arguments: [
      ([10], nil), ([1, 8, 1], nil), ([], .ioError), ([4], .ioError), ([4, 5], .ioError),
    ] as [([Int], SystemErrorCode?)])
  func `a write that gets no further is an error, not a loop`(steps: [Int], error: SystemErrorCode?)
  {
    var rest = steps
    let result = transferWhole(10) { _ in .success(rest.isEmpty ? 0 : rest.removeFirst()) }
    switch result {
    case .success: #expect(error == nil)
    case .failure(let found): #expect(found == error)
    }
  }

  @Test func `a failure says what was done to which file`() {
    let cases: [(SystemErrorCode, StoreError)] = [
      (.noSpace, .full(path: "p")), (.quotaExceeded, .full(path: "p")),
      (.fileTooLarge, .full(path: "p")), (.noSuchFile, .missing(path: "p")),
      (.ioError, .io(.ioError, operation: "read", path: "p")),
    ]
    for (errno, expected) in cases {
      #expect(throws: expected) {
        try Result<Void, SystemErrorCode>.failure(errno).get("read", path: "p")
      }
    }
  }

  private func failing(_ code: Int32) -> Int {
    errno = code
    return -1
  }
}
