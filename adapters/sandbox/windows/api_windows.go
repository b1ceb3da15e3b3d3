package windows

import (
	"context"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/windows/internal/win32"
)

// system is the machine this process runs on. Each method forwards to one function of internal/win32.
type system struct{}

var _ api = system{}

func (system) Open(path string, to purpose) (handle, error) {
	a := accesses[to]
	h, err := win32.Open(0, winpath.Extended(path), a.Want, a.Share)
	return handle(h), err
}

func (system) OpenID(path string, id objectID, to purpose) (handle, error) {
	volume, err := win32.Open(0, winpath.Extended(path[:3]), accesses[toLook].Want, shareAll)
	if err != nil {
		return 0, err
	}
	defer func() { _ = win32.Close(volume) }()
	s, err := win32.Stat(volume)
	if err != nil {
		return 0, err
	}
	b, err := hex.DecodeString(id.File)
	if err != nil || len(b) != 16 || s.Volume != id.Volume {
		return 0, fs.ErrNotExist
	}
	a := accesses[to]
	h, err := win32.OpenID(volume, [16]byte(b), a.Want, a.Share)
	return handle(h), err
}

func (system) OpenChild(dir handle, name string, to purpose) (handle, error) {
	a := accesses[to]
	h, err := win32.Open(uintptr(dir), name, a.Want, a.Share)
	return handle(h), err
}

// Attributes and bits of tags (winnt.h).
const (
	attributeDirectory uint32 = 0x10
	attributeReparse   uint32 = 0x400
	tagNameSurrogate   uint32 = 0x2000_0000
	volumeACLs         uint32 = 0x8
)

func (system) Status(h handle) (status, error) {
	s, err := win32.Stat(uintptr(h))
	if err != nil {
		return status{}, err
	}
	link := s.Attributes&attributeReparse != 0
	return status{
		ID:  objectID{s.Volume, hex.EncodeToString(s.ID[:])},
		Dir: s.Attributes&attributeDirectory != 0, Link: link, Surrogate: link && s.Tag&tagNameSurrogate != 0,
	}, nil
}

func (system) Where(h handle) (at whereabouts, err error) {
	if at.Final, err = win32.FinalPath(uintptr(h)); err != nil {
		return at, err
	}
	name, flags, err := win32.Volume(uintptr(h))
	at.FileSystem, at.ACLs = name, flags&volumeACLs != 0
	return at, err
}

func (system) List(dir handle) ([]string, error) { return win32.List(uintptr(dir)) }
func (system) Security(h handle) ([]byte, error) { return win32.Security(uintptr(h)) }
func (system) SetDACL(h handle, descriptor []byte) error {
	return win32.SetDACL(uintptr(h), descriptor)
}

func (system) MakeDir(path string, descriptor []byte) error {
	return win32.MakeDir(winpath.Extended(path), descriptor)
}
func (system) MakeScratch(path string) error { return os.MkdirAll(path, 0o700) }
func (system) Delete(h handle) error         { return win32.Delete(uintptr(h)) }
func (system) Reader(h handle) io.Reader     { return win32.Reader(uintptr(h)) }
func (system) Close(h handle) error {
	if h == 0 {
		return nil
	}
	return win32.Close(uintptr(h))
}

func (system) OpenEngine(dynamic bool) (handle, error) {
	h, err := win32.OpenEngine(dynamic)
	return handle(h), err
}
func (system) CloseEngine(engine handle) error { return win32.CloseEngine(uintptr(engine)) }
func (system) Begin(engine handle) error       { return win32.Begin(uintptr(engine)) }
func (system) Commit(engine handle) error      { return win32.Commit(uintptr(engine)) }
func (system) Abort(engine handle) error       { return win32.Abort(uintptr(engine)) }

func (system) AddSublayer(engine handle, key guid, weight uint16) error {
	return win32.AddSubLayer(uintptr(engine), string(key), weight)
}

func (system) AddFilter(engine handle, layer guid, f filter) error {
	out := win32.Filter{
		Key: string(f.Key), Layer: string(f.Layer), SubLayer: string(layer), Permit: f.Permit, Weight: f.Weight, Package: string(f.Package),
		Address: f.Remote, Port: f.Port, FieldPackage: string(fieldPackage), FieldAddress: string(fieldAddress), FieldPort: string(fieldPort),
		FieldProtocol: string(fieldProtocol),
	}
	if f.TCP {
		out.Protocol = protocolTCP
	}
	return win32.AddFilter(uintptr(engine), out)
}

func (system) DeleteFilter(engine handle, key guid) error {
	return win32.DeleteFilter(uintptr(engine), string(key))
}

func (system) DeleteSublayer(engine handle, key guid) error {
	return win32.DeleteSubLayer(uintptr(engine), string(key))
}

func (system) Exempt() (out []sid, err error) {
	list, err := win32.Exempt()
	for _, s := range list {
		out = append(out, sid(s))
	}
	return out, err
}

func (system) SetExempt(list []sid) error { return win32.SetExempt(texts(list)) }

func texts(list []sid) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

func (system) CreateJob() (handle, error) {
	h, err := win32.CreateJob()
	return handle(h), err
}

func (system) LimitJob(job handle, l jobLimits) error {
	return win32.LimitJob(uintptr(job), l.Flags, l.Processes, l.Memory, l.UI)
}

func (system) WatchJob(job handle) (handle, error) {
	h, err := win32.WatchJob(uintptr(job))
	return handle(h), err
}

func (system) NextEvent(port handle, wait time.Duration) (jobEvent, bool, error) {
	e, ok, err := win32.NextEvent(uintptr(port), wait)
	return jobEvent(e), ok, err
}

func (system) TerminateJob(job handle) error { return win32.TerminateJob(uintptr(job)) }

func (system) JobProcesses(job handle) (now, ever int, err error) {
	return win32.JobProcesses(uintptr(job))
}

func (system) Pipe(write bool) (ours, theirs handle, err error) {
	a, b, err := win32.Pipe(write)
	return handle(a), handle(b), err
}

func (system) OpenNull() (handle, error) {
	h, err := win32.OpenNull()
	return handle(h), err
}
func (system) Stream(ours handle) io.ReadWriteCloser { return win32.Stream(uintptr(ours)) }

func (system) RestrictToken() (handle, error) {
	h, err := win32.RestrictToken()
	return handle(h), err
}

func (system) Start(o startOrder) (process, error) {
	p, t, err := win32.Start(win32.Order{
		Token: uintptr(o.Token), Application: o.Application, CommandLine: o.CommandLine, Dir: o.Dir, Env: o.Env, Flags: o.Flags,
		Package: string(o.Package), Capabilities: texts(o.Capabilities), OptOut: o.OptOut, Mitigation: o.Mitigation, Job: uintptr(o.Job),
		Std: [3]uintptr{uintptr(o.Std[0]), uintptr(o.Std[1]), uintptr(o.Std[2])},
	})
	return process{handle(p), handle(t), o.Job}, err
}

// lowBox grants 1 to all packages, 2 to restricted ones, and both to everybody else: an LPAC gets 2.
const (
	lowBox       = "O:SYG:SYD:(A;;0x3;;;WD)(A;;0x1;;;" + string(sidAllPackages) + ")(A;;0x2;;;" + string(sidLowPackages) + ")"
	lowIntegrity = 0x1000
)

func (system) Inspect(p process) (tokenFacts, error) {
	t, err := win32.Inspect(uintptr(p.Process), uintptr(p.Job))
	if err != nil {
		return tokenFacts{}, err
	}
	most, err := win32.MostAccess(uintptr(p.Process), lowBox)
	f := tokenFacts{
		AppContainer: t.AppContainer, Package: sid(t.Package), LowBox: most, Low: t.Integrity <= lowIntegrity, Admin: t.Admin, InJob: t.InJob,
	}
	for _, c := range t.Capabilities {
		f.Capabilities = append(f.Capabilities, sid(c))
	}
	return f, err
}

func (system) Resume(p process) error { return win32.Resume(uintptr(p.Thread)) }

const waitSlice = 50 * time.Millisecond

func (system) Wait(ctx context.Context, p process) (uint32, error) {
	for {
		code, ended, err := win32.Wait(uintptr(p.Process), waitSlice)
		if err != nil || ended {
			return code, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

// Claim uses a name that all sessions see.
func (system) Claim(name string) (handle, bool, error) {
	h, ok, err := win32.Claim(`Global\` + name)
	return handle(h), ok, err
}

func (system) MakeProfile(name string) error { return win32.MakeProfile(name, "agent-mcp sandbox") }

func (system) ProfileSID(name string) (sid, error) {
	s, err := win32.ProfileSID(name)
	return sid(s), err
}
func (system) ProfileDir(who sid) (string, error) { return win32.ProfileDir(string(who)) }

// profileKeys is where the registry keeps what AppContainer programs of a user store.
const profileKeys = `Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion\AppContainer\Storage\`

func (system) EmptyProfileKey(name string) error {
	return win32.EmptyKey(profileKeys + strings.ToLower(name))
}

// states of a service (winsvc.h).
var states = map[uint32]string{1: "stopped", 2: "start pending", 3: "stop pending", 4: running, 5: "continue pending", 6: "pause pending", 7: "paused"}

func (system) Self() (self, error) {
	s, err := win32.About()
	if err != nil {
		return self{}, err
	}
	out := self{
		Arch: runtime.GOARCH, Build: s.Build, Admin: s.Admin, User: sid(s.User), SystemRoot: s.SystemRoot, ProgramFiles: s.ProgramFiles,
		Processors: runtime.NumCPU(),
	}
	state, err := win32.ServiceState("BFE")
	out.Filtering = states[state]
	if err != nil {
		out.Filtering = err.Error()
	}
	return out, nil
}
