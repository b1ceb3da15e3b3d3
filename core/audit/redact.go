package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of what a record may hold in clear, in bytes and in entries.
const (
	maxText  = 512 // longer text is a body
	maxItems = 64  // of a list or an object
	maxDepth = 4
)

// Redact returns what may be stored of a value under a key: the value itself, or an object that says what was there.
//
//   - under a key that names a secret: {"redacted":"secret","bytes":n}, never a digest, which could be guessed;
//   - text that looks like a credential: the same;
//   - images, data URLs, Base64 and long text: {"redacted":"image"|"base64"|"text","bytes":n,"sha256":…};
//   - bytes: always size and digest.
//
// Values of kinds that JSON cannot hold become their type's name. It never fails.
func Redact(key string, value any) any { return redact(key, value, 0) }

func redact(key string, value any, depth int) any {
	if depth > maxDepth {
		return map[string]any{"redacted": "depth"}
	}
	switch v := value.(type) {
	case nil, bool, int, int64, int32, uint16, uint32, uint64, uint:
		if secretKey(key) && !countKey(key) && v != nil {
			if _, isBool := v.(bool); !isBool {
				return map[string]any{"redacted": "secret"}
			}
		}
		return exact(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case time.Time:
		return v.UTC().Format(timeForm)
	case time.Duration:
		return v.String()
	case string:
		out := redactText(key, v)
		if kept, isText := out.(string); isText {
			return strings.ToValidUTF8(kept, "\uFFFD")
		}
		return out
	case []byte:
		return redactBytes(key, v)
	case json.RawMessage:
		return redactBytes(key, v)
	case []string:
		items := make([]any, len(v))
		for i := range v {
			items[i] = v[i]
		}
		return redactList(key, items, depth)
	case []any:
		return redactList(key, v, depth)
	case map[string]any:
		return redactMap(v, depth)
	}
	return map[string]any{"redacted": fmt.Sprintf("%T", value)}
}

// exact writes an integer that a JSON number would change (RFC 7493 section 2.2) as text.
func exact(v any) any {
	const most = 1<<53 - 1
	var fits bool
	switch n := v.(type) {
	case int:
		fits = int64(n) <= most && int64(n) >= -most
	case int64:
		fits = n <= most && n >= -most
	case uint:
		fits = uint64(n) <= most
	case uint64:
		fits = n <= most
	default:
		return v
	}
	if fits {
		return v
	}
	return fmt.Sprint(v)
}

func redactList(key string, items []any, depth int) any {
	out := make([]any, 0, min(len(items), maxItems))
	for _, item := range items[:min(len(items), maxItems)] {
		out = append(out, redact(key, item, depth+1))
	}
	if n := len(items) - len(out); n > 0 {
		out = append(out, map[string]any{"redacted": "items", "count": n})
	}
	return out
}

func redactMap(m map[string]any, depth int) any {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make(map[string]any, len(keys))
	for i, k := range keys {
		if i == maxItems {
			out["redacted"] = len(keys) - maxItems
			break
		}
		name := strings.ToValidUTF8(k, "\uFFFD")
		if len(name) > 64 || secretShape(name) {
			name = fmt.Sprintf("key%d", i)
		}
		out[name] = redact(k, m[k], depth+1)
	}
	return out
}

func redactText(key, s string) any {
	switch {
	case s == "":
		return s
	case secretKey(key), secretShape(s):
		return map[string]any{"redacted": "secret", "bytes": len(s)}
	case pathKey(key) && len(s) <= 4*maxText && !strings.HasPrefix(s, "data:"):
		return s
	case image(s):
		return digestOf("image", s)
	case base64Shape(s):
		return digestOf("base64", s)
	case len(s) > maxText:
		return digestOf("text", s)
	}
	return s
}

func redactBytes(key string, b []byte) any {
	if secretKey(key) {
		return map[string]any{"redacted": "secret", "bytes": len(b)}
	}
	if image(string(b[:min(len(b), 16)])) {
		return digestOf("image", string(b))
	}
	return digestOf("bytes", string(b))
}

func digestOf(what, s string) map[string]any {
	sum := sha256.Sum256([]byte(s))
	return map[string]any{"redacted": what, "bytes": len(s), "sha256": hex.EncodeToString(sum[:])}
}

// secretNames are the parts of a key, in lower case and without separators, that name a secret.
var secretNames = regexp.MustCompile(`passw|passphrase|^pwd$|secret|token|authori[sz]ation|^auth$|cookie|apikey|accesskey|privatekey|sshkey|signingkey|credential|bearer|otp$|^pin$|sessionkey`)

func squeeze(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

func secretKey(key string) bool { return secretNames.MatchString(squeeze(key)) }

// countKey allows numbers of tokens: input_tokens, tokens, token_budget.
func countKey(key string) bool {
	k := squeeze(key)
	return strings.HasSuffix(k, "tokens") || strings.HasSuffix(k, "tokenbudget")
}

func pathKey(key string) bool {
	switch key {
	case "path", "dest", "dir", "root", "workspace", "config":
		return true
	}
	return false
}

// secretForms are texts that are credentials by their shape, wherever they stand.
var secretForms = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z ]*(PRIVATE KEY|CERTIFICATE)`,
	`(?i)\bbearer\s+[a-z0-9._~+/=-]{8,}`,
	`(?i)\b(passw(or)?d|pwd|secret|token|api[_-]?key|access[_-]?key|authorization)["']?\s*[=:]\s*["']?[^\s"']{3,}`,
	`\bgh[pousr]_[A-Za-z0-9]{16,}`, `\bgithub_pat_[A-Za-z0-9_]{16,}`, `\bglpat-[A-Za-z0-9_-]{16,}`,
	`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`, `\bxox[abeprs]-[A-Za-z0-9-]{10,}`, `\bnpm_[A-Za-z0-9]{20,}`, `\bhf_[A-Za-z0-9]{20,}`,
	`\b(AKIA|ASIA)[A-Z0-9]{16}\b`, `\bAIza[A-Za-z0-9_-]{30,}`, `\bya29\.[A-Za-z0-9_-]{16,}`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
	`(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@`,
	`\bssh-(rsa|ed25519|dss) AAAA`,
}, "|"))

// Secret reports whether a text holds what looks like a credential.
func Secret(s string) bool { return secretShape(s) }

func secretShape(s string) bool { return secretForms.MatchString(s) }

// image reports whether s begins as PNG, JPEG, GIF or WebP data, raw or Base64, or as a data URL.
func image(s string) bool {
	for _, p := range []string{"data:", "\x89PNG", "\xff\xd8\xff", "GIF8", "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP"
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{40,}={0,2}`)

// base64Shape finds a run of 40 or more Base64 characters that is no hex digest and no path: it mixes upper case, lower
// case and digits within one path component.
func base64Shape(s string) bool {
	for _, run := range base64Run.FindAllString(s, -1) {
		longest := ""
		for rest := run; rest != ""; {
			var part string
			part, rest, _ = strings.Cut(rest, "/")
			if len(part) > len(longest) {
				longest = part
			}
		}
		if path.IsAbs(run) && len(longest) < 40 {
			continue
		}
		if strings.ContainsFunc(longest, isUpper) && strings.ContainsFunc(longest, isLower) && strings.ContainsFunc(run, isDigit) {
			return true
		}
	}
	return false
}

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }
func isLower(r rune) bool { return r >= 'a' && r <= 'z' }
func isDigit(r rune) bool { return r >= '0' && r <= '9' }
