import Cambium

/// The plan of the migration to the newest version in a schema file. Nothing is written.
struct MigrationPage {
  private let plan: MigrationPlan?
  private let files: SchemaFiles?

  /// - Throws: as `SchemaFiles.plan`.
  init(_ store: FollowedStore, _ files: SchemaFiles?) throws {
    self.files = files
    plan = try files?.plan(for: store)
  }

  var page: Page {
    guard let plan, let files else {
      return Page("Migration", "The plan of a migration") {
        element(.p, [.kind: "notice"]) {
          "To see what a migration would do, name the schema file of the program: "
          element(.code, "cambium browse STORE --schema Schema.lock")
        }
      }
    }
    guard plan.from != plan.to else {
      return Page("Migration", files.schema) {
        element(.p, [.kind: "notice"], "The store already has version \(plan.to).")
      }
    }
    return Page("Version \(plan.from) → \(plan.to)", files.schema) {
      element(.div, [.kind: "tiles"]) {
        for tile in tiles(of: plan) {
          element(.div) {
            element(.strong, tile.figure)
            element(.small, tile.meaning)
          }
        }
      }
      if !plan.faults.isEmpty {
        element(.h2, "It cannot run")
        for fault in plan.faults { element(.p, [.kind: "fault"], "\(fault)") }
      }
      if !plan.uncertainties.isEmpty {
        element(.h2, "Not known before a rehearsal")
        list(plan.uncertainties.map { "\($0)" })
      }
      element(.h2, "Steps")
      for step in plan.steps { section(of: step) }
      if !plan.work.isEmpty {
        element(.h2, "Work")
        list(plan.work.map { "\($0)" })
      }
    }
  }

  private func tiles(of plan: MigrationPlan) -> [(figure: String, meaning: String)] {
    [
      (plan.canRun ? "Can run" : "Refused", plan.isInferred ? "all inferred" : "with given steps"),
      (Figures.count(plan.records), "records to read"),
      (Figures.size(plan.bytesToRead), "to read"),
      (Figures.size(plan.bytesToWrite + plan.blobBytesToWrite), "to write"),
      (plan.bytesFree.map { Figures.size($0) } ?? "–", "free on the disk"),
    ]
  }

  private func section(of step: MigrationPlan.PlannedStep) -> HTML {
    element(.section) {
      element(.h3) {
        "\(step.from) → \(step.to)\(step.label.map { " “\($0)”" } ?? "") "
        element(.small, step.kind.rawValue + (step.isDeferrable ? ", deferrable" : ""))
      }
      if step.changes.isEmpty {
        element(.p, "No change to what is stored.")
      } else {
        list(step.changes.map { "\($0)" })
      }
      if !step.deferralFaults.isEmpty {
        element(.p, "It cannot be deferred:")
        list(step.deferralFaults.map { "\($0)" })
      }
    }
  }

  private func list(_ texts: [String]) -> HTML {
    element(.ul) { for text in texts { element(.li, text) } }
  }
}
