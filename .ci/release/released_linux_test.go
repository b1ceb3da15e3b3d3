package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/pe"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/officialtest"
)

// entry is a file of an archive.
type entry struct {
	mode fs.FileMode
	data []byte
}

// open reads an archive of a release.
func open(t *testing.T, path string) map[string]entry {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	out := map[string]entry{}
	if strings.HasSuffix(path, ".tar.gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				return out
			}
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			out[h.Name] = entry{fs.FileMode(h.Mode), data}
		}
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	for _, f := range r.File {
		rc, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(rc)
		require.NoError(t, err)
		out[f.Name] = entry{f.Mode().Perm(), data}
	}
	return out
}

// sums reads SHA256SUMS: file → digest.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		digest, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, line)
		out[name] = digest
	}
	return out
}

// The artifacts of a release are all there and are what SHA256SUMS, server.json, the SBOM and the licences say.
func TestReleased_EveryArtifactIsWhatItSays(t *testing.T) {
	dir := filepath.Dir(artifacts(t, released, "SHA256SUMS")[0])
	listed := sums(t, dir)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(listed)+1)
	for name, want := range listed {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, sum(b), name)
	}
	b, err := os.ReadFile(filepath.Join(dir, "server.json"))
	require.NoError(t, err)
	server := decode(t, b)
	version := server["version"].(string)
	hashes := map[string]string{}
	for _, p := range server["packages"].([]any) {
		p := p.(map[string]any)
		id := p["identifier"].(string)
		hashes[id[strings.LastIndexByte(id, '/')+1:]] = p["fileSha256"].(string)
	}
	assert.Len(t, listed, 2*len(targets())+1)
	goroot, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	require.NoError(t, err)
	sources, err := filepath.Abs("../..")
	require.NoError(t, err)
	for _, tg := range targets() {
		t.Run(tg.name, func(t *testing.T) {
			click := artifact(version, tg.name) + ".mcpb"
			require.Contains(t, listed, click)
			assert.Equal(t, listed[click], hashes[click])
			files := open(t, filepath.Join(dir, artifact(version, tg.name)+tg.ext))
			exe := files[top+tg.exe]
			assert.EqualValues(t, 0o755, exe.mode)
			assert.Equal(t, exe.data, open(t, filepath.Join(dir, click))["server/"+tg.exe].data, "the same program in both")
			for _, path := range append(strings.Fields(string(goroot)), sources) {
				assert.False(t, bytes.Contains(exe.data, []byte(path)), "a path of this machine: %s", path)
			}
			selfContained(t, tg, exe.data)
			info, err := buildinfo.Read(bytes.NewReader(exe.data))
			require.NoError(t, err)
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			assert.Equal(t, "0", settings["CGO_ENABLED"])
			assert.Equal(t, "true", settings["-trimpath"])
			assert.Equal(t, tg.goos+"/"+tg.goarch, settings["GOOS"]+"/"+settings["GOARCH"])
			want := map[string]bool{"std": true}
			for _, m := range info.Deps {
				want[m.Path] = true
			}
			got := map[string]bool{}
			party := string(files[top+"THIRD_PARTY_LICENSES.txt"].data)
			for _, c := range decode(t, files[top+"sbom.cdx.json"].data)["components"].([]any) {
				c := c.(map[string]any)
				got[c["name"].(string)] = true
				if c["name"] != "std" {
					assert.Contains(t, party, "\n"+c["name"].(string)+" "+c["version"].(string)+" (")
				}
			}
			assert.Equal(t, want, got)
			assert.Equal(t, len(want), strings.Count(party, strings.Repeat("=", 78)+"\n")/2)
		})
	}
}

// selfContained looks for anything that the program would need from the system it runs on.
func selfContained(t *testing.T, tg target, exe []byte) {
	t.Helper()
	if tg.goos == "windows" {
		f, err := pe.NewFile(bytes.NewReader(exe))
		require.NoError(t, err)
		libraries, err := f.ImportedLibraries()
		require.NoError(t, err)
		for _, l := range libraries {
			assert.Contains(t, []string{"kernel32.dll"}, strings.ToLower(l))
		}
		return
	}
	f, err := elf.NewFile(bytes.NewReader(exe))
	require.NoError(t, err)
	for _, p := range f.Progs {
		assert.NotEqual(t, elf.PT_INTERP, p.Type, "no loader")
		assert.NotEqual(t, elf.PT_DYNAMIC, p.Type, "no libraries")
	}
}

// The same sources give the same bytes in another folder, with another time zone, language, umask and temporary directory, and,
// for one target, with nothing compiled before. It takes about a minute, so only .ci/run and `task release:test` do it.
func TestReleased_EqualBytesElsewhere(t *testing.T) {
	dir := filepath.Dir(artifacts(t, released, "SHA256SUMS")[0])
	listed := sums(t, dir)
	elsewhere := filepath.Join(t.TempDir(), "quite", "another", "folder")
	copySources(t, elsewhere)
	files := open(t, artifacts(t, released, "agent-mcp-*-linux-amd64.tar.gz")[0])
	meta := decode(t, files[top+"sbom.cdx.json"].data)["metadata"].(map[string]any)
	version, when := meta["component"].(map[string]any)["version"].(string), meta["timestamp"].(string)
	t.Chdir(elsewhere)
	defer syscall.Umask(syscall.Umask(0o077))
	for k, v := range map[string]string{"TZ": "Asia/Tokyo", "LANG": "ja_JP.UTF-8", "GOPROXY": "off", "GOFLAGS": "-race=false", "GOAMD64": "v3", "TMPDIR": t.TempDir()} {
		t.Setenv(k, v)
	}
	compare := func(targets string) {
		t.Helper()
		require.NoError(t, release(t.Context(), options{version: version, time: when, out: "out", targets: targets}))
		again := sums(t, "out")
		delete(again, "server.json") // lists what was chosen
		require.Len(t, again, 2*len(strings.Split(targets, ",")))
		for name, digest := range again {
			assert.Equal(t, listed[name], digest, name)
		}
	}
	compare("linux-arm64,win-x64")
	t.Setenv("GOCACHE", t.TempDir())
	compare("linux-amd64")
}

// copySources copies what git would, but for the history.
func copySources(t *testing.T, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		rel, err := filepath.Rel("../..", path)
		require.NoError(t, err)
		switch rel {
		case ".git", "dist", "bin":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	}))
}

// The official tool unpacks and accepts every .mcpb, and packs the same files, modes and bytes; and the way that desktop clients
// start it works, with a configuration that its owner applied.
func TestOfficial_MCPB(t *testing.T) {
	programs := officialtest.Find(t)
	for _, path := range artifacts(t, released, "*.mcpb") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			folder, again := filepath.Join(dir, "folder"), filepath.Join(dir, "again.mcpb")
			said, err := programs.MCPB(t, "unpack", path, folder)
			require.NoError(t, err, said)
			said, err = programs.MCPB(t, "validate", filepath.Join(folder, "manifest.json"))
			require.NoError(t, err, said)
			command, _ := programs.Launch(t, folder, nil)
			assert.Empty(t, command, "it does not start before a configuration is chosen")
			if !strings.HasSuffix(path, "-linux-"+runtime.GOARCH+".mcpb") {
				return // the rest takes seconds, and is the same for every target
			}
			said, err = programs.MCPB(t, "pack", folder, again)
			require.NoError(t, err, said)
			ours, theirs := open(t, path), open(t, again)
			assert.Equal(t, sorted(ours), sorted(theirs))
			assert.True(t, maps.EqualFunc(ours, theirs, func(a, b entry) bool { return a.mode == b.mode && bytes.Equal(a.data, b.data) }))
			oneClick(t, programs, folder)
		})
	}
}

// oneClick starts an unpacked .mcpb as a desktop client does.
func oneClick(t *testing.T, programs officialtest.Programs, folder string) {
	t.Helper()
	h := settle(t)
	h.configure(t, "", script(t)...)
	h.run(t, 0, "apply", "--yes")
	command, args := programs.Launch(t, folder, map[string]string{"config": filepath.Join(h.folder, "agent.yaml")})
	c := h.agent(t.Context(), args...)
	c.Path, c.Args[0] = command, command
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	s := h.listen(t, c)
	cl := overPipes(out, in)
	require.NoError(t, cl.Start(t.Context()))
	connect(t, cl)
	require.NoError(t, in.Close())
	s.end()
}
