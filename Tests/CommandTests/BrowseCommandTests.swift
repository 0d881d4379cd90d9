import TestSupport
import Testing

/// The verbs that leave their work to programs of their own. A copy of the command is run, so that no such program is beside it.
@Suite struct BrowseCommandTests {
  private let stage: Stage

  init() throws { stage = try Stage() }

  /// Runs a copy of the command in a directory of its own.
  ///
  /// - Parameter script: What the shell does before, in that directory.
  private func run(_ arguments: String..., after script: String) throws -> Command {
    let (output, error) = (stage.path("output"), stage.path("error"))
    let child = try ChildProcess(
      arguments, files: ["/dev/null", output, error],
      after: "command=$(realpath \"$0\"); cd \(stage.directory.path); cp \"$command\" cambium"
        + "; \(script); exec ./cambium \"$@\"")
    let status = child.wait()
    return Command(
      status: status, output: try contents(of: output), error: try contents(of: error))
  }

  /// Commands of the shell that make a program which prints its arguments, one a line.
  private func makeProgram(in directory: String, named name: String = "cambium-browse") -> String {
    "printf '#!/bin/sh\\nprintf \"%%s\\\\n\" \"$@\"\\n' > \(directory)/\(name)"
      + "; chmod +x \(directory)/\(name)"
  }

  @Test func `postgres hands all arguments on, also those that ask for help`() throws {
    let command = try run(
      "postgres", "plan", "-odd.cambium", "--scan", "--help",
      after: makeProgram(in: ".", named: "cambium-postgres"))
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output == "plan\n-odd.cambium\n--scan\n--help\n")
  }

  @Test func `without the program postgres says how to build it`() throws {
    let command = try run("postgres", "plan", "shop.cambium", after: "true")
    #expect(command.status == 8)
    #expect(
      command.error.contains("Scripts/program Postgres cambium-postgres"), "\(command.error)")
  }

  @Test func `browse runs the program beside the command, with its arguments`() throws {
    let command = try run(
      "browse", "--port", "8080", "--schema", "Schema.lock", "--allow-network", "--",
      "-odd.cambium", after: makeProgram(in: "."))
    #expect(command.status == 0, "\(command.error)")
    #expect(
      command.output == "--port\n8080\n--schema\nSchema.lock\n--allow-network\n--\n-odd.cambium\n")
  }

  @Test func `browse runs the program in PATH if none is beside the command`() throws {
    let command = try run(
      "browse", "shop.cambium",
      after:
        "mkdir elsewhere; \(makeProgram(in: "elsewhere")); export PATH=\"$PWD/elsewhere:$PATH\"")
    #expect(command.status == 0, "\(command.error)")
    #expect(command.output == "--port\n0\n--\nshop.cambium\n")
  }

  @Test func `without the program browse says how to build it`() throws {
    let command = try run("browse", "shop.cambium", after: "true")
    #expect(command.status == 8)
    #expect(command.error.contains("Scripts/program Browser cambium-browse"), "\(command.error)")
  }

  @Test func `a program that cannot be run is an error, not a missing one`() throws {
    let command = try run("browse", "shop.cambium", after: "echo x > cambium-browse")
    #expect(command.status == 6)
    #expect(command.error.contains("Cannot run cambium-browse"), "\(command.error)")
  }

  @Test func `browse checks its options itself, and has an example`() throws {
    #expect(try Command.run("browse", "shop.cambium", "--port", "70000").status == 2)
    #expect(try Command.run("browse", "shop.cambium", "--steps", "Steps.json").status == 2)
    #expect(try Command.run("browse", "--help").output.contains("Example: cambium browse"))
  }
}
