package win32

import "golang.org/x/sys/windows"

// FinalPath opens an existing file or directory for nothing but its attributes, through every link, and gives its final path
// with the prefix `\\?\`.
func FinalPath(path string) (string, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(p, windows.FILE_READ_ATTRIBUTES, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	b := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &b[0], uint32(len(b)), 0)
		if err != nil {
			return "", err
		}
		if int(n) <= len(b) {
			return windows.UTF16ToString(b), nil
		}
		b = make([]uint16, n)
	}
}
