import FoundationEssentials
import Glibc

/// The bytes of medium that the files in a directory take, by the blocks they hold: neither what is
/// reserved past a file's end nor its holes can hide.
func diskUse(of directory: String) throws -> Int {
  try FileManager.default.subpathsOfDirectory(atPath: directory).reduce(0) { sum, name in
    var status = stat()
    guard unsafe lstat("\(directory)/\(name)", &status) == 0 else { return sum }
    return sum + Int(status.st_blocks) * 512
  }
}
