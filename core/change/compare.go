package change

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Labels of attributes.
const (
	labelPath      text.Key = "label.path"
	labelWritten   text.Key = "label.written"
	labelAccess    text.Key = "label.access"
	labelSHA256    text.Key = "label.sha256"
	labelProfile   text.Key = "label.profile"
	labelMode      text.Key = "label.mode"
	labelEndpoints text.Key = "label.endpoints"
	labelMemory    text.Key = "label.memory"
	labelProcesses text.Key = "label.processes"
	labelTimeout   text.Key = "label.timeout"
	labelRequire   text.Key = "label.require"
	labelModel     text.Key = "label.model"
	labelListen    text.Key = "label.listen"
	labelServer    text.Key = "label.server"
	labelIdentity  text.Key = "label.identity"

	labelInterpreter     text.Key = "label.interpreter"
	labelInterpreterHash text.Key = "label.interpreter_sha256"
)

// Plain words for what a change means.
const (
	meansReadonly    text.Key = "means.workspace_readonly"
	meansDevelopment text.Key = "means.workspace_development"
	meansReplaced    text.Key = "means.directory_replaced"
	meansMountRead   text.Key = "means.mount_read_only"
	meansMountWrite  text.Key = "means.mount_read_write"
	meansMountDelete text.Key = "means.mount_read_write_delete"
	meansGone        text.Key = "means.gone"
	meansProgram     text.Key = "means.entry_program"
	meansShell       text.Key = "means.entry_shell"
	meansContent     text.Key = "means.entry_content"
	meansInterpreter text.Key = "means.entry_interpreter"
	meansElsewhere   text.Key = "means.entry_elsewhere"
	meansSpelling    text.Key = "means.same_target"
	meansNoStart     text.Key = "means.entry_removed"
	meansRuntime     text.Key = "means.runtime_root"
	meansRuntimeGone text.Key = "means.runtime_root_removed"
	meansNetNone     text.Key = "means.network_none"
	meansNetLocal    text.Key = "means.network_local"
	meansNetListed   text.Key = "means.network_restricted"
	meansResources   text.Key = "means.resources"
	meansExact       text.Key = "means.require_exact"
	meansApproximate text.Key = "means.require_approximate"
	meansModel       text.Key = "means.model"
	meansListen      text.Key = "means.listen"
	meansListenGone  text.Key = "means.listen_gone"
	meansCacheGone   text.Key = "means.cache_removed"
	meansCache       text.Key = "means.cache"

	meansCacheReadonly text.Key = "means.cache_readonly"
	meansSettings      text.Key = "means.settings"
)

// Compare returns the ordered difference from what was applied (nil = never) to what is desired. fingerprint is the
// desired configuration's; when the permissions are equal and it differs, the one change is ItemSettings.
func Compare(applied *Snapshot, desired Permissions, fingerprint string) []service.Change {
	var old Permissions
	if applied != nil {
		old = applied.Permissions.Normal()
	}
	desired = desired.Normal()
	d := differ{first: applied == nil}
	d.workspace(old, desired)
	d.mounts(old.Mounts, desired.Mounts)
	d.entries(old.Entries, desired.Entries)
	d.network(old.Network, desired.Network)
	d.resources(old.Resources, desired.Resources)
	d.require(old.Require, desired.Require)
	d.cache(old.Cache, desired.Cache, desired.Profile)
	d.model(old.Model, desired.Model)
	d.listen(old.Listen, desired.Listen)
	if len(d.out) == 0 && applied != nil && applied.Fingerprint != fingerprint {
		d.add(service.Change{Op: service.ChangedOp, Item: service.ItemSettings, Meaning: service.Phrase{Key: meansSettings}})
	}
	return d.out
}

type differ struct {
	first bool // nothing was applied: everything is added
	out   []service.Change
}

// add drops the directory's number where nothing stands against it: alone it tells nobody anything. What has no value
// (a path that does not exist) is no fact.
func (d *differ) add(c service.Change) {
	empty := func(a service.Attribute) bool { return a.Value == "" }
	c.Before, c.After = slices.DeleteFunc(c.Before, empty), slices.DeleteFunc(c.After, empty)
	if c.Op != service.ChangedOp {
		number := func(a service.Attribute) bool { return a.Name == labelIdentity }
		c.Before, c.After = slices.DeleteFunc(c.Before, number), slices.DeleteFunc(c.After, number)
	}
	d.out = append(d.out, c)
}

// single compares an item that is always there.
func (d *differ) single(item service.Item, before, after []service.Attribute, widens bool, means service.Phrase) {
	c := service.Change{Op: service.ChangedOp, Item: item, Meaning: means, Widens: widens}
	if d.first {
		c.Op, c.After, c.Widens = service.Added, after, true
	} else if c.Before, c.After = differing(before, after); len(c.After)+len(c.Before) == 0 {
		return
	}
	d.add(c)
}

// differing keeps the attributes that are not the same on both sides.
func differing(before, after []service.Attribute) (b, a []service.Attribute) {
	for _, x := range before {
		if !slices.Contains(after, x) {
			b = append(b, x)
		}
	}
	for _, x := range after {
		if !slices.Contains(before, x) {
			a = append(a, x)
		}
	}
	return b, a
}

// chosen is a value of an enumeration.
func chosen(name text.Key, w text.Word) service.Attribute {
	return service.Attribute{Name: name, Value: w.Plain, Word: w.Key}
}

// place lists a path; the written form only where it leads somewhere else.
func place(p Place) []service.Attribute {
	if p == (Place{}) {
		return nil
	}
	out := []service.Attribute{{Name: labelPath, Value: p.Path}}
	if p.Written != p.Path {
		out = append(out, service.Attribute{Name: labelWritten, Value: p.Written})
	}
	if p.Identity != "" {
		out = append(out, service.Attribute{Name: labelIdentity, Value: p.Identity})
	}
	return out
}

func (d *differ) workspace(old, now Permissions) {
	means := service.Phrase{Key: meansDevelopment}
	if now.Profile == "readonly" {
		means.Key = meansReadonly
	}
	if !d.first && old.Profile != now.Profile {
		d.single(service.ItemProfile, []service.Attribute{chosen(labelProfile, service.Profile(old.Profile))},
			[]service.Attribute{chosen(labelProfile, service.Profile(now.Profile))}, now.Profile != "readonly", means)
	}
	if !d.first && old.Workspace.Path == now.Workspace.Path && old.Workspace.Identity != now.Workspace.Identity {
		means.Key = meansReplaced
	}
	before, after := place(old.Workspace), place(now.Workspace)
	if d.first {
		after = append(after, chosen(labelProfile, service.Profile(now.Profile)))
	}
	d.single(service.ItemWorkspace, before, after, true, means)
}

func accessRank(access string) int {
	return slices.Index([]string{"read_only", "read_write", "read_write_delete"}, access)
}

func (d *differ) mounts(old, now []Mount) {
	attributes := func(m Mount) []service.Attribute {
		return append(place(m.Place), chosen(labelAccess, service.Access(m.Access)))
	}
	for _, name := range names(old, now, func(m Mount) string { return m.Name }) {
		o, had := find(old, func(m Mount) bool { return m.Name == name })
		n, has := find(now, func(m Mount) bool { return m.Name == name })
		c := service.Change{Item: service.ItemMount, Name: name, Meaning: service.Phrase{Key: meansMountRead}}
		switch n.Access {
		case "read_write":
			c.Meaning.Key = meansMountWrite
		case "read_write_delete":
			c.Meaning.Key = meansMountDelete
		}
		switch {
		case !has:
			c.Op, c.Before, c.Meaning.Key = service.Removed, attributes(o), meansGone
		case !had:
			c.Op, c.After, c.Widens = service.Added, attributes(n), true
		default:
			if o == n {
				continue
			}
			c.Op = service.ChangedOp
			c.Before, c.After = differing(attributes(o), attributes(n))
			c.Widens = o.Place.Path != n.Place.Path || o.Place.Identity != n.Place.Identity || accessRank(n.Access) > accessRank(o.Access)
			if o.Place.Path == n.Place.Path && o.Access == n.Access {
				c.Meaning.Key = meansSpelling
				if o.Place.Identity != n.Place.Identity {
					c.Meaning.Key = meansReplaced
				}
			}
		}
		d.add(c)
	}
}

func (d *differ) entries(old, now []Entry) {
	attributes := func(e Entry) []service.Attribute {
		out := append(place(e.Place), service.Attribute{Name: labelSHA256, Value: e.SHA256})
		for _, i := range e.Interpreters {
			out = append(out, service.Attribute{Name: labelInterpreter, Value: i.Path}, service.Attribute{Name: labelInterpreterHash, Value: i.SHA256})
		}
		return out
	}
	for _, alias := range names(old, now, func(e Entry) string { return e.Alias }) {
		o, had := find(old, func(e Entry) bool { return e.Alias == alias })
		n, has := find(now, func(e Entry) bool { return e.Alias == alias })
		c := service.Change{Item: service.ItemEntry, Name: alias, Meaning: service.Phrase{Key: meansProgram}}
		if n.Shell {
			c.Meaning.Key = meansShell
		}
		switch {
		case !has:
			c.Op, c.Before, c.Meaning.Key = service.Removed, attributes(o), meansNoStart
			d.add(c)
		case !had:
			c.Op, c.After, c.Widens = service.Added, attributes(n), true
			d.add(c)
		case o.Place != n.Place || o.SHA256 != n.SHA256 || !slices.Equal(o.Interpreters, n.Interpreters):
			c.Op = service.ChangedOp
			c.Before, c.After = differing(attributes(o), attributes(n))
			c.Widens = o.Place.Path != n.Place.Path || o.SHA256 != n.SHA256 || !slices.Equal(o.Interpreters, n.Interpreters)
			switch {
			case o.Place.Path != n.Place.Path:
				c.Meaning.Key = meansElsewhere
			case o.SHA256 != n.SHA256:
				c.Meaning.Key = meansContent
			case c.Widens:
				c.Meaning.Key = meansInterpreter
			default:
				c.Meaning.Key = meansSpelling
			}
			d.add(c)
		}
		d.runtimeRoot(alias, o.RuntimeRoot, n.RuntimeRoot)
	}
}

func (d *differ) runtimeRoot(alias string, old, now Place) {
	if old == now {
		return
	}
	c := service.Change{Item: service.ItemRuntimeRoot, Name: alias, Meaning: service.Phrase{Key: meansRuntime}, Widens: true}
	switch {
	case now == Place{}:
		c.Op, c.Before, c.Meaning.Key, c.Widens = service.Removed, place(old), meansRuntimeGone, false
	case old == Place{}:
		c.Op, c.After = service.Added, place(now)
	default:
		c.Op = service.ChangedOp
		c.Before, c.After = differing(place(old), place(now))
		if old.Path == now.Path && old.Identity == now.Identity {
			c.Meaning.Key, c.Widens = meansSpelling, false
		}
	}
	d.add(c)
}

func (d *differ) network(old, now Network) {
	attributes := func(n Network) []service.Attribute {
		out := []service.Attribute{chosen(labelMode, sandbox.NetworkMode(n.Mode).Word())}
		if len(n.Endpoints) > 0 {
			out = append(out, service.Attribute{Name: labelEndpoints, Value: strings.Join(n.Endpoints, ", ")})
		}
		return out
	}
	means := meansNetNone
	switch now.Mode {
	case "local":
		means = meansNetLocal
	case "restricted":
		means = meansNetListed
	}
	widens := now.Mode != "none" && (old.Mode != now.Mode || slices.ContainsFunc(now.Endpoints, func(e string) bool {
		return !slices.Contains(old.Endpoints, e)
	}))
	d.single(service.ItemNetwork, attributes(old), attributes(now), widens, service.Phrase{Key: means})
	if d.first {
		d.out[len(d.out)-1].Widens = now.Mode != "none"
	}
}

func (d *differ) resources(old, now Resources) {
	attributes := func(r Resources) []service.Attribute {
		return []service.Attribute{
			{Name: labelMemory, Value: fmt.Sprintf("%d MiB", r.MemoryMiB)},
			{Name: labelProcesses, Value: fmt.Sprint(r.Processes)},
			{Name: labelTimeout, Value: seconds(r.TimeoutSeconds)},
		}
	}
	widens := now.MemoryMiB > old.MemoryMiB || now.Processes > old.Processes || now.TimeoutSeconds > old.TimeoutSeconds
	d.single(service.ItemResources, attributes(old), attributes(now), widens, service.Phrase{Key: meansResources})
}

// seconds writes 30m, not 30m0s.
func seconds(n int) string {
	out := (time.Duration(n) * time.Second).String()
	if strings.HasSuffix(out, "m0s") {
		out = strings.TrimSuffix(out, "0s")
	}
	if strings.HasSuffix(out, "h0m") {
		out = strings.TrimSuffix(out, "0m")
	}
	return out
}

func (d *differ) require(old, now string) {
	means := meansApproximate
	if now == "exact" {
		means = meansExact
	}
	d.single(service.ItemRequire, []service.Attribute{chosen(labelRequire, sandbox.ParseStrength(old).Word())},
		[]service.Attribute{chosen(labelRequire, sandbox.ParseStrength(now).Word())}, now != "exact", service.Phrase{Key: means})
}

func (d *differ) cache(old, now Cache, profile string) {
	if old == now {
		return
	}
	attributes := func(c Cache) []service.Attribute { return []service.Attribute{{Name: labelPath, Value: c.Path}} }
	c := service.Change{Item: service.ItemCache, Name: now.Name, Meaning: service.Phrase{Key: meansCache}, Widens: true}
	if profile == "readonly" {
		c.Meaning.Key = meansCacheReadonly
	}
	switch {
	case now == Cache{}:
		c.Op, c.Name, c.Before, c.Meaning.Key, c.Widens = service.Removed, old.Name, attributes(old), meansCacheGone, false
	case old == Cache{}:
		c.Op, c.After = service.Added, attributes(now)
	default:
		c.Op = service.ChangedOp
		c.Before, c.After = differing(attributes(old), attributes(now))
	}
	d.add(c)
}

func (d *differ) model(old, now Model) {
	attributes := func(m Model) []service.Attribute {
		return []service.Attribute{{Name: labelModel, Value: m.Name}, {Name: labelServer, Value: m.Server}}
	}
	d.single(service.ItemModel, attributes(old), attributes(now), true,
		service.Phrase{Key: meansModel, Args: map[string]any{"model": now.Name, "server": now.Server}})
}

func (d *differ) listen(old, now []string) {
	if slices.Equal(old, now) {
		return
	}
	attributes := func(all []string) []service.Attribute {
		return []service.Attribute{{Name: labelListen, Value: strings.Join(all, ", ")}}
	}
	c := service.Change{Op: service.ChangedOp, Item: service.ItemListen, Before: attributes(old), After: attributes(now), Meaning: service.Phrase{Key: meansListen}, Widens: true}
	switch {
	case len(now) == 0:
		c.Op, c.After, c.Meaning.Key, c.Widens = service.Removed, nil, meansListenGone, false
	case len(old) == 0:
		c.Op, c.Before = service.Added, nil
	}
	d.add(c)
}

// names returns the names of both lists, sorted, each once.
func names[T any](a, b []T, name func(T) string) []string {
	var out []string
	for _, x := range append(slices.Clone(a), b...) {
		out = append(out, name(x))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func find[T any](list []T, match func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	return found, false
}
