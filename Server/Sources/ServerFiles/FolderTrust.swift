#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether users other than the owner of a folder may remove the files in it. In a folder like `/tmp` they may make files,
/// but not remove those of others. False if there is no such folder.
public func othersMayRemoveFiles(in folder: String) -> Bool {
    var status = stat()
    guard stat(folder, &status) == 0 else { return false }
    return status.st_mode & (S_IWGRP | S_IWOTH) != 0 && status.st_mode & S_ISVTX == 0
}
