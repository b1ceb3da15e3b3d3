package file

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
)

// part is one file of a series.
type part struct {
	path    string
	name    string // instance
	number  int    // from 1
	size    int64
	modTime time.Time
}

const (
	prefix = "audit-"
	suffix = ".jsonl"
)

// maxOthers bounds the number of parts kept of dead instances, however small they are.
const maxOthers = 1000

func (l *Ledger) path(number int) string {
	return filepath.Join(l.opt.Dir, fmt.Sprintf("%s%s.%05d%s", prefix, l.opt.Name, number, suffix))
}

// parts lists this ledger's parts in order.
func (l *Ledger) parts() ([]part, error) {
	all, err := list(l.opt.Dir)
	if err != nil {
		return nil, failed(err, l.opt.Dir)
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.name != l.opt.Name }), nil
}

// list finds every part in dir, sorted by instance and number.
func list(dir string) ([]part, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []part
	for _, e := range entries {
		base, isPart := strings.CutPrefix(e.Name(), prefix)
		base, isJSON := strings.CutSuffix(base, suffix)
		dot := strings.LastIndexByte(base, '.')
		if !isPart || !isJSON || dot <= 0 || !e.Type().IsRegular() {
			continue
		}
		number, err := strconv.Atoi(base[dot+1:])
		if err != nil || number < 1 {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // gone since the listing
		}
		out = append(out, part{filepath.Join(dir, e.Name()), base[:dot], number, info.Size(), info.ModTime()})
	}
	slices.SortFunc(out, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.number, b.number))
	})
	return out, nil
}

// prune takes away the oldest series of dead instances while they are too much together.
func prune(opt Options) {
	all, err := list(opt.Dir)
	if err != nil {
		return
	}
	var series [][]part
	for _, p := range all {
		if n := len(series); n > 0 && series[n-1][0].name == p.name {
			series[n-1] = append(series[n-1], p)
		} else if p.name != opt.Name {
			series = append(series, []part{p})
		}
	}
	last := func(s []part) part { return s[len(s)-1] }
	slices.SortFunc(series, func(a, b []part) int { return last(b).modTime.Compare(last(a).modTime) }) // youngest first
	room, count := opt.MaxFileBytes*int64(opt.MaxFiles), maxOthers
	for _, s := range series {
		for _, p := range s {
			room -= p.size
			count--
		}
		if room < 0 || count < 0 {
			removeDead(s)
		}
	}
}

// removeDead removes a series unless its owner lives.
func removeDead(s []part) {
	lock, err := hostfile.TryLock(s[len(s)-1].path)
	if err != nil || lock == nil {
		return
	}
	_ = lock.Close() // before the removal, for Windows; an instance's name is never used again
	for _, p := range s {
		_ = os.Remove(p.path)
	}
}
