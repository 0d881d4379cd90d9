import FoundationEssentials
import Glibc

/// The disk space of the files in a directory, by the blocks they hold: neither parts that are
/// reserved past a file's end nor its holes can hide.
func diskUse(of directory: String) throws -> Int {
  try FileManager.default.subpathsOfDirectory(atPath: directory).reduce(0) { sum, name in
    var status = stat()
    guard unsafe lstat("\(directory)/\(name)", &status) == 0 else { return sum }
    return sum + Int(status.st_blocks) * 512
  }
}
