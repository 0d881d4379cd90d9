import ArgumentParser
import Cambium

struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copies what is left of a store that cannot be opened any more.",
    discussion: """
      The last resort, if the log is lost or damaged. It looks through all pages for states of the store, takes the \
      newest that is whole, and copies it into a new store; the damaged one stays as it is. Commits that were only in \
      the log are lost: there are none in a store that was closed before it was damaged. Ends with status 1 if anything \
      of the state could not be copied.

      Example: cambium salvage damaged.cambium salvaged.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the new store, which is made.", completion: .directory)
  var copy: String

  @Flag(help: "Take the newest state, and leave out what is damaged in it.")
  var newest = false

  @Flag(help: "Replace the store that is there.")
  var force = false

  func run() throws {
    var missing: StoreError?
    do {
      _ = try PersistentStore.inspect(
        at: arguments.store, lastCommits: 0, options: arguments.reading)
    } catch StoreError.corrupt {
    } catch {
      // The log may be lost.
      guard case .missing = error else { throw error }
      missing = error
    }
    let place = try NewStore(
      at: copy, replacing: force, arguments.reading)
    let report: SalvageReport
    do {
      report = try RawSalvage.run(
        from: arguments.store, to: place.temporary, choosing: newest ? .newest : .newestWhole)
      if report.chosen != nil { try place.finish() }
    } catch {
      place.abandon()
      throw error
    }
    guard let state = report.state else {
      if let missing, report.candidates.isEmpty { throw missing }
      throw report.nothing(in: arguments.store)
    }
    StandardOutput.line(
      arguments.json
        ? "\(report.json(of: state))"
        : "Commit \(Figures.count(state.coveredSequence)) of \(Figures.count(report.newestSequence)) found was copied to \(copy)."
    )
    for line in report.problems { StandardError.write("cambium: \(line)\n") }
    if !report.problems.isEmpty {
      throw CommandFailure(.fault, "The copy lacks what was damaged.")
    }
  }
}

extension SalvageReport {
  fileprivate var state: Candidate? { chosen.map { candidates[$0] } }

  fileprivate var newestSequence: UInt64 { candidates.first?.coveredSequence ?? 0 }

  /// A line for each part of the state that is not in the copy.
  fileprivate var problems: [String] {
    (chosen == 0 ? [] : ["A newer state, of commit \(Figures.count(newestSequence)), is damaged."])
      + losses.map {
        "Lost \(Figures.count(Int(clamping: $0.count), "key")) of \($0.tree): \($0.fault)"
      }
      + (damagedBlobs == 0 ? [] : ["\(Figures.count(damagedBlobs, "blob")) cannot be read."])
      + faults.map { "\($0)" }
  }

  /// The error if no state was copied.
  fileprivate func nothing(in path: String) -> CommandFailure {
    if candidates.isEmpty {
      return CommandFailure(.fault, "\(path) has no state that can be read.")
    }
    return CommandFailure(
      .fault,
      "None of the \(Figures.count(candidates.count, "state")) of \(path) is whole. Say --newest to copy what is left of the newest."
    )
  }

  fileprivate func json(of state: Candidate) -> JSONValue {
    [
      "sequence": JSONValue(state.coveredSequence), "newest": JSONValue(newestSequence),
      "lost": .array(problems.map { .string($0) }),
    ]
  }
}
