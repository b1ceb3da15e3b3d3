package policy

import (
	"slices"
	"strings"
)

// Denied is a place no root may touch: not be, hold or lie in it (DENY-01).
type Denied struct {
	Path string // canonical
	What string // stable word for messages: "credentials", "devices", "kernel", "runtime sockets", "state"
}

// State is what Denied calls the agent's own files.
const State = "state"

// DeniedPlaces lists the places of DENY-01 for the given home directories: credential stores, SSH keys, tokens, devices,
// kernel interfaces, and the sockets of other programs. They are refused whether they exist or not. The caller adds the
// agent's own state, logs and configuration.
//
// The rule is about roots: a root that overlaps one is refused when the policy is built. Below a root every name is
// judged by the root's rights alone, since the sandbox can give no other verdict; credentials kept inside a workspace are
// the owner's decision.
func DeniedPlaces(style Style, homes ...string) []Denied {
	sep := string(style.separator())
	var out []Denied
	if sep == "/" {
		for what, paths := range map[string][]string{
			"devices":     {"/dev"},
			"kernel":      {"/proc", "/sys", "/boot"},
			"sockets":     {"/run", "/var/run"},
			"credentials": {"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/krb5.keytab"},
		} {
			for _, path := range paths {
				out = append(out, Denied{path, what})
			}
		}
		slices.SortFunc(out, func(a, b Denied) int { return strings.Compare(a.Path, b.Path) })
	}
	for _, home := range homes {
		if !style.canonical(home) || home == "/" {
			continue
		}
		for _, rel := range homeSecrets() {
			out = append(out, Denied{home + sep + strings.ReplaceAll(rel, "/", sep), "credentials"})
		}
	}
	return out
}

// homeSecrets are places below a home directory.
func homeSecrets() []string {
	return []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".password-store", ".pki", ".vault-token",
		".netrc", ".git-credentials", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".cargo/credentials.toml",
		".config/gcloud", ".config/gh", ".config/op", ".config/rclone", ".local/share/keyrings", ".local/share/kwalletd",
		".mozilla", ".config/google-chrome", ".config/chromium", ".thunderbird",
		"AppData/Local/Microsoft/Credentials", "AppData/Roaming/Microsoft/Credentials", "AppData/Roaming/Microsoft/Protect",
	}
}

// secretName reports whether a directory of this name is a credential store wherever it lies.
func secretName(c string) bool {
	switch strings.ToLower(c) {
	case ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", "keyrings", ".vault-token":
		return true
	}
	return false
}
