package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/audit"
)

// audit shows the trail of the run and checks that its hash chain is whole and that it tells of the work.
func auditTrail(_ context.Context, say *speaker, h *home, o *outcome, scripted bool) error {
	files, err := filepath.Glob(filepath.Join(h.state, "logs", "audit*"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	seen := map[string]bool{}
	for _, file := range files {
		lines, err := readLines(file)
		if err != nil {
			return err
		}
		mine := false
		for _, l := range lines {
			mine = mine || strings.Contains(l, o.taskID)
		}
		if !mine {
			continue
		}
		say.line("audit.file", "path", file)
		for _, l := range lines {
			say.record(h, l, seen)
		}
		rep, err := audit.Verify(func(fn func([]byte) bool) error {
			for _, l := range lines {
				if !fn([]byte(l)) {
					break
				}
			}
			return nil
		})
		if err == nil && rep.Fault != nil {
			err = rep.Fault
		}
		if err == nil && !rep.Whole() {
			err = fmt.Errorf("incomplete")
		}
		if err != nil {
			return fmt.Errorf("%s", say.text("problem.chain", "error", err.Error()))
		}
		say.line("audit.verified", "count", strconv.Itoa(rep.Lines), "head", rep.Head.Hash[:16]+"…")
	}
	var missing []string
	for _, k := range []string{"missing.write", "missing.run", "missing.failedrun"} {
		if !seen[k] && (scripted || k != "missing.failedrun") {
			missing = append(missing, say.text(k))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s", say.text("problem.effects", "missing", strings.Join(missing, ", ")))
	}
	return nil
}

// record prints one audit line in short and notes what it proves.
func (s *speaker) record(h *home, line string, seen map[string]bool) {
	var r map[string]any
	if json.Unmarshal([]byte(line), &r) != nil {
		return
	}
	kind, _ := r["kind"].(string)
	fields, _ := r["fields"].(map[string]any)
	switch kind {
	case string(audit.KindWrite):
		seen["missing.write"] = true
	case string(audit.KindProcessEnd):
		if code, ok := fields["exit_code"].(float64); ok && code == 0 {
			seen["missing.run"] = true
		} else {
			seen["missing.failedrun"] = true
		}
	}
	var b strings.Builder
	for _, k := range telling(fields) {
		if k == "args_bytes" || k == "run" || k == "text_bytes" || k == "sha256" {
			continue // in the file
		}
		v, _ := json.Marshal(fields[k])
		fmt.Fprintf(&b, " %s=%s", k, cut(strings.Trim(strings.ReplaceAll(string(v), h.workspace+"/", ""), `"`), 48))
	}
	at, _ := r["at"].(string)
	if len(at) > 19 {
		at = at[11:19]
	}
	fmt.Fprintln(s.out, cut(fmt.Sprintf("   %3v %s %-16s%s", r["seq"], at, kind, b.String()), 110))
}

// telling orders the fields so that what tells most stands first and survives the cut.
func telling(fields map[string]any) []string {
	first := []string{"to", "tool", "alias", "effect", "path", "end", "exit_code", "reasons", "target"}
	keys := slices.DeleteFunc(slices.Clone(first), func(k string) bool { _, ok := fields[k]; return !ok })
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(first, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func readLines(file string) (lines []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	return lines, sc.Err()
}

// clean proves that the run left nothing but the job's own files: no process, no instance, no temporary file.
func clean(say *speaker, h *home) error {
	var left []string
	if procs := processesBelow(h.dir); len(procs) > 0 {
		left = append(left, procs...)
	}
	say.line("clean.processes")
	if entries, err := os.ReadDir(filepath.Join(h.state, "instances")); err == nil {
		for _, e := range entries {
			if e.IsDir() {
				left = append(left, "instances/"+e.Name())
			}
		}
	}
	var files []string
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".agent-mcp-") || d.Type()&(fs.ModeSocket|fs.ModeNamedPipe) != 0 {
			left = append(left, path)
		}
		if rel, err := filepath.Rel(h.workspace, path); err == nil && !strings.HasPrefix(rel, "..") && !d.IsDir() {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s", say.text("problem.left", "what", strings.Join(left, ", ")))
	}
	say.line("clean.resources")
	say.line("clean.workspace", "files", strings.Join(files, ", "))
	return nil
}

// processesBelow lists processes whose program or working directory lies in the scratch folder.
func processesBelow(dir string) (found []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		for _, link := range []string{"exe", "cwd"} {
			target, err := os.Readlink("/proc/" + e.Name() + "/" + link)
			if err == nil && strings.HasPrefix(target, dir) {
				found = append(found, "PID "+e.Name()+" ("+target+")")
				break
			}
		}
	}
	return found
}
