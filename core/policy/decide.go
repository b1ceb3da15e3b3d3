package policy

import (
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Op is what is asked for.
type Op uint8

// Operations. The zero value is none and is denied.
const (
	OpRead     Op = iota + 1 // content
	OpList                   // names = read (FS-06)
	OpWrite                  // create or overwrite
	OpMkdir                  // = write (FS-06)
	OpDelete                 // a file
	OpRmdir                  // an empty directory = delete (FS-06)
	OpMove                   // write on both sides (FS-07)
	OpMoveFrom               // the source's side alone, before a destination is known
	OpExecute                // start or map an image
	OpConnect                // reach Host:Port (NET-01..03)
)

var opNames = [...]string{"none", "read", "list", "write", "mkdir", "delete", "rmdir", "move", "move from", "execute", "connect"}

// String names the operation for data and logs.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return opNames[0]
}

// need returns the right an operation needs on each path it names.
func (o Op) need() rights.Set {
	switch o {
	case OpRead, OpList:
		return rights.Read
	case OpWrite, OpMkdir, OpMove, OpMoveFrom:
		return rights.Write
	case OpDelete, OpRmdir:
		return rights.Delete
	case OpExecute:
		return rights.Execute
	}
	return rights.None
}

// Request is one question. Path and Dest are resolved and canonical (FS-02).
type Request struct {
	Op   Op
	Path string
	Dest string // OpMove
	Host string // OpConnect: as configured, a name or an address
	Port uint16 // OpConnect
}

// Decision answers it.
type Decision struct {
	Allowed bool
	Reasons []*fault.Error // every reason of a denial, in a fixed order; empty when allowed
}

// Codes of a denial. CodeDenied carries the others as reasons.
const (
	CodeDenied         fault.Code = "policy.denied"           // args: op, path
	CodeOutside        fault.Code = "policy.outside"          // args: path, need
	CodeNoRead         fault.Code = "policy.no_read"          // args: path, root, need, have
	CodeNoWrite        fault.Code = "policy.no_write"         // same
	CodeNoDelete       fault.Code = "policy.no_delete"        // same
	CodeNotExecutable  fault.Code = "policy.not_executable"   // same
	CodeProtected      fault.Code = "policy.protected"        // args: path
	CodeHoldsProtected fault.Code = "policy.holds_protected"  // args: path
	CodeIsRoot         fault.Code = "policy.is_root"          // args: path, root
	CodeHoldsRoot      fault.Code = "policy.holds_root"       // args: path
	CodeNotCanonical   fault.Code = "policy.not_canonical"    // args: path
	CodeUnknownOp      fault.Code = "policy.unknown_op"       // args: op
	CodeNetworkNone    fault.Code = "policy.network_none"     // args: host, port
	CodeNetworkUnlist  fault.Code = "policy.network_unlisted" // args: host, port, mode, listed
)

// Decide judges one request: no rule means no. It collects every reason against it.
func (p *Policy) Decide(r Request) Decision {
	var reasons []*fault.Error
	switch r.Op {
	case OpConnect:
		reasons = p.connect(r)
	case OpMove:
		reasons = p.judge(reasons, r.Op, r.Path, true)
		reasons = p.judge(reasons, r.Op, r.Dest, false)
	case OpRead, OpList, OpWrite, OpMkdir, OpExecute:
		reasons = p.judge(reasons, r.Op, r.Path, false)
	case OpDelete, OpRmdir, OpMoveFrom:
		reasons = p.judge(reasons, r.Op, r.Path, true)
	default:
		reasons = []*fault.Error{fault.New(CodeUnknownOp, "op", r.Op.String())}
	}
	return Decision{Allowed: len(reasons) == 0, Reasons: reasons}
}

// Fault makes one fault of a denial; nil when it was allowed.
func (d Decision) Fault(r Request) *fault.Error {
	if d.Allowed {
		return nil
	}
	target := r.Path
	if r.Op == OpConnect {
		target = r.Host
	}
	return fault.New(CodeDenied, "op", r.Op.Word(), "path", target).With(d.Reasons...)
}

// judge appends what speaks against op on one path. vanish: the name goes away (removed or moved from).
func (p *Policy) judge(reasons []*fault.Error, op Op, path string, vanish bool) []*fault.Error {
	need := op.need()
	w := p.walk(path)
	switch {
	case !w.canonical:
		return append(reasons, fault.New(CodeNotCanonical, "path", path))
	case w.root < 0:
		reasons = append(reasons, fault.New(CodeOutside, "path", path, "need", Words(need)))
	case !w.rights.Has(need):
		reasons = append(reasons, fault.New(missing(need), "path", path, "root", p.roots[w.root].Name,
			"need", Words(need), "have", Words(w.rights)))
	}
	if need&(rights.Write|rights.Delete) == 0 {
		return reasons
	}
	inside, above := p.guarded(path)
	if inside || Protected(path) {
		reasons = append(reasons, fault.New(CodeProtected, "path", path))
	}
	if !vanish || w.root < 0 {
		return reasons
	}
	if w.atRoot {
		reasons = append(reasons, fault.New(CodeIsRoot, "path", path, "root", p.roots[w.root].Name))
	}
	if w.holdsRoot && !w.atRoot {
		reasons = append(reasons, fault.New(CodeHoldsRoot, "path", path))
	}
	if above {
		reasons = append(reasons, fault.New(CodeHoldsProtected, "path", path))
	}
	return reasons
}

func missing(need rights.Set) fault.Code {
	switch need {
	case rights.Read:
		return CodeNoRead
	case rights.Write:
		return CodeNoWrite
	case rights.Delete:
		return CodeNoDelete
	}
	return CodeNotExecutable
}

// connect judges NET-01..03. Hosts are compared as configured; names are not resolved here.
func (p *Policy) connect(r Request) []*fault.Error {
	switch p.network.Mode {
	case sandbox.NetworkLocal:
		if loopback(r.Host) {
			for _, port := range p.network.Ports {
				if port == r.Port {
					return nil
				}
			}
		}
	case sandbox.NetworkRestricted:
		for _, h := range p.network.Hosts {
			if sameEndpoint(h, r.Host, r.Port) {
				return nil
			}
		}
	default:
		return []*fault.Error{fault.New(CodeNetworkNone, "host", r.Host, "port", int(r.Port))}
	}
	return []*fault.Error{fault.New(CodeNetworkUnlist, "host", r.Host, "port", int(r.Port),
		"mode", string(p.network.Mode), "listed", p.listed())}
}
