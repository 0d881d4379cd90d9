import ArgumentParser

/// The arguments of commands that can leave out records that cannot be read.
struct SkipDamagedArguments: ParsableArguments {
  @Flag(
    help: """
      Leave out records that cannot be read, and take the others. Standard error says how many of each type \
      are left out, and the status is 1.
      """)
  var skipDamaged = false

  @Flag(help: "With --skip-damaged: name each record that is left out.")
  var verbose = false

  func validate() throws {
    if verbose && !skipDamaged {
      throw ValidationError("--verbose names the records that --skip-damaged leaves out.")
    }
  }
}
