import CambiumTesting
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// What must be so of a store whose long operation was interrupted, whatever operation that was.
struct LongOracle: Sendable {
  /// One thing that must be so.
  enum Question: Int, CaseIterable, Sendable {
    case oldProgram, newProgram, check, backup, rollback, salvage, oldProgramWrites
  }

  let work: LongWork
  private let states: [LongState]
  private let extra = DynamicRecord.of("Owner", 77, ["name": "written meanwhile"])
  private let statesWithExtra: [LongState]

  init(_ work: LongWork) {
    self.work = work
    states = work.states()
    statesWithExtra = work.states(with: [extra])
  }

  private var last: LongState { states[states.count - 1] }

  /// - Parameter questions: Those to ask besides of a reader, which always has to answer.
  /// - Returns: the first answer that is wrong; nil if none is.
  func violation(in place: LongPlace, _ questions: [Question] = Question.allCases) -> String? {
    var current = "a reader"
    do {
      let found = try index(of: try place.reader(), in: states)
      for question in questions {
        current = "\(question)"
        try ask(question, place, from: found)
      }
      return nil
    } catch {
      return "\(current): \(error)"
    }
  }

  /// What is wrong of a reader that was open before, and of one that is opened now. The one that was open is
  /// replaced where it has to be opened again.
  func violation(ofReader reader: inout PersistentStore, in place: LongPlace) -> String? {
    do {
      if let error = storeError({ () throws(StoreError) in _ = try reader.refresh() }) {
        switch error {
        case .newerSchema, .needsMigration: reader = try place.reader()
        default: throw error
        }
      }
      let found = try index(of: try LongState(of: reader), in: states)
      _ = try index(of: try place.reader(), in: Array(states[found...]))
      return nil
    } catch {
      return "a reader: \(error)"
    }
  }

  private func ask(_ question: Question, _ place: LongPlace, from found: Int) throws {
    switch question {
    case .oldProgram: try openOld(try place.copy(), from: found)
    case .newProgram: _ = try ended(place)
    case .check:
      let inspection = try place.inspect()
      try agree(inspection.version == states[found].version, "info: \(inspection.version ?? 0)")
      let faults = try place.check()
      try agree(faults.isEmpty, "\(faults)")
    case .backup:
      let copy = place.another()
      try place.backUp(to: copy)
      _ = try index(of: try copy.reader(), in: [states[found]])
      let faults = try copy.check()
      try agree(faults.isEmpty, "\(faults)")
    case .rollback:
      guard work.keepsFirst else { return }
      let ended = try ended(place)
      // The program has written since, before the compaction.
      try ended.rollBack(to: 1, discardingCommits: work.kind == .compaction)
      _ = try index(of: try ended.reader(), in: [LongState(1, work.records.all)])
      let faults = try ended.check()
      try agree(faults.isEmpty, "rolled back: \(faults)")
    case .salvage:
      // Blobs are copied by what salvages directories.
      if place.medium != nil, work.versions.contains(where: { $0.contains(.external) }) { return }
      let copy = place.another()
      try place.salvage(to: copy)
      _ = try index(of: try copy.reader(), in: states)
    case .oldProgramWrites: try writeOld(try place.copy(), from: found)
    }
  }

  /// The place in `states` of what a store shows.
  private func index(of store: PersistentStore, in states: [LongState]) throws -> Int {
    let found = try LongState(of: store)
    try store.close()
    return try index(of: found, in: states)
  }

  private func index(of found: LongState, in states: [LongState]) throws -> Int {
    guard
      let index = states.firstIndex(where: {
        $0.version == found.version && $0.records == found.records
      })
    else {
      throw Disagreement(description: "\(found.differences(to: states))")
    }
    return index
  }

  /// The program that made the store opens it as long as it has its version.
  private func openOld(_ place: LongPlace, from found: Int) throws {
    let version = states[0].version
    do {
      let store = try place.open(work.model.dynamic(version: version), [], .refuse)
      _ = try index(of: store, in: Array(states[found...]))
    } catch StoreError.newerSchema(let newer, _) {
      try agree(states.contains { $0.version == newer }, "it has version \(newer)")
    } catch StoreError.needsMigration(let older, _) {
      try agree(states.contains { $0.version == older }, "it has version \(older)")
    }
    let faults = try place.check()
    try agree(faults.isEmpty, "\(faults)")
  }

  /// A copy in which the operation was resumed, and has ended.
  private func ended(_ place: LongPlace, in states: [LongState]? = nil) throws -> LongPlace {
    let place = try place.copy()
    let target = work.isCopy ? place.another() : nil
    try work.run(place, to: target)
    let end = target ?? place
    let states = states ?? self.states
    _ = try index(of: try end.reader(), in: [states[states.count - 1]])
    let faults = try end.check()
    try agree(faults.isEmpty, "ended: \(faults)")
    let store = try end.open(work.model.dynamic(version: last.version), [], .refuse)
    let trees = store.backend.names.all.filter { name in
      name.hasPrefix("m.") || name == MigrationMark.treeName
    }
    for tree in trees {
      let count = try store.backend.trees().count(in: store.backend.names.slot(of: tree))
      try agree(count == 0, "\(tree) is left")
    }
    try store.close()
    return end
  }

  /// The old program goes on to write, and then the new one comes.
  private func writeOld(_ place: LongPlace, from found: Int) throws {
    guard states[found].version == 1, work.kind != .batches, work.kind != .rollback else { return }
    do {
      let store = try place.open(work.oldModel, [], .refuse)
      try store.write { transaction in try transaction.save(extra) }
      try store.close()
    } catch StoreError.newerSchema { return }
    _ = try ended(place, in: statesWithExtra)
  }
}

extension LongState {
  /// In a line.
  fileprivate func differences(to states: [LongState]) -> String {
    guard let state = states.last(where: { $0.version == version }) else {
      return "it has version \(version)"
    }
    let (own, others) = (Set(records), Set(state.records))
    let first = own.subtracting(others).first ?? others.subtracting(own).first
    return "version \(version) has \(records.count) records, not \(state.records.count);"
      + " \(first.map { "\($0)".prefix(300) } ?? "")"
  }
}
