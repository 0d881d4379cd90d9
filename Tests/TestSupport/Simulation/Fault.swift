package import Cambium

/// Something that goes wrong with a call.
package enum Fault: Hashable, Sendable {
  /// The process ends before the call: it and every later one throw `.io(EIO)` and do nothing, so that
  /// the engine unwinds; then the test takes a crash image.
  case stop
  /// The call is refused and does nothing.
  case error(SystemErrorCode)
  /// The call does its work, and says that it failed.
  case errorAfterAll(SystemErrorCode)
  /// A write ends after some bytes, and says that it failed.
  case errorAfter(bytes: Int, SystemErrorCode)
  /// A sync fails, of a file or of the directory.
  case flush(FlushFailure)
  /// A read returns a wrong bit, counted from the first one read; the next read is right again.
  case bitFlip(Int)
  /// A read returns the bytes before the last write to each block.
  case stale
  /// A read returns the bytes that many bytes further on.
  case displaced(by: Int)
}

extension Fault {
  /// True if the fault means anything to a call of this kind. To others nothing happens.
  package func applies(to operation: Operation) -> Bool {
    switch self {
    case .stop: true
    case .error: operation != .willNeed
    case .errorAfterAll: Fault.changing.contains(operation)
    case .errorAfter: operation == .write
    case .flush: operation == .sync || operation == .syncDirectory
    case .bitFlip, .stale, .displaced: operation == .read
    }
  }

  var flushFailure: FlushFailure? {
    if case .flush(let failure) = self { failure } else { nil }
  }

  private static let changing: Set<Operation> = [
    .open, .write, .truncate, .rename, .unlink,
  ]
}

/// How long a fault lasts.
package enum Persistence: Hashable, Sendable, CaseIterable {
  case once
  /// From then on: where it was set for a numbered call, for every later call of the same kind.
  case forGood
}

extension Fault: CustomStringConvertible {
  /// As one writes it, without the dot.
  package var description: String {
    switch self {
    case .stop: "stop"
    case .error(let errno): "error(.init(rawValue: \(errno.rawValue)))"
    case .errorAfterAll(let errno): "errorAfterAll(.init(rawValue: \(errno.rawValue)))"
    case .errorAfter(let count, let errno):
      "errorAfter(bytes: \(count), .init(rawValue: \(errno.rawValue)))"
    case .flush(let failure): "flush(.\(failure))"
    case .bitFlip(let bit): "bitFlip(\(bit))"
    case .stale: "stale"
    case .displaced(let distance): "displaced(by: \(distance))"
    }
  }
}
