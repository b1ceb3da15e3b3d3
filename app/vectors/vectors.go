// Package vectors runs the published conformance bundles of MissionWeave 0.1 against this program (section 22): 58 structural
// vectors, 62 cryptography evaluations, 30 admission evaluations. Before any outcome counts, the bundle itself is proven:
// manifests fit their schemas, their digests are right, every referenced file has its length and hash, every fixture fits
// its fixture schema (R-22.2, R-22.3, D8). A bundle that is not what was published proves nothing and says so.
//
// Passing shows schema-and-vector conformance, nothing more.
package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/core/admission"
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Codes of a bundle that is not what was published.
const (
	CodeMissing  fault.Code = "vectors.missing"  // args: file, detail
	CodeForm     fault.Code = "vectors.form"     // args: file; reasons: why
	CodeDigest   fault.Code = "vectors.digest"   // args: file, want, got
	CodeArtifact fault.Code = "vectors.artifact" // args: file — length or hash
	CodeUnpinned fault.Code = "vectors.unpinned" // args: file — an evaluation uses a file that the manifest does not list
	CodeOther    fault.Code = "vectors.other"    // args: what, want, got — a result differs in more than its stage
)

// Evaluation is one row of a bundle.
type Evaluation struct {
	ID        string
	Want, Got string // stage, wire code and reason; "valid" or "invalid" for structural vectors
	OK        bool
	Reason    *fault.Error // why it failed or was refused
}

// Bundle is one part of the suite.
type Bundle struct {
	Name        string // "structural", "cryptography", "admission"
	Expected    int    // how many evaluations the suite has
	Digest      string // artifact digest of the manifest, "" for structural
	Artifacts   int    // files whose hashes were checked
	Broken      *fault.Error
	Evaluations []Evaluation
}

// Passed counts the evaluations that came out as the manifest says.
func (b Bundle) Passed() (n int) {
	for _, e := range b.Evaluations {
		if e.OK {
			n++
		}
	}
	return n
}

// OK is whether all of the suite's evaluations were there and passed.
func (b Bundle) OK() bool {
	return b.Broken == nil && len(b.Evaluations) == b.Expected && b.Passed() == b.Expected
}

// Run runs all bundles of a data folder. It fails when the schemas cannot be read; what is wrong with a bundle is in it.
func Run(files fs.FS, compiler schema.Compiler) ([]Bundle, error) {
	k, err := signed.Schemas(files, compiler, map[string]string{"schemas": "", "cryptography": "cryptography/", "admission": "admission/"})
	if err != nil {
		return nil, err
	}
	if missing := signed.Missing(k); missing != "" {
		return nil, fault.New(signed.CodeNoSchemas, "missing", missing)
	}
	r := &runner{files: files, schemas: k, verifier: sign.NewVerifier(k, canon.Limits{}), judge: admission.NewJudge(k), pinned: map[string][]byte{}}
	return []Bundle{
		r.bundle("structural", 58, r.structural),
		r.bundle("cryptography", 62, r.cryptography),
		r.bundle("admission", 30, r.admission),
	}, nil
}

type runner struct {
	files    fs.FS
	schemas  schema.Checker
	verifier *sign.Verifier
	judge    *admission.Judge
	pinned   map[string][]byte // files whose hash was checked, as they were then
	digest   string            // of the cryptography manifest
}

func (r *runner) bundle(name string, expected int, run func(*Bundle) error) Bundle {
	b := Bundle{Name: name, Expected: expected}
	if err := run(&b); err != nil {
		b.Broken = fault.From(err)
	}
	return b
}

func (r *runner) read(name string) ([]byte, error) {
	text, err := fs.ReadFile(r.files, name)
	if err != nil {
		return nil, fault.Wrap(err, CodeMissing, "file", name, "detail", err.Error())
	}
	return text, nil
}

// listed gives a file that a manifest lists, with the content whose hash was right.
func (r *runner) listed(name string) ([]byte, error) {
	text, ok := r.pinned[name]
	if !ok {
		return nil, fault.New(CodeUnpinned, "file", name)
	}
	return text, nil
}

// fixture reads a file that a manifest has pinned and that fits a schema, into a Go value too when to is not nil.
func (r *runner) fixture(name, schemaName string, to any) ([]byte, error) {
	text, err := r.listed(name)
	if err != nil {
		return nil, err
	}
	if _, err = r.form(name, text, schemaName); err == nil && to != nil {
		err = json.Unmarshal(text, to)
	}
	return text, err
}

// form reads a text strictly and checks it against a schema.
func (r *runner) form(name string, text []byte, schemaName string) (*canon.Doc, error) {
	doc, err := canon.Read(text, signed.Limits())
	if err == nil {
		err = doc.Model()
	}
	if err == nil {
		err = r.schemas.Check(schemaName, sign.Tree(doc))
	}
	if err != nil {
		return nil, fault.Wrap(err, CodeForm, "file", name).With(fault.From(err))
	}
	return doc, nil
}

// manifest reads a manifest: its schema, its digest (D8), and the files it lists.
func (r *runner) manifest(b *Bundle, name, schemaName string, to any) error {
	text, err := r.read(name)
	if err != nil {
		return err
	}
	doc, err := r.form(name, text, schemaName)
	if err != nil {
		return err
	}
	body, err := doc.AppendWithout(nil, "artifactDigest")
	if err != nil {
		return err
	}
	var head struct {
		ArtifactDigest string
		Artifacts      []struct {
			Path       string
			ByteLength int
			SHA256     string
		}
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fault.Wrap(err, CodeForm, "file", name)
	}
	if got := sign.Hash(body); got != head.ArtifactDigest {
		return fault.New(CodeDigest, "file", name, "want", head.ArtifactDigest, "got", got)
	}
	for _, a := range head.Artifacts {
		content, err := r.read(a.Path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		if len(content) != a.ByteLength || a.SHA256 != "sha256:"+hex.EncodeToString(sum[:]) {
			return fault.New(CodeArtifact, "file", a.Path)
		}
		r.pinned[a.Path] = content
	}
	b.Digest, b.Artifacts = head.ArtifactDigest, len(head.Artifacts)
	return json.Unmarshal(text, to)
}

// structural checks documents against their schemas alone.
func (r *runner) structural(b *Bundle) error {
	text, err := r.read("conformance/manifest.json")
	if err != nil {
		return err
	}
	if _, err := canon.Parse(text); err != nil {
		return fault.Wrap(err, CodeForm, "file", "conformance/manifest.json").With(fault.From(err))
	}
	var rows []struct {
		Name, Schema, Instance string
		Valid                  bool
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		return fault.Wrap(err, CodeForm, "file", "conformance/manifest.json")
	}
	for _, row := range rows {
		content, err := r.read(row.Instance)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(row.Schema, "schemas/"), ".schema.json")
		_, err = r.form(row.Instance, content, name)
		e := Evaluation{ID: row.Name, Want: validity(row.Valid), Got: validity(err == nil), OK: row.Valid == (err == nil)}
		if err != nil {
			e.Reason = fault.From(err).Reasons[0]
			e.OK = e.OK && e.Reason.Code == schema.CodeMismatch // refused by a rule, not by accident
		}
		b.Evaluations = append(b.Evaluations, e)
	}
	return nil
}

func validity(valid bool) string {
	if valid {
		return "valid"
	}
	return "invalid"
}
