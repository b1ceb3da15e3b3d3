package win32

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Handle is one of the system's.
type Handle = windows.Handle

// Close closes a kernel handle.
func Close(h uintptr) error { return windows.CloseHandle(Handle(h)) }

var (
	advapi32 = windows.NewLazySystemDLL("advapi32.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")

	procGetKernelObjectSecurity = advapi32.NewProc("GetKernelObjectSecurity")
	procOpenFileByID            = kernel32.NewProc("OpenFileById")
	procIsProcessInJob          = kernel32.NewProc("IsProcessInJob")
)

// plain turns a status of the kernel into an error number that package errors understands.
func plain(err error) error {
	var s windows.NTStatus
	if errors.As(err, &s) {
		return s.Errno()
	}
	return err
}

// openOptions: synchronous, a reparse point itself, directories too.
const openOptions = windows.FILE_SYNCHRONOUS_IO_NONALERT | windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT

// Open opens an existing object: an extended path (`\\?\C:\x`) when dir is 0, else a name in an open directory.
func Open(dir uintptr, name string, want, share uint32) (uintptr, error) {
	if dir == 0 {
		name = `\??\` + strings.TrimPrefix(name, `\\?\`)
	}
	u, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	oa := windows.OBJECT_ATTRIBUTES{RootDirectory: Handle(dir), ObjectName: u, Attributes: windows.OBJ_CASE_INSENSITIVE}
	oa.Length = uint32(unsafe.Sizeof(oa))
	var h Handle
	var iosb windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&h, want, &oa, &iosb, nil, 0, share, windows.FILE_OPEN, openOptions, 0, 0)
	return uintptr(h), plain(err)
}

// fileIDDescriptor is FILE_ID_DESCRIPTOR with an ExtendedFileId.
type fileIDDescriptor struct {
	size, kind uint32
	id         [16]byte
}

const extendedFileID = 2

// OpenID opens the object with a 128-bit identity on the volume of an open object.
func OpenID(volume uintptr, id [16]byte, want, share uint32) (uintptr, error) {
	d := fileIDDescriptor{kind: extendedFileID, id: id}
	d.size = uint32(unsafe.Sizeof(d))
	const flags = windows.FILE_FLAG_BACKUP_SEMANTICS | windows.FILE_FLAG_OPEN_REPARSE_POINT
	h, _, err := procOpenFileByID.Call(volume, uintptr(unsafe.Pointer(&d)), uintptr(want), uintptr(share), 0, flags)
	if Handle(h) == windows.InvalidHandle {
		if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // what NTFS says of an identity that nothing has
			err = fs.ErrNotExist
		}
		return 0, err
	}
	return h, nil
}

// Status is what the system says of an open object.
type Status struct {
	Volume     uint64
	ID         [16]byte
	Attributes uint32
	Tag        uint32 // of a reparse point
}

type fileIDInfo struct {
	volume uint64
	id     [16]byte
}

type attributeTag struct{ attributes, tag uint32 }

// Stat reads identity and attributes. On file systems without 128-bit identities the short one is used.
func Stat(h uintptr) (s Status, err error) {
	var tag attributeTag
	if err := information(h, windows.FileAttributeTagInfo, unsafe.Pointer(&tag), unsafe.Sizeof(tag)); err != nil {
		return s, err
	}
	s.Attributes, s.Tag = tag.attributes, tag.tag
	var id fileIDInfo
	if err = information(h, windows.FileIdInfo, unsafe.Pointer(&id), unsafe.Sizeof(id)); err == nil {
		s.Volume, s.ID = id.volume, id.id
		return s, nil
	}
	var short windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(Handle(h), &short); err != nil {
		return s, err
	}
	s.Volume = uint64(short.VolumeSerialNumber)
	for i := range 4 {
		s.ID[i], s.ID[4+i] = byte(short.FileIndexLow>>(8*i)), byte(short.FileIndexHigh>>(8*i))
	}
	return s, nil
}

func information(h uintptr, class uint32, p unsafe.Pointer, size uintptr) error {
	return windows.GetFileInformationByHandleEx(Handle(h), class, (*byte)(p), uint32(size))
}

// FinalPath is the path of an open object as the system knows it, with the prefix `\\?\`.
func FinalPath(h uintptr) (string, error) {
	b := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(Handle(h), &b[0], uint32(len(b)), 0)
		if err != nil {
			return "", err
		}
		if int(n) <= len(b) {
			return windows.UTF16ToString(b), nil
		}
		b = make([]uint16, n)
	}
}

// Volume tells the file system of an open object and its flags.
func Volume(h uintptr) (name string, flags uint32, err error) {
	b := make([]uint16, windows.MAX_PATH+1)
	err = windows.GetVolumeInformationByHandle(Handle(h), nil, 0, nil, nil, &flags, &b[0], uint32(len(b)))
	return windows.UTF16ToString(b), flags, err
}

// List gives the names in an open directory.
func List(h uintptr) (out []string, err error) {
	class := uint32(windows.FileFullDirectoryRestartInfo)
	for {
		b := make([]byte, 64<<10)
		err := windows.GetFileInformationByHandleEx(Handle(h), class, &b[0], uint32(len(b)))
		if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, names(b)...)
		class = windows.FileFullDirectoryInfo
	}
}

const securityOwnerAndDACL = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION

// Security gives the self-relative descriptor of an open object, with owner and DACL.
func Security(h uintptr) ([]byte, error) {
	b := make([]byte, 1<<10)
	for {
		var need uint32
		ok, _, err := procGetKernelObjectSecurity.Call(h, securityOwnerAndDACL, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&need)))
		if ok != 0 {
			return b, nil
		}
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || int(need) <= len(b) {
			return nil, err
		}
		b = make([]byte, need)
	}
}

// SetDACL writes the list of a self-relative descriptor to an open object, and nothing below it.
func SetDACL(h uintptr, descriptor []byte) error {
	return windows.SetKernelObjectSecurity(Handle(h), windows.DACL_SECURITY_INFORMATION, (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&descriptor[0])))
}

// MakeDir makes a directory at an extended path with the list of a self-relative descriptor.
func MakeDir(path string, descriptor []byte) error {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	sa := windows.SecurityAttributes{SecurityDescriptor: (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&descriptor[0]))}
	sa.Length = uint32(unsafe.Sizeof(sa))
	return windows.CreateDirectory(p, &sa)
}

type basicInfo struct {
	times      [4]int64
	attributes uint32
	_          uint32
}

// Delete removes an object opened for it, a read-only one too, so that its name is free at once.
func Delete(h uintptr) error {
	const flags = uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
	value := flags
	err := windows.SetFileInformationByHandle(Handle(h), windows.FileDispositionInfoEx, (*byte)(unsafe.Pointer(&value)), 4)
	if err == nil || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) {
		return err
	}
	normal := basicInfo{attributes: windows.FILE_ATTRIBUTE_NORMAL} // a file system without these flags
	_ = windows.SetFileInformationByHandle(Handle(h), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&normal)), uint32(unsafe.Sizeof(normal)))
	var dispose byte = 1
	return windows.SetFileInformationByHandle(Handle(h), windows.FileDispositionInfo, &dispose, 1)
}

// reader reads an open file from where it stands. It does not own the handle.
type reader Handle

// Reader reads the content of an open file.
func Reader(h uintptr) io.Reader { return reader(h) }

func (r reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	var n uint32
	err := windows.ReadFile(Handle(r), b, &n, nil)
	if errors.Is(err, windows.ERROR_HANDLE_EOF) || err == nil && n == 0 {
		return 0, io.EOF
	}
	return int(n), err
}

// Stream reads or writes a pipe's end, and owns it.
func Stream(h uintptr) io.ReadWriteCloser {
	return os.NewFile(h, "pipe "+strconv.FormatUint(uint64(h), 16))
}

// Pipe makes an anonymous pipe. The program's end can be inherited, ours cannot.
func Pipe(write bool) (ours, theirs uintptr, err error) {
	var r, w Handle
	if err := windows.CreatePipe(&r, &w, nil, 0); err != nil {
		return 0, 0, err
	}
	mine, its := r, w
	if write {
		mine, its = w, r
	}
	if err = windows.SetHandleInformation(its, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		_, _ = windows.CloseHandle(r), windows.CloseHandle(w)
		return 0, 0, err
	}
	return uintptr(mine), uintptr(its), nil
}

// OpenNull opens the null device for reading and writing so that it can be inherited.
func OpenNull() (uintptr, error) {
	name, err := windows.UTF16PtrFromString("NUL")
	if err != nil {
		return 0, err
	}
	sa := windows.SecurityAttributes{InheritHandle: 1}
	sa.Length = uint32(unsafe.Sizeof(sa))
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, &sa, windows.OPEN_EXISTING, 0, 0)
	return uintptr(h), err
}
