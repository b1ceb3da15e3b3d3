package canon

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// sort brings the names found since mark into canonical order, and finds two that are equal. It costs n·log n comparisons
// whatever the names are; there is no table that an enemy's names could fill unevenly.
func (p *parser) sort(mark int) *fault.Error {
	names := p.open[mark:]
	sorted := true
	for i := 1; i < len(names) && sorted; i++ {
		sorted = compare(p.Text(int(names[i-1])), p.Text(int(names[i]))) < 0
	}
	if sorted {
		return nil
	}
	if len(names) <= fewNames {
		for i := 1; i < len(names); i++ {
			for k := i; k > 0 && compare(p.Text(int(names[k-1])), p.Text(int(names[k]))) > 0; k-- {
				names[k-1], names[k] = names[k], names[k-1]
			}
		}
	} else {
		p.sortMany(names, 0, 0)
	}
	for i := 1; i < len(names); i++ {
		if name := p.Text(int(names[i])); compare(p.Text(int(names[i-1])), name) == 0 {
			return at(p.text, p.offset(int(names[i])), CodeDuplicate, "name", printable(name))
		}
	}
	return nil
}

// Many names are sorted by eight characters at a time: fewNames are sorted by comparing them, and so is what is still together after
// keyLevels times, which then begins with so much that is equal that comparing it is cheap.
const (
	fewNames  = 12
	keyLevels = 4
)

// sortMany sorts names that are equal up to from; equal names keep their order.
func (p *parser) sortMany(names []uint32, from, level int) {
	if len(names) <= fewNames || level == keyLevels {
		slices.SortFunc(names, func(a, b uint32) int {
			if c := compare(p.Text(int(a))[from:], p.Text(int(b))[from:]); c != 0 {
				return c
			}
			return cmp.Compare(a, b)
		})
		return
	}
	mark := len(p.keys)
	for _, n := range names {
		p.keys = append(p.keys, keyed{key(p.Text(int(n))[from:]), n})
	}
	keys := p.keys[mark:]
	slices.SortFunc(keys, func(a, b keyed) int {
		if a.key < b.key {
			return -1
		}
		if a.key > b.key {
			return 1
		}
		return int(a.name) - int(b.name)
	})
	for i, k := range keys {
		names[i] = k.name
	}
	for i := 0; i < len(keys); {
		end := i + 1
		for end < len(keys) && keys[end].key == keys[i].key {
			end++
		}
		if run := names[i:end]; len(run) > 1 {
			p.sortMany(run, p.common(run, from), level+1)
		}
		i = end
	}
	p.keys = p.keys[:mark]
}

// common is how much names have in common that are equal up to from.
func (p *parser) common(names []uint32, from int) int {
	first := p.Text(int(names[0]))
	common := len(first)
	for _, n := range names[1:] {
		text := p.Text(int(n))
		k := from
		for k < common && k < len(text) && text[k] == first[k] {
			k++
		}
		common = k
	}
	return common
}

// keyed is a name by its key.
type keyed struct {
	key  uint64
	name uint32
}

// key orders texts as far as it tells them apart: by eight ASCII characters. What is none sorts behind them, and alike.
func key(text []byte) (k uint64) {
	for i := range min(len(text), 8) {
		if text[i] >= utf8.RuneSelf {
			return k | uint64(utf8.RuneSelf)<<(56-8*i)
		}
		k |= uint64(text[i]) << (56 - 8*i)
	}
	return k
}
