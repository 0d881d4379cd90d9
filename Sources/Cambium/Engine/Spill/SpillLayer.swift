/// The operations of a spilled transaction on one tree during some time. They can be read several times, one after the other.
enum SpillLayer {
  case buffer(BufferInput)
  case overlay(OverlayTree)
  case run(Run)

  /// The operations from the first one on. The input that was taken before is of no more use.
  func input() -> SpillInput {
    switch self {
    case .buffer(let puts):
      puts.rewind()
      return .buffer(puts)
    case .overlay(let changes): return .overlay(OverlayRunInput(changes))
    case .run(let run): return .run(RunInput(run))
    }
  }
}
