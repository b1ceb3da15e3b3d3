package broker

import (
	"slices"
	"strings"
)

// maxValue bounds one inherited value.
const maxValue = 64

// Environment builds a process's environment from nothing (SEC-INV-08). Of the host's only the locale and the time zone
// come along, and only when their value is plain text that can carry no secret path and no command; what makes programs
// print plainly is added, and with a cache (a canonical directory, "" = none) what makes tools use it. The adapter adds
// PATH, HOME and TMPDIR. The result is sorted, one entry per name.
func Environment(host []string, cache string) []string {
	out := map[string]string{"TERM": "dumb", "NO_COLOR": "1"}
	if cache != "" {
		sep := "/"
		if !strings.HasPrefix(cache, "/") {
			sep = `\`
		}
		for name, below := range caches {
			out[name] = strings.TrimSuffix(cache+sep+below, sep)
		}
	}
	for _, line := range host {
		name, value, ok := strings.Cut(line, "=")
		if ok && inherited(name) && plain(value) {
			out[name] = value
		}
	}
	lines := make([]string, 0, len(out))
	for name, value := range out {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	return lines
}

// caches names the variables that send tools into the cache, each with its directory there. Only what holds nothing but
// reproducible content is here: homes with settings or credentials in them (CARGO_HOME, GRADLE_USER_HOME, GOPATH) are not.
var caches = map[string]string{
	"XDG_CACHE_HOME":   "", // pip, uv, ccache, sccache, deno, yarn, golangci-lint and many more
	"CCACHE_DIR":       "ccache",
	"GOCACHE":          "go-build",
	"GOMODCACHE":       "go-mod",
	"NUGET_PACKAGES":   "nuget",
	"PIP_CACHE_DIR":    "pip",
	"npm_config_cache": "npm",
}

func inherited(name string) bool {
	switch name {
	case "LANG", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "TZ":
		return true
	}
	return false
}

// plain accepts what locale and zone names are made of ("ja_JP.UTF-8", "Asia/Tokyo", "UTC+9"): no absolute path, no "..".
func plain(value string) bool {
	if value == "" || len(value) > maxValue || value[0] == '/' || value[0] == ':' || strings.Contains(value, "..") {
		return false
	}
	for _, c := range []byte(value) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_-+./@,", rune(c)) {
			return false
		}
	}
	return true
}
