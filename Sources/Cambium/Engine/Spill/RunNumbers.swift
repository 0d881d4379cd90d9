/// The numbers of segments that hold runs: above those that a store's pages come to, so that a fold, which
/// makes segments meanwhile, never has the same.
///
/// With the writer's turn.
final class RunNumbers: @unchecked Sendable {
  static let all: ClosedRange<UInt32> = 0xf000_0000...UInt32.max
  /// The numbers that one appender of runs may use: more segments than any medium has room for.
  private static let share: UInt32 = 1 << 12

  @exclusivity(unchecked) private var next = all.lowerBound

  init() {}

  /// The first number for another appender. Names do not last, so they may come again.
  func take() -> UInt32 {
    let number = unsafe next
    let isLast = number > Self.all.upperBound - 2 * Self.share
    unsafe next = isLast ? Self.all.lowerBound : number + Self.share
    return number
  }
}
