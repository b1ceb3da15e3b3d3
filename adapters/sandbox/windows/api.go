package windows

import (
	"context"
	"errors"
	"io"
	"time"
)

// api are the Windows calls that this adapter makes, one to one. It holds no decision: api_windows.go forwards to
// internal/win32, and tests put a machine in memory in its place. Errors are fs.ErrNotExist, fs.ErrExist and
// fs.ErrPermission where the system means these.
type api interface {
	files
	firewall
	processes

	// Self is what this process and this machine are.
	Self() (self, error)
	// Claim takes a machine-wide name until it is closed or the process ends; ok is false when another process has it.
	Claim(name string) (h handle, ok bool, err error)
	// MakeProfile makes the Application Profile of this user; one that exists is left as it is.
	MakeProfile(name string) error
	// ProfileSID is the identifier that the system derives from a profile's name.
	ProfileSID(name string) (sid, error)
	// ProfileDir is the profile's own directory.
	ProfileDir(who sid) (string, error)
	// EmptyProfileKey removes every value and key below the profile's own registry key.
	EmptyProfileKey(name string) error
	// Close gives back any handle.
	Close(h handle) error
}

// self is what a process can say of itself and its machine.
type self struct {
	Arch         string // GOARCH
	Build        int    // of Windows
	Admin        bool   // the administrators' group is enabled
	User         sid
	SystemRoot   string
	ProgramFiles []string
	Processors   int
	Filtering    string // state of the service that filters need: "running", else what it is
}

// handle is one of the system's.
type handle uintptr

// purpose is what an object is opened for.
type purpose uint8

const (
	toLook   purpose = iota // see accesses; attributes, identity, list of rights
	toChange                // and to write its list of rights
	toWalk                  // and to list a directory
	toHold                  // nobody may remove or rename it meanwhile
	toRead                  // content; nobody may write, remove or rename it meanwhile
	toDelete
)

// status is what the system says of an open object.
type status struct {
	ID        objectID
	Dir       bool
	Link      bool // any reparse point
	Surrogate bool // the reparse point stands for another name: junctions and symbolic links
}

// whereabouts is where an open object lies.
type whereabouts struct {
	Final      string // as GetFinalPathNameByHandle says
	FileSystem string
	ACLs       bool // the file system keeps lists of rights
}

type files interface {
	// Open opens a canonical path; a reparse point in the last place is opened itself.
	Open(path string, to purpose) (handle, error)
	// OpenID opens the object with an identity on the volume that path lies on.
	OpenID(path string, id objectID, to purpose) (handle, error)
	// OpenChild opens a name in an open directory; a reparse point is opened itself. An empty name opens the directory again.
	OpenChild(dir handle, name string, to purpose) (handle, error)
	Status(h handle) (status, error)
	Where(h handle) (whereabouts, error)
	// List gives the names in a directory opened toWalk, without "." and "..".
	List(dir handle) ([]string, error)
	// Security gives a self-relative descriptor with owner and DACL.
	Security(h handle) ([]byte, error)
	// SetDACL writes the list of a descriptor, and nothing below the object.
	SetDACL(h handle, descriptor []byte) error
	// MakeScratch makes a directory with what is missing above it; one that exists stays.
	MakeScratch(path string) error
	// MakeDir makes a directory with the list of a descriptor.
	MakeDir(path string, descriptor []byte) error
	// Delete removes a file, an empty directory or a reparse point opened toDelete; a read-only one too.
	Delete(h handle) error
	// Reader reads the content of a file opened toRead.
	Reader(h handle) io.Reader
}

type firewall interface {
	OpenEngine(dynamic bool) (handle, error)
	Begin(engine handle) error
	Commit(engine handle) error
	Abort(engine handle) error
	AddSublayer(engine handle, key guid, weight uint16) error
	AddFilter(engine handle, layer guid, f filter) error
	// DeleteFilter and DeleteSublayer give fs.ErrNotExist when there is none.
	DeleteFilter(engine handle, key guid) error
	DeleteSublayer(engine handle, key guid) error
	CloseEngine(engine handle) error
	// Exempt is the list of AppContainers that may use the loopback; SetExempt replaces it.
	Exempt() ([]sid, error)
	SetExempt([]sid) error
}

type processes interface {
	CreateJob() (handle, error)
	LimitJob(job handle, limits jobLimits) error
	// WatchJob joins a completion port to a job.
	WatchJob(job handle) (port handle, err error)
	// NextEvent waits for the next event of a port; ok is false when the time is over.
	NextEvent(port handle, wait time.Duration) (e jobEvent, ok bool, err error)
	TerminateJob(job handle) error
	// JobProcesses is how many processes a job has now, and has had.
	JobProcesses(job handle) (now, ever int, err error)
	// Pipe makes an anonymous pipe. Only theirs can be inherited, and only by a process whose list names it.
	Pipe(write bool) (ours, theirs handle, err error)
	// OpenNull opens NUL so that it can be inherited by a process whose list names it.
	OpenNull() (handle, error)
	// Stream reads or writes our end of a pipe. It owns the handle.
	Stream(ours handle) io.ReadWriteCloser
	// RestrictToken makes a copy of this process's token without its privileges and without administrators' rights.
	RestrictToken() (handle, error)
	// Start creates a suspended process.
	Start(o startOrder) (process, error)
	// Inspect tells what a process's token really is.
	Inspect(p process) (tokenFacts, error)
	Resume(p process) error
	// Wait waits until the process itself has ended and gives its exit code. Cancelled, it gives ctx's error.
	Wait(ctx context.Context, p process) (code uint32, err error)
}

// process is one that Start made.
type process struct{ Process, Thread, Job handle }

var errNotThere = errors.New("another object is at its place")
