// Package signed is what a person does with Signed Documents (MissionWeave 6.4): verify one against the Organization's key
// registry, sign one, write one in canonical form. It joins core/sign with the schemas, which it reads once from the folder
// it is given. It prints nothing and decides nothing of its own; a document that fails is a Result, not an error.
package signed

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/core/uri"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Codes.
const (
	CodeNoSchemas  fault.Code = "signed.no_schemas" // args: missing — the folder has not the schema of every profile
	CodeBadSchema  fault.Code = "signed.bad_schema" // args: file; a reason says why
	CodeProfile    fault.Code = "signed.profile"    // args: known — the document is of no profile, or could be of several
	CodeNoProfile  fault.Code = "signed.no_profile" // args: profile, known
	CodeRegistry   fault.Code = "signed.registry"   // a reason says why: the registry is no evidence
	CodeKeyFile    fault.Code = "signed.key_file"   // not exactly a signing key
	CodeKeyPublic  fault.Code = "signed.key_public" // its public key is not that of its seed
	CodeUnreadable fault.Code = "signed.unreadable" // args: file, detail
)

// Limits of what a person may give: registries and texts may be larger than one frame of the protocol.
func Limits() canon.Limits { return canon.Limits{Bytes: 64 << 20, Nodes: 8 << 20} }

// Formats are the protocol's own grammars of "uri" and "date-time", for a schema.Compiler.
func Formats() map[string]func([]byte) bool {
	return map[string]func([]byte) bool{"uri": uri.Valid[[]byte], "date-time": stamp.Valid[[]byte]}
}

// Schemas compiles every *.schema.json of these folders of files; a schema is called by its file's name without that ending,
// below prefix when its folder has one.
func Schemas(files fs.FS, compiler schema.Compiler, folders map[string]string) (schema.Checker, error) {
	var sources []schema.Source
	dirs := make([]string, 0, len(folders))
	for dir := range folders { // order is made explicit below
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		names, err := fs.Glob(files, path.Join(dir, "*.schema.json"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, unreadable(name, err)
			}
			doc, err := canon.Read(text, Limits())
			if err == nil {
				err = doc.Model()
			}
			if err != nil {
				return nil, fault.Wrap(err, CodeBadSchema, "file", name).With(fault.From(err))
			}
			sources = append(sources, schema.Source{Name: folders[dir] + strings.TrimSuffix(path.Base(name), ".schema.json"), Doc: sign.Tree(doc)})
		}
	}
	return compiler.Compile(sources)
}

func unreadable(name string, err error) error {
	var e *fs.PathError
	detail := err.Error()
	if errors.As(err, &e) {
		detail = e.Err.Error()
	}
	return fault.Wrap(err, CodeUnreadable, "file", name, "detail", detail)
}

// Desk verifies and signs. It may be used by several goroutines at once.
type Desk struct{ verifier *sign.Verifier }

// Open reads the schemas of a folder: the protocol's schemas folder itself, or one that holds it as "schemas".
func Open(files fs.FS, compiler schema.Compiler) (*Desk, error) {
	dir := "."
	if _, err := fs.Stat(files, "schemas"); err == nil {
		dir = "schemas"
	}
	k, err := Schemas(files, compiler, map[string]string{dir: ""})
	if err != nil {
		return nil, err
	}
	if missing := Missing(k); missing != "" {
		return nil, fault.New(CodeNoSchemas, "missing", missing)
	}
	return &Desk{sign.NewVerifier(k, canon.Limits{})}, nil
}

// Missing names the profiles that a Checker has no schema for, "" for none.
func Missing(k schema.Checker) string {
	var out []string
	for _, p := range sign.Profiles() {
		if !slices.Contains(k.Names(), string(p)) {
			out = append(out, string(p))
		}
	}
	return strings.Join(out, ", ")
}

// Result of a verification. Stage, Wire and Reason are of a failure; the rest is what was verified.
type Result struct {
	Verified      bool
	Profile       string
	Detected      bool // the profile was found, not given
	Organization  string
	KeyID         string
	PrincipalType string
	PrincipalID   string
	Time          string // protected signed time
	Hash          string // signing hash
	Stage, Wire   string
	Reason        *fault.Error
}

// Request to verify.
type Request struct {
	Profile  string // "" = find it
	Text     []byte
	Registry []byte
}

// Verify runs the six stages. An error is about the request (CodeNoProfile, CodeProfile). A registry that is no evidence is a
// failure at stage 4, if the document comes that far.
func (d *Desk) Verify(r Request) (Result, error) {
	p, detected, err := profile(r.Profile, r.Text)
	if err != nil {
		if f := sign.FailureOf(err); f != nil {
			return failure(Result{}, f), nil
		}
		return Result{}, err
	}
	var keys sign.Keys
	if keys.Registry, err = sign.ReadRegistry(r.Registry, Limits()); err != nil {
		keys = sign.Keys{Reason: fault.Wrap(err, CodeRegistry).With(fault.From(err))}
	}
	out := Result{Profile: string(p), Detected: detected}
	v, err := d.verifier.Verify(p, r.Text, keys)
	if err != nil {
		return failure(out, sign.FailureOf(err)), nil
	}
	out.Verified, out.Stage = true, sign.Complete.String()
	out.Organization, out.KeyID, out.Time, out.Hash = v.Organization, v.KeyID, v.Time, v.Hash
	out.PrincipalType, out.PrincipalID = v.Principal.Type, v.Principal.ID
	return out, nil
}

func failure(out Result, f *sign.Failure) Result {
	out.Stage, out.Wire, out.Reason = f.Stage.String(), string(f.Wire()), f.Reason
	return out
}

// profile finds what kind of document a text is. A text that is no JSON fails at stage 1.
func profile(name string, text []byte) (p sign.Profile, detected bool, err error) {
	known := make([]string, 0, 9)
	for _, p := range sign.Profiles() {
		if known = append(known, string(p)); name == string(p) {
			return p, false, nil
		}
	}
	list := strings.Join(known, ", ")
	if name != "" {
		return "", false, fault.New(CodeNoProfile, "profile", name, "known", list)
	}
	doc, err := canon.Read(text, canon.Limits{})
	if err != nil {
		return "", false, &sign.Failure{Stage: sign.Parse, Reason: fault.From(err)}
	}
	if p, detected = sign.Detect(doc); !detected {
		return "", false, fault.New(CodeProfile, "known", list)
	}
	return p, true, nil
}

// Canon writes a text in canonical form.
func Canon(text []byte) ([]byte, error) {
	doc, err := canon.Read(text, Limits())
	if err != nil {
		return nil, err
	}
	return doc.Append(nil)
}
