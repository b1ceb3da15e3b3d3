package win32

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Token is what a process's token says.
type Token struct {
	AppContainer bool
	Package      string
	Capabilities []string
	Integrity    uint32 // last part of the label's identifier
	Admin        bool
	InJob        bool
}

// Classes of token information that x/sys does not name (winnt.h).
const (
	tokenIsAppContainer  = 29
	tokenCapabilities    = 30
	tokenAppContainerSID = 31
)

// Inspect reads the token of a process, and whether it is in a job.
func Inspect(process, job uintptr) (t Token, err error) {
	var token windows.Token
	if err := windows.OpenProcessToken(Handle(process), windows.TOKEN_QUERY|windows.TOKEN_DUPLICATE, &token); err != nil {
		return t, err
	}
	defer func() { _ = token.Close() }()
	b, err := tokenInformation(token, tokenIsAppContainer)
	if err != nil {
		return t, err
	}
	t.AppContainer = *(*uint32)(unsafe.Pointer(&b[0])) != 0
	if b, err = tokenInformation(token, tokenAppContainerSID); err != nil {
		return t, err
	}
	if sid := *(**windows.SID)(unsafe.Pointer(&b[0])); sid != nil {
		t.Package = sid.String()
	}
	if b, err = tokenInformation(token, tokenCapabilities); err != nil {
		return t, err
	}
	for _, g := range (*windows.Tokengroups)(unsafe.Pointer(&b[0])).AllGroups() {
		t.Capabilities = append(t.Capabilities, g.Sid.String())
	}
	if b, err = tokenInformation(token, windows.TokenIntegrityLevel); err != nil {
		return t, err
	}
	level := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&b[0])).Label.Sid
	t.Integrity = level.SubAuthority(uint32(level.SubAuthorityCount()) - 1)
	if t.Admin, err = isAdmin(token); err != nil {
		return t, err
	}
	var in int32
	if ok, _, err := procIsProcessInJob.Call(process, job, uintptr(unsafe.Pointer(&in))); ok == 0 {
		return t, err
	}
	t.InJob = in != 0
	return t, nil
}

// tokenInformation gives a buffer that is aligned for pointers.
func tokenInformation(t windows.Token, class uint32) ([]byte, error) {
	size := uint32(256)
	for {
		words := make([]uintptr, size/8+1)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
		err := windows.GetTokenInformation(t, class, &b[0], size, &size)
		if err == nil {
			return b, nil
		}
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || int(size) <= len(b) {
			return nil, err
		}
	}
}

func impersonation(t windows.Token) (windows.Token, error) {
	var copied windows.Token
	err := windows.DuplicateTokenEx(t, windows.TOKEN_QUERY|windows.TOKEN_IMPERSONATE|windows.TOKEN_DUPLICATE, nil, windows.SecurityImpersonation, windows.TokenImpersonation, &copied)
	return copied, err
}

// isAdmin reports whether the administrators' group gives a token anything.
func isAdmin(t windows.Token) (bool, error) {
	copied, err := impersonation(t)
	if err != nil {
		return false, err
	}
	defer func() { _ = copied.Close() }()
	admins, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return false, err
	}
	return copied.IsMember(admins)
}

type genericMapping struct{ read, write, execute, all uint32 }

const maximumAllowed = 0x02000000

// MostAccess is what a descriptor, in SDDL, grants to a process's token at most.
func MostAccess(process uintptr, sddl string) (uint32, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(Handle(process), windows.TOKEN_QUERY|windows.TOKEN_DUPLICATE, &token); err != nil {
		return 0, err
	}
	defer func() { _ = token.Close() }()
	copied, err := impersonation(token)
	if err != nil {
		return 0, err
	}
	defer func() { _ = copied.Close() }()
	sd, err := windows.SecurityDescriptorFromString(sddl)
	if err != nil {
		return 0, err
	}
	var mapping genericMapping
	privileges := make([]uint64, 128)
	size := uint32(len(privileges) * 8)
	var granted uint32
	var allowed int32
	ok, _, err := procAccessCheck.Call(uintptr(unsafe.Pointer(sd)), uintptr(copied), maximumAllowed, uintptr(unsafe.Pointer(&mapping)),
		uintptr(unsafe.Pointer(&privileges[0])), uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&granted)), uintptr(unsafe.Pointer(&allowed)))
	if ok == 0 {
		return 0, err
	}
	if allowed == 0 {
		return 0, nil
	}
	return granted, nil
}
