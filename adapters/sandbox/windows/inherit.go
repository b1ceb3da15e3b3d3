package windows

import "slices"

// This file decides what an object's list becomes, as plain data. Entries of our profile are the only ones that are ever
// added or taken out; the order and the bytes of all others stay. AppContainer processes are bound by allow entries for
// their own identifiers alone: a deny entry never binds them, so none is ever used.

// of returns the allow entries of one identifier, those set on the object itself or those that came from above.
func (d dacl) of(who sid, inherited bool) (out []ace) {
	for _, a := range d.Aces {
		if a.SID == who && a.Type == aceAllow && a.raw == "" && a.inherited() == inherited {
			out = append(out, a)
		}
	}
	return out
}

// with adds the entries of want that are missing among the explicit ones, behind the other explicit ones. added tells which:
// an entry that was there before is not ours.
func (d dacl) with(want []ace) (out dacl, added []ace) {
	out = d.clone()
	for _, w := range want {
		if !slices.Contains(out.Aces, w) {
			at := slices.IndexFunc(out.Aces, ace.inherited)
			if at < 0 {
				at = len(out.Aces)
			}
			out.Aces = slices.Insert(out.Aces, at, w)
			added = append(added, w)
		}
	}
	return out, added
}

// without takes each entry of drop out once.
func (d dacl) without(drop []ace) (out dacl, changed bool) {
	out = d.clone()
	for _, a := range drop {
		if i := slices.Index(out.Aces, a); i >= 0 {
			out.Aces = slices.Delete(out.Aces, i, i+1)
			changed = true
		}
	}
	return out, changed
}

// inherit makes the entries of who that came from above exactly those of handed. A protected object inherits nothing, and
// one without a list must not get one: it would lock out everybody else.
func (d dacl) inherit(who sid, handed []ace) (out dacl, changed bool) {
	if d.Null {
		return d, false
	}
	if d.Protected {
		handed = nil
	}
	if slices.Equal(d.of(who, true), handed) {
		return d, false
	}
	out = d.clone()
	out.Aces = slices.DeleteFunc(out.Aces, func(a ace) bool { return a.SID == who && a.Type == aceAllow && a.raw == "" && a.inherited() })
	out.Aces = append(out.Aces, handed...)
	return out, true
}

// handDown is what a child inherits from entries of its directory (MS-DTYP 2.5.3.4).
func handDown(aces []ace, dir bool) (out []ace) {
	for _, a := range aces {
		switch {
		case dir && a.Flags&flagDirs != 0:
			a.Flags = a.Flags&(flagFiles|flagDirs) | flagInherited
		case dir && a.Flags&flagFiles != 0 && a.Flags&flagOnce == 0:
			a.Flags = flagFiles | flagInheritOnly | flagInherited
		case !dir && a.Flags&flagFiles != 0:
			a.Flags = flagInherited
		default:
			continue
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// granted is the union of what the entries of an identifier give on the object itself, and below it.
func granted(aces []ace) (here, below uint32) {
	for _, a := range aces {
		m := generic(a.Mask)
		if a.Flags&flagInheritOnly == 0 {
			here |= m
		}
		if a.Flags&(flagFiles|flagDirs) != 0 {
			below |= m
		}
	}
	return here, below
}

// sealed is the list of an object that inherits nothing any more: what came from above stays as its own, but for what came
// to who. turned tells the entries that were made its own, so that unsealed finds them again.
func (d dacl) sealed(who sid) (out dacl, turned []ace) {
	out = d.clone()
	out.Protected = true
	out.Aces = nil
	for _, a := range d.Aces {
		if a.inherited() {
			if a.SID == who && a.Type == aceAllow && a.raw == "" {
				continue
			}
			a.Flags &^= flagInherited
			turned = append(turned, a)
		}
		out.Aces = append(out.Aces, a)
	}
	return out, turned
}

// unsealed lets the object inherit again: what sealed had turned came from above again, each entry once. What somebody has
// changed meanwhile stays as it is.
func (d dacl) unsealed(turned []ace) (out dacl, changed bool) {
	out = d.clone()
	out.Protected = false
	var back []ace
	for _, a := range turned {
		if i := slices.Index(out.Aces, a); i >= 0 {
			out.Aces = slices.Delete(out.Aces, i, i+1)
			a.Flags |= flagInherited
			back = append(back, a)
		}
	}
	out.Aces = append(out.Aces, back...)
	return out, d.Protected || len(back) > 0
}
