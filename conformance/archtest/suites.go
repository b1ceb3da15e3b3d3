package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// values are ports that hold only types which cross other ports.
func values() []string { return []string{"fault", "rights"} }

// suites that are named after something else than their port: a Runner is what a front end is tested with.
func suites() map[string]string { return map[string]string{"service": "fronttest"} }

// twins are the technologies that need nothing outside the process.
func twins() []string { return []string{"mem", "fake", "scripted", "sequence"} }

// withoutTwin are ports whose one adapter reads what it is given: a locale file system in memory, files of the test itself.
// schema's needs nothing outside the process. service's twin is fronttest.Runner.
func withoutTwin() []string { return []string{"schema", "service", "settings", "text"} }

// CheckSuites finds ports without a contract suite, and ports without an adapter in memory that a test or an embedder can use.
func CheckSuites(root string) ([]Problem, error) {
	ports, err := os.ReadDir(filepath.Join(root, "ports"))
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, p := range ports {
		name := p.Name()
		if !p.IsDir() || slices.Contains(values(), name) {
			continue
		}
		suite := suites()[name]
		if suite == "" {
			suite = name + "test"
		}
		if _, err := os.Stat(filepath.Join(root, "conformance", suite)); err != nil {
			out = append(out, Problem{"ports/" + name, "has no contract suite; write conformance/" + suite + " and run it from every adapter's tests"})
		}
		if !slices.Contains(withoutTwin(), name) && !slices.ContainsFunc(twins(), func(t string) bool {
			_, err := os.Stat(filepath.Join(root, "adapters", name, t))
			return err == nil
		}) {
			out = append(out, Problem{"ports/" + name, "has no twin in memory; write adapters/" + name + "/" + strings.Join(twins(), ", or "+name+"/")})
		}
	}
	return out, nil
}
