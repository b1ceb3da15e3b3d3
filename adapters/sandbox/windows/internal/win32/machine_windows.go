package win32

import (
	"errors"
	"io/fs"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	userenv = windows.NewLazySystemDLL("userenv.dll")

	procCreateProfile = userenv.NewProc("CreateAppContainerProfile")
	procDeriveSID     = userenv.NewProc("DeriveAppContainerSidFromAppContainerName")
	procFolderPath    = userenv.NewProc("GetAppContainerFolderPath")
	procDeleteTree    = advapi32.NewProc("RegDeleteTreeW")
)

// Self is what this process and this machine are.
type Self struct {
	Build        int
	Admin        bool
	User         string
	SystemRoot   string
	ProgramFiles []string
}

// About fills Self.
func About() (s Self, err error) {
	s.Build = int(windows.RtlGetVersion().BuildNumber)
	token := windows.GetCurrentProcessToken()
	if s.Admin, err = isAdmin(token); err != nil {
		return s, err
	}
	user, err := token.GetTokenUser()
	if err != nil {
		return s, err
	}
	s.User = user.User.Sid.String()
	if s.SystemRoot, err = windows.GetSystemWindowsDirectory(); err != nil {
		return s, err
	}
	for _, id := range []*windows.KNOWNFOLDERID{windows.FOLDERID_ProgramFiles, windows.FOLDERID_ProgramFilesX86} {
		if dir, err := windows.KnownFolderPath(id, 0); err == nil {
			s.ProgramFiles = append(s.ProgramFiles, dir)
		}
	}
	return s, nil
}

// ServiceState is the state of a service as its number (SERVICE_RUNNING is 4).
func ServiceState(name string) (uint32, error) {
	scm, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseServiceHandle(scm) }()
	n, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	service, err := windows.OpenService(scm, n, windows.SERVICE_QUERY_STATUS)
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseServiceHandle(service) }()
	var st windows.SERVICE_STATUS
	err = windows.QueryServiceStatus(service, &st)
	return st.CurrentState, err
}

// Claim makes a named object that exists for as long as its handle; made is false when it was there before.
func Claim(name string) (h uintptr, made bool, err error) {
	n, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, false, err
	}
	m, err := windows.CreateMutex(nil, false, n)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		if m != 0 {
			_ = windows.CloseHandle(m)
		}
		return 0, false, nil
	}
	return uintptr(m), err == nil, err
}

// alreadyExists is HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS).
const alreadyExists = 0x800700b7

func hresult(code uintptr) error {
	code &= 0xffffffff
	switch {
	case code == 0:
		return nil
	case code>>16 == 0x8007:
		return windows.Errno(code & 0xffff)
	}
	return windows.Errno(code)
}

// MakeProfile makes an AppContainer profile of this user; one that exists stays.
func MakeProfile(name, display string) error {
	if err := procCreateProfile.Find(); err != nil {
		return err
	}
	n, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	d, err := windows.UTF16PtrFromString(display)
	if err != nil {
		return err
	}
	var sid *windows.SID
	code, _, _ := procCreateProfile.Call(uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(d)), uintptr(unsafe.Pointer(d)), 0, 0, uintptr(unsafe.Pointer(&sid)))
	runtime.KeepAlive(n)
	runtime.KeepAlive(d)
	if sid != nil {
		_ = windows.FreeSid(sid)
	}
	if code&0xffffffff == alreadyExists {
		return nil
	}
	return hresult(code)
}

// ProfileSID derives the identifier of a profile's name.
func ProfileSID(name string) (string, error) {
	if err := procDeriveSID.Find(); err != nil {
		return "", err
	}
	n, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return "", err
	}
	var sid *windows.SID
	code, _, _ := procDeriveSID.Call(uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(&sid)))
	runtime.KeepAlive(n)
	if err := hresult(code); err != nil {
		return "", err
	}
	text := sid.String()
	_ = windows.FreeSid(sid)
	return text, nil
}

// ProfileDir is the directory of a profile.
func ProfileDir(sid string) (string, error) {
	if err := procFolderPath.Find(); err != nil {
		return "", err
	}
	s, err := windows.UTF16PtrFromString(sid)
	if err != nil {
		return "", err
	}
	var path *uint16
	code, _, _ := procFolderPath.Call(uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&path)))
	runtime.KeepAlive(s)
	if err := hresult(code); err != nil {
		return "", err
	}
	defer windows.CoTaskMemFree(unsafe.Pointer(path))
	return windows.UTF16PtrToString(path), nil
}

// EmptyKey removes every value and key below a key of the current user; fs.ErrNotExist when there is none.
func EmptyKey(path string) error {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	var key Handle
	err = windows.RegOpenKeyEx(windows.HKEY_CURRENT_USER, p, 0, windows.KEY_READ|windows.KEY_WRITE|windows.DELETE, &key)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		return fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	defer func() { _ = windows.RegCloseKey(key) }()
	code, _, _ := procDeleteTree.Call(uintptr(key), 0)
	if code != 0 {
		return windows.Errno(code)
	}
	return nil
}
