/// A step of a program as a lock states it: the versions that it leads between, and its name. Only the program knows what
/// the step does.
struct StatedStep: Hashable, Sendable {
  let from: ClosedRange<Int>
  let to: Int
  /// True if it takes the place of several steps.
  let isSquashed: Bool
  let label: String?
  let revision: Int

  /// Returns true if both lead between the same versions.
  func leads(as other: StatedStep) -> Bool {
    from == other.from && to == other.to && isSquashed == other.isSquashed
  }

  /// The step in plans and errors.
  var text: String {
    "step \(from.lowerBound)"
      + (isSquashed || from.count > 1 ? "–\(from.upperBound)" : "")
      + " → \(to)" + (label.map { " “\($0)”" } ?? "")
      + (revision == 0 ? "" : ", revision \(revision)")
  }
}
