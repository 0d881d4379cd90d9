import Testing

@testable import Cambium

/// The states of an engine and what they permit, by enumeration.
@Suite("The life of an engine")
struct EngineLifeTests {
  private typealias Answer = LifeAnswer

  private enum Event: CaseIterable {
    case fail
    case fence
    case liftFence
    case beginClosing
    case endClosing
  }

  /// Whether the engine was closed, and why not, in the plainest words.
  private struct Model {
    var stage = EngineLife.Stage.open
    var cause: StoreError?
    var isFenced = false

    func answer(to activity: EngineLife.Activity) -> Answer {
      switch (activity, stage, cause != nil) {
      case (.reading, .closed, _): .closed
      case (.reading, _, _): .returned
      case (.starting, .open, false): isFenced ? .moved : .returned
      case (.starting, .open, true): .poisoned
      case (.starting, _, _): .closed
      case (.finishing, _, true): .poisoned
      case (.finishing, .closed, false): .closed
      case (.finishing, _, false): .returned
      }
    }
  }

  @Test func `every sequence of transitions permits what the table says`() {
    var count = 0
    func extend(_ life: EngineLife, _ model: Model, _ events: [Event]) {
      count += 1
      expect(life, model, events)
      if events.count == 6 { return }
      for event in Event.allCases {
        if event == .endClosing, model.stage != .closing { continue }
        var (life, model) = (life, model)
        apply(event, to: &life, &model, number: events.count)
        extend(life, model, events + [event])
      }
    }
    extend(EngineLife(), Model(), [])
    #expect(count > 500)
  }

  private func apply(
    _ event: Event, to life: inout EngineLife, _ model: inout Model, number: Int
  ) {
    switch event {
    case .fail:
      let cause = StoreError.full(path: "failure \(number)")
      life.fail(cause)
      if model.cause == nil, model.stage != .closed { model.cause = cause }
    case .fence:
      life.fence(.moved(path: "here", to: "there"))
      model.isFenced = true
    case .liftFence:
      life.liftFence()
      model.isFenced = false
    case .beginClosing:
      #expect(life.beginClosing() == (model.stage == .open))
      if model.stage == .open { model.stage = .closing }
    case .endClosing:
      life.endClosing()
      model.stage = .closed
    }
  }

  private func expect(_ life: EngineLife, _ model: Model, _ events: [Event]) {
    #expect(life.stage == model.stage, "\(events)")
    #expect(life.failure == model.cause, "\(events)")
    for activity in EngineLife.Activity.allCases {
      let refusal = life.refusal(of: activity, at: "here")
      #expect(life.permits(activity) == (refusal == nil), "\(events), \(activity)")
      #expect(Answer(refusal) == model.answer(to: activity), "\(events), \(activity)")
      if case .poisoned(_, let reason) = refusal {
        #expect(reason == model.cause.map { "\($0)" }, "\(events), \(activity)")
      }
    }
  }
}

/// The answer to a call, as far as the life of an engine decides it.
enum LifeAnswer: Equatable {
  case returned
  case closed
  case poisoned
  case outcomeUnknown
  case full
  case io
  case notKept
  case moved
  case threw(String)

  init(_ error: (any Error)?) {
    switch error as? StoreError {
    case .closed: self = .closed
    case .poisoned: self = .poisoned
    case .outcomeUnknown: self = .outcomeUnknown
    case .full: self = .full
    case .io: self = .io
    case .notKept: self = .notKept
    case .moved: self = .moved
    default: self = error.map { .threw("\($0)") } ?? .returned
    }
  }

  init(of body: () throws -> Void) {
    do {
      try body()
      self = .returned
    } catch {
      self.init(error)
    }
  }

  init(of body: @Sendable () async throws -> Void) async {
    do {
      try await body()
      self = .returned
    } catch {
      self.init(error)
    }
  }
}
