package vectors_test

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/app/vectors"
	"github.com/agent-mcp/agent-mcp/conformance/weavedata"
)

// 58 structural vectors, 62 cryptography and 30 admission evaluations, after digests and hashes.
func TestRun_ThePublishedSuite(t *testing.T) {
	files := weavedata.FS(t, "58 structural vectors, 62 cryptography and 30 admission evaluations of MissionWeave 0.1")
	bundles, err := vectors.Run(files, compiled.New(signed.Formats()))
	require.NoError(t, err)
	require.Len(t, bundles, 3)
	for _, b := range bundles {
		assert.Nil(t, b.Broken, b.Name)
		assert.Len(t, b.Evaluations, b.Expected, b.Name)
		for _, e := range b.Evaluations {
			assert.True(t, e.OK, "%s %s: want %s, got %s: %v", b.Name, e.ID, e.Want, e.Got, e.Reason)
		}
		assert.True(t, b.OK(), b.Name)
	}
	assert.Equal(t, []int{0, 98, 19}, []int{bundles[0].Artifacts, bundles[1].Artifacts, bundles[2].Artifacts})
}

// copyOf is the data folder in memory.
func copyOf(t *testing.T, files fs.FS) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[name] = &fstest.MapFile{Data: weavedata.Read(t, files, name)}
		}
		return err
	}))
	return out
}

// a bundle that is not what was published proves nothing.
func TestRun_SeesEveryChangeOfABundle(t *testing.T) {
	original := copyOf(t, weavedata.FS(t, "a changed conformance bundle is refused"))
	compiler := compiled.New(signed.Formats())
	for _, tt := range []struct {
		name, file, from, to string   // to "" with from "" removes the file
		broken               []string // bundles that say so
	}{
		{"an expected outcome", "cryptography/manifest.json", `"stage": "key-resolution"`, `"stage": "signature"`, []string{"vectors.digest", "vectors.digest"}},
		{"a form", "cryptography/manifest.json", `"manifestVersion": 1`, `"manifestVersion": 2`, []string{"vectors.form", "vectors.digest"}},
		{"a document", "cryptography/vectors/signed-documents/valid/command.json", `"protocolVersion"`, ` "protocolVersion"`, []string{"vectors.artifact", "vectors.digest"}},
		{"a key of the same length", "cryptography/keys/registry-valid.json", `crypto-vector-rfc8032-1`, `crypto-vector-rfc8032-2`, []string{"vectors.artifact", "vectors.digest"}},
		{"a missing file", "cryptography/keys/registry-valid.json", "", "", []string{"vectors.missing", "vectors.digest"}},
		{"an admission record", "admission/records/valid/command.json", `acme`, `acmf`, []string{"", "vectors.artifact"}},
		{"an admission outcome", "admission/manifest.json", `"record-missing"`, `"commit-failed"`, []string{"", "vectors.digest"}},
	} {
		files := fstest.MapFS{}
		for name, file := range original { // a set: order does not matter here
			files[name] = file
		}
		if tt.from == "" {
			delete(files, tt.file)
		} else {
			old := original[tt.file].Data
			require.Contains(t, string(old), tt.from)
			files[tt.file] = &fstest.MapFile{Data: bytes.Replace(old, []byte(tt.from), []byte(tt.to), 1)}
		}
		bundles, err := vectors.Run(files, compiler)
		require.NoError(t, err, tt.name)
		for i, want := range tt.broken {
			got := ""
			if b := bundles[i+1].Broken; b != nil {
				got = string(b.Code)
			}
			assert.Equal(t, want, got, "%s: %s", tt.name, bundles[i+1].Name)
			assert.Equal(t, want == "", bundles[i+1].OK(), tt.name)
		}
	}
	files := fstest.MapFS{}
	for name, file := range original { // a set: order does not matter here
		files[name] = file
	}
	files["conformance/manifest.json"] = &fstest.MapFile{Data: bytes.Replace(original["conformance/manifest.json"].Data, []byte(`"valid": true`), []byte(`"valid": false`), 1)}
	bundles, err := vectors.Run(files, compiler)
	require.NoError(t, err)
	assert.Equal(t, 57, bundles[0].Passed())
	assert.False(t, bundles[0].OK())
	delete(files, "schemas/event.schema.json")
	_, err = vectors.Run(files, compiler)
	assert.Error(t, err)
}
