package win32

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	procCreateRestrictedToken = advapi32.NewProc("CreateRestrictedToken")
	procAccessCheck           = advapi32.NewProc("AccessCheck")
)

// CreateJob makes a job whose handle nobody inherits.
func CreateJob() (uintptr, error) {
	h, err := windows.CreateJobObject(nil, nil)
	return uintptr(h), err
}

// LimitJob sets the limits of a job.
func LimitJob(job uintptr, flags, processes uint32, memory uint64, ui uint32) error {
	var l windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	l.BasicLimitInformation.LimitFlags, l.BasicLimitInformation.ActiveProcessLimit, l.JobMemoryLimit = flags, processes, uintptr(memory)
	if err := setJob(job, windows.JobObjectExtendedLimitInformation, unsafe.Pointer(&l), unsafe.Sizeof(l)); err != nil {
		return err
	}
	r := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: ui}
	return setJob(job, windows.JobObjectBasicUIRestrictions, unsafe.Pointer(&r), unsafe.Sizeof(r))
}

func setJob(job uintptr, class uint32, p unsafe.Pointer, size uintptr) error {
	_, err := windows.SetInformationJobObject(Handle(job), class, uintptr(p), uint32(size))
	return err
}

type completionPort struct {
	key  uintptr
	port Handle
}

// WatchJob joins a new completion port to a job.
func WatchJob(job uintptr) (uintptr, error) {
	port, err := windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1)
	if err != nil {
		return 0, err
	}
	c := completionPort{key: job, port: port}
	if err = setJob(job, windows.JobObjectAssociateCompletionPortInformation, unsafe.Pointer(&c), unsafe.Sizeof(c)); err != nil {
		_ = windows.CloseHandle(port)
		return 0, err
	}
	return uintptr(port), nil
}

// NextEvent waits for a job's message.
func NextEvent(port uintptr, wait time.Duration) (message uint32, ok bool, err error) {
	var key uintptr
	var o *windows.Overlapped
	err = windows.GetQueuedCompletionStatus(Handle(port), &message, &key, &o, uint32(wait/time.Millisecond))
	if errors.Is(err, windows.WAIT_TIMEOUT) {
		return 0, false, nil
	}
	return message, err == nil, err
}

// TerminateJob ends every process of a job.
func TerminateJob(job uintptr) error { return windows.TerminateJobObject(Handle(job), 1) }

type accounting struct {
	times                        [4]int64
	faults, total, active, ended uint32
}

const basicAccounting = 1

// JobProcesses is how many processes a job has, and has had.
func JobProcesses(job uintptr) (now, ever int, err error) {
	var a accounting
	err = windows.QueryInformationJobObject(Handle(job), basicAccounting, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return int(a.active), int(a.total), err
}

// Flags of CreateRestrictedToken.
const (
	disableMaxPrivilege = 1
	luaToken            = 4
)

// RestrictToken copies this process's token without privileges but to pass directories, and with administrators' groups that
// only deny.
func RestrictToken() (uintptr, error) {
	var own windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_QUERY|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_ADJUST_DEFAULT, &own)
	if err != nil {
		return 0, err
	}
	defer func() { _ = own.Close() }()
	var h Handle
	ok, _, err := procCreateRestrictedToken.Call(uintptr(own), disableMaxPrivilege|luaToken, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&h)))
	if ok == 0 {
		return 0, err
	}
	return uintptr(h), nil
}

// Order is what a process is created with.
type Order struct {
	Token                    uintptr
	Application, CommandLine string
	Dir                      string
	Env                      []string
	Flags                    uint32
	Package                  string
	Capabilities             []string
	OptOut                   uint32
	Mitigation               uint64
	Job                      uintptr
	Std                      [3]uintptr
}

type securityCapabilities struct {
	sid          *windows.SID
	capabilities *windows.SIDAndAttributes
	count        uint32
	_            uint32
}

// Attributes of a process that x/sys does not name (winbase.h).
const (
	attributeSecurityCapabilities = 0x20009
	attributeJobList              = 0x2000d
	attributePackagesPolicy       = 0x2000f
	groupEnabled                  = 4
)

// Start creates a process.
func Start(o Order) (process, thread uintptr, err error) {
	list, err := windows.NewProcThreadAttributeList(5)
	if err != nil {
		return 0, 0, err
	}
	defer list.Delete()
	var pin runtime.Pinner
	defer pin.Unpin()
	caps := make([]windows.SIDAndAttributes, len(o.Capabilities)+1)
	for i, text := range o.Capabilities {
		s, err := windows.StringToSid(text)
		if err != nil {
			return 0, 0, err
		}
		pin.Pin(s)
		caps[i] = windows.SIDAndAttributes{Sid: s, Attributes: groupEnabled}
	}
	sid, err := windows.StringToSid(o.Package)
	if err != nil {
		return 0, 0, err
	}
	security := securityCapabilities{sid: sid, capabilities: &caps[0], count: uint32(len(o.Capabilities))}
	handles, jobs := [3]Handle{Handle(o.Std[0]), Handle(o.Std[1]), Handle(o.Std[2])}, [1]Handle{Handle(o.Job)}
	for _, a := range []struct {
		attribute uintptr
		value     unsafe.Pointer
		size      uintptr
	}{
		{attributeSecurityCapabilities, unsafe.Pointer(&security), unsafe.Sizeof(security)},
		{attributePackagesPolicy, unsafe.Pointer(&o.OptOut), unsafe.Sizeof(o.OptOut)},
		{windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles), unsafe.Sizeof(handles)},
		{attributeJobList, unsafe.Pointer(&jobs), unsafe.Sizeof(jobs)},
		{windows.PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, unsafe.Pointer(&o.Mitigation), unsafe.Sizeof(o.Mitigation)},
	} {
		if err := list.Update(a.attribute, a.value, a.size); err != nil {
			return 0, 0, err
		}
	}
	pi, err := create(o, list.List(), handles)
	runtime.KeepAlive(&security)
	runtime.KeepAlive(caps)
	runtime.KeepAlive(&handles)
	runtime.KeepAlive(&jobs)
	return uintptr(pi.Process), uintptr(pi.Thread), err
}

func create(o Order, list *windows.ProcThreadAttributeList, std [3]Handle) (pi windows.ProcessInformation, err error) {
	app, err := windows.UTF16PtrFromString(o.Application)
	if err != nil {
		return pi, err
	}
	line, err := windows.UTF16PtrFromString(o.CommandLine)
	if err != nil {
		return pi, err
	}
	dir, err := windows.UTF16PtrFromString(o.Dir)
	if err != nil {
		return pi, err
	}
	var env []uint16
	for _, kv := range o.Env {
		wide, err := windows.UTF16FromString(kv)
		if err != nil {
			return pi, err
		}
		env = append(env, wide...)
	}
	env = append(env, 0)
	if len(env) == 1 {
		env = append(env, 0)
	}
	si := windows.StartupInfoEx{ProcThreadAttributeList: list}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES
	si.StdInput, si.StdOutput, si.StdErr = std[0], std[1], std[2]
	err = windows.CreateProcessAsUser(windows.Token(o.Token), app, line, nil, nil, true, o.Flags, &env[0], dir, &si.StartupInfo, &pi)
	return pi, err
}

// Resume lets a suspended process run.
func Resume(thread uintptr) error {
	_, err := windows.ResumeThread(Handle(thread))
	return err
}

// Wait waits for a process; ended is false when the time is over first.
func Wait(process uintptr, wait time.Duration) (code uint32, ended bool, err error) {
	event, err := windows.WaitForSingleObject(Handle(process), uint32(wait/time.Millisecond))
	if err != nil || event == uint32(windows.WAIT_TIMEOUT) {
		return 0, false, err
	}
	err = windows.GetExitCodeProcess(Handle(process), &code)
	return code, true, err
}
