@testable import Cambium
@testable import InternalTestSupport

/// What is called while another call is held, or held itself.
enum HeldCall: CaseIterable {
  case write
  case writeRelaxed
  /// Too large for the log: a commit by a footer.
  case writeLarge
  /// Nothing is committed, as the closure throws.
  case writeInVain
  case writeInTask
  case writeRelaxedInTask
  case writeLargeInTask
  case flush
  case seal
  case fold
  case step
  case compact
  case snapshot
  case spaceUsage
  case restore
  case upgrade
  case close
  case abandon

  /// Whether a task makes it; then the engine's threads are needed.
  var isOfTasks: Bool {
    switch self {
    case .writeInTask, .writeRelaxedInTask, .writeLargeInTask: true
    default: false
    }
  }

  var closes: Bool { self == .close || self == .abandon }

  var reads: Bool { self == .snapshot || self == .spaceUsage }

  /// Whether an entry is there when it returned, and is not when it was refused; nil if it makes none.
  var commits: Bool? {
    switch self {
    case .write, .writeRelaxed, .writeLarge, .writeInTask, .writeRelaxedInTask, .writeLargeInTask,
      .restore:
      true
    case .writeInVain: false
    default: nil
    }
  }

  var isRelaxed: Bool { self == .writeRelaxed || self == .writeRelaxedInTask }
}

/// What is the matter with the engine when the calls are made.
enum HeldCondition: CaseIterable {
  case sound
  /// Writing has ended before.
  case poisoned
  /// Flushes of the log fail from then on.
  case logFails
  /// Writing pages fails from then on.
  case pagesFail
  /// The medium has no room for pages from then on.
  case full
}

extension HeldCall {
  /// What may be answered while `other` is called, at whatever moment of it.
  func answers(beside other: HeldCall, _ condition: HeldCondition) -> [LifeAnswer] {
    var answers: [LifeAnswer] = [.returned]
    if other.closes, !closes { answers.append(.closed) }
    if self == .restore, other == .restore { answers.append(.notKept) }
    if reads || self == .abandon { return answers }
    switch condition {
    case .sound: break
    case .poisoned:
      answers.append(.poisoned)
      // There is nothing to do, or another closes the engine.
      if self != .step, !(self == .close && other.closes) { answers.removeFirst() }
    case .logFails: answers += [.poisoned, .outcomeUnknown, .io]
    case .pagesFail: answers += [.poisoned, .outcomeUnknown, .io]
    case .full: answers.append(.full)
    }
    return answers
  }
}
