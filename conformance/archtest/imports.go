package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// CheckImports applies the import rules to packages listed for one operating system.
func CheckImports(packages []Package) []Problem {
	var out []Problem
	for _, p := range packages {
		pkg := p.Path()
		i := slices.IndexFunc(rules(), func(r rule) bool { return r.match(pkg) })
		if i < 0 {
			out = append(out, Problem{pkg, "no rule knows this package. Put it where the layout has a place for it (ports, core, " +
				"adapters/<port>/<technology>, conformance, app, cmd, examples, locales), or add a rule to rules() in conformance/archtest/rules.go"})
			continue
		}
		r := rules()[i]
		for _, imp := range p.Imports {
			out = append(out, check(r, pkg, imp, false)...)
		}
		tests := append(slices.Clone(p.TestImports), p.XTestImports...)
		slices.Sort(tests)
		for _, imp := range slices.Compact(tests) {
			out = append(out, check(r, pkg, imp, true)...)
		}
		if len(p.CgoFiles) > 0 {
			out = append(out, Problem{pkg, "uses cgo; the program must cross-compile without a C compiler"})
		}
	}
	return out
}

func check(r rule, pkg, imp string, test bool) []Problem {
	problem := func(format string, args ...any) []Problem {
		where := "imports"
		if test {
			where = "tests import"
		}
		return []Problem{{pkg, fmt.Sprintf("%s %s: ", where, imp) + fmt.Sprintf(format, args...)}}
	}
	switch {
	case imp == "C":
		return problem("no cgo; the program must cross-compile without a C compiler")
	case imp == Module || strings.HasPrefix(imp, Module+"/"):
		return checkOurs(r, pkg, relative(imp), test, problem)
	case strings.Contains(strings.Split(imp, "/")[0], "."):
		return checkVendor(r, pkg, imp, test, problem)
	case r.kind == "core/*" && !test && matches(bannedInCore(), imp, pkg):
		return problem("core is pure; take what it gives as a value, or do it in app through a port")
	case imp == "testing" && !test && !strings.HasPrefix(pkg, "conformance/"):
		return problem("only tests and conformance use testing")
	}
	return nil
}

func checkOurs(r rule, pkg, imp string, test bool, problem func(string, ...any) []Problem) []Problem {
	if imp == pkg && test || matches(r.ours, imp, pkg) || test && matches(r.tests, imp, pkg) {
		return nil
	}
	allowed := r.ours
	if test {
		allowed = append(slices.Clone(r.ours), r.tests...)
	}
	return problem("%s may import of ours only %s; use a port, or move the code", r.kind, strings.Join(allowed, ", "))
}

func checkVendor(r rule, pkg, imp string, test bool, problem func(string, ...any) []Problem) []Problem {
	if strings.HasPrefix(imp, "golang.org/x/sys/") {
		if raw(pkg) {
			return nil
		}
		return problem("raw system calls live in adapters/<port>/<technology>/internal/kernel or …/win32")
	}
	for _, v := range vendors() {
		if !matches([]string{v.module}, imp, pkg) {
			continue
		}
		if matchesSelf(v.users, pkg) && (r.other || test) || test && (matchesSelf(v.tests, pkg) || matchesSelf(v.users, pkg)) {
			return nil
		}
		return problem("%s is only for %s", v.module, strings.Join(append(slices.Clone(v.users), v.tests...), ", "))
	}
	return problem("unknown module; a dependency needs a reason in its adapter's doc comment and a line in vendors() in conformance/archtest/rules.go")
}

// matchesSelf reports whether pkg is one of the users or lies below one.
func matchesSelf(users []string, pkg string) bool {
	return slices.ContainsFunc(users, func(u string) bool {
		u = strings.TrimSuffix(u, "/...")
		return u == "..." || pkg == u || strings.HasPrefix(pkg, u+"/")
	})
}

// CheckSystems finds packages that vanish on one of the systems: `go vet ./...` and importers would fail there.
func CheckSystems(a, b []Package) []Problem {
	var out []Problem
	has := func(list []Package, path string) bool {
		return slices.ContainsFunc(list, func(p Package) bool { return p.ImportPath == path && len(p.GoFiles) > 0 })
	}
	for _, pair := range [][2][]Package{{a, b}, {b, a}} {
		for _, p := range pair[0] {
			if len(p.GoFiles) > 0 && !has(pair[1], p.ImportPath) {
				out = append(out, Problem{p.Path(), "has no file for one of linux and windows; give it an untagged doc.go"})
			}
		}
	}
	return out
}
