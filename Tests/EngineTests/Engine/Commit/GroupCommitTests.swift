import Testing

@testable import Cambium

/// What may happen to a group commit, and a model of what it then has to say.
@Suite("Group commit")
struct GroupCommitTests {
  private enum Event: CaseIterable {
    case durable
    case relaxed
    case take
    case flush
  }

  /// The rules of DESIGN.md, section 3, in the plainest words.
  private struct Model {
    var isDurable: [Bool] = []
    var taken = 0
    var flushed = 0
    var inFlight = false

    /// The longest prefix in which every durable commit is flushed.
    var published: Int {
      let blocked = isDurable.indices.first { isDurable[$0] && $0 >= flushed }
      return blocked ?? isDurable.count
    }
  }

  @Test("publishes in commit order, each commit when its class is met, whatever happens when")
  func everySequence() {
    let length = 7
    var count = 0
    func run(_ events: [Event]) {
      count += 1
      var commits = GroupCommit(0, sequence: 0)
      var model = Model()
      for event in events {
        Self.apply(event, to: &commits, &model)
        #expect(commits.published == model.published, "\(events)")
        #expect(commits.publishedSequence == UInt64(model.published), "\(events)")
        #expect(commits.lastSequence == UInt64(model.isDurable.count), "\(events)")
        #expect(commits.hasGathered == (model.taken < model.isDurable.count), "\(events)")
        for sequence in 1..<UInt64(length + 1) {
          #expect(
            commits.isOutcomeUnknown(sequence)
              == (sequence > model.flushed && sequence <= model.taken), "\(events)")
        }
      }
    }
    func extend(_ events: [Event]) {
      if events.count == length { return run(events) }
      for event in Event.allCases { extend(events + [event]) }
    }
    extend([])
    #expect(count == 16384)
  }

  private static func apply(
    _ event: Event, to commits: inout GroupCommit<Int>, _ model: inout Model
  ) {
    switch event {
    case .durable, .relaxed:
      model.isDurable.append(event == .durable)
      let sequence = commits.enqueue(model.isDurable.count, isDurable: event == .durable)
      #expect(sequence == UInt64(model.isDurable.count))
    case .take:
      if model.inFlight { return }
      let group = commits.take()
      #expect(group?.lowerBound == (group == nil ? nil : UInt64(model.taken + 1)))
      model.inFlight = model.taken < model.isDurable.count
      model.taken = model.isDurable.count
      #expect(group?.upperBound == (model.inFlight ? UInt64(model.taken) : nil))
    case .flush:
      if !model.inFlight { return }
      commits.landed()
      commits.flushed(through: UInt64(model.taken))
      model.inFlight = false
      model.flushed = model.taken
    }
  }

  @Test("a later flush never takes back what an earlier one said")
  func flushesOnlyGrow() {
    var commits = GroupCommit("a", sequence: 10)
    #expect(commits.enqueue("b", isDurable: true) == 11)
    #expect(commits.take() == 11...11)
    commits.flushed(through: 11)
    commits.flushed(through: 4)
    #expect(commits.flushedSequence == 11)
    #expect(commits.published == "b")
  }

  @Test("what amends the newest commit is published with it")
  func amends() {
    var commits = GroupCommit(1, sequence: 0)
    commits.amend { $0 += 10 }
    #expect(commits.published == 11)
    _ = commits.enqueue(2, isDurable: true)
    _ = commits.enqueue(3, isDurable: true)
    commits.amend { $0 += 10 }
    #expect(commits.published == 11)
    commits.flushed(through: 1)
    #expect(commits.published == 2)
    commits.flushed(through: 2)
    #expect(commits.published == 13)
  }

  @Test("changing all states changes those that wait as well")
  func updates() {
    var commits = GroupCommit(1, sequence: 0)
    _ = commits.enqueue(2, isDurable: true)
    _ = commits.enqueue(3, isDurable: true)
    commits.update { $0 *= 10 }
    #expect(commits.published == 10)
    _ = commits.take()
    commits.landed()
    commits.flushed(through: 1)
    #expect(commits.published == 20)
    commits.flushed(through: 2)
    #expect(commits.published == 30)
  }

  @Test("many waiting commits are published one after the other")
  func manyWaiting() {
    var commits = GroupCommit(0, sequence: 0)
    for index in 1...5000 { _ = commits.enqueue(index, isDurable: index.isMultiple(of: 2)) }
    _ = commits.take()
    commits.landed()
    for index in 1...5000 {
      commits.flushed(through: UInt64(index))
      // A relaxed commit follows the durable one before it at once.
      #expect(commits.published == min(5000, index.isMultiple(of: 2) ? index + 1 : index))
    }
  }
}
