package linux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// credentialAttacks look for secrets of the Broker and of its user.
func credentialAttacks() []attack {
	home := func(names ...string) func() error {
		return func() error {
			dirs := []string{"/root", os.Getenv("OWNERHOME"), os.Getenv("HOME"), out("."), "/proc/1/cwd", "/proc/self/root/root"}
			return anyOf(dirs, func(d string) error {
				return anyOf(names, func(n string) error { return read(filepath.Join(d, n)) })
			})
		}
	}
	keyctl := func(op, a, b uintptr) func() error { return call(250, 219, op, a, b, 0, 0) }
	connect := func(path string) func() error {
		return func() error {
			_, err := unixTo(path, syscall.SOCK_STREAM)
			return err
		}
	}
	return []attack{
		{name: "the Broker's environment is not inherited", req: "DENY-01", want: "ok", try: func() error {
			for _, kv := range os.Environ() {
				if strings.Contains(kv, "corpus-secret") {
					return errors.New(kv)
				}
			}
			return nil
		}},
		{name: "environ of every process", req: "DENY-01", want: "ok", try: func() error {
			files, _ := filepath.Glob("/proc/[0-9]*/environ")
			for _, f := range files {
				if b, _ := os.ReadFile(f); strings.Contains(string(b), "corpus-secret") {
					return errors.New(f)
				}
			}
			return nil
		}},
		{name: "command lines tell no secrets", req: "DENY-01", want: "ok", try: func() error {
			b, err := os.ReadFile("/proc/1/cmdline")
			if strings.Contains(string(b), "corpus-secret") {
				return fmt.Errorf("%q", b)
			}
			return err
		}},
		{name: "SSH keys", req: "DENY-01", try: home(".ssh/id_ed25519", ".ssh/id_rsa", ".ssh/config", ".ssh/known_hosts"), want: hidden + " EPERM"},
		{name: "netrc", req: "DENY-01", try: home(".netrc", ".git-credentials", ".config/git/credentials", ".gitconfig"), want: hidden + " EPERM"},
		{name: "cloud keys", req: "DENY-01", try: home(".aws/credentials", ".config/gcloud/credentials.db", ".azure/accessTokens.json", ".kube/config", ".docker/config.json"), want: hidden + " EPERM"},
		{name: "GPG keys", req: "DENY-01", try: home(".gnupg/pubring.kbx", ".gnupg/trustdb.gpg", ".local/share/keyrings/login.keyring"), want: hidden + " EPERM"},
		{name: "service tokens", req: "DENY-01", try: func() error {
			return anyOf(strings.Fields("/var/run/secrets/kubernetes.io/serviceaccount/token /run/secrets /etc/machine-id /etc/ssh/ssh_host_rsa_key /etc/krb5.keytab /etc/sudoers"),
				read)
		}, want: hidden},
		{name: "git credential helper", req: "DENY-01", want: "ok", try: func() error {
			git, err := exec.LookPath("git")
			if err != nil {
				return nil //nolint:nilerr // no helper to ask
			}
			cmd := exec.Command(git, "-c", "credential.helper=store", "credential", "fill")
			cmd.Env = []string{"HOME=" + os.Getenv("OWNERHOME"), "GIT_TERMINAL_PROMPT=0", "PATH=/usr/bin:/bin"}
			cmd.Stdin = strings.NewReader("protocol=https\nhost=corpus.example\n\n")
			if text, _ := cmd.Output(); strings.Contains(string(text), "corpus-secret") {
				return errors.New(string(text))
			}
			return nil
		}},
		{name: "an agent's socket in a root", req: "DENY-01", try: connect("agent.sock"), want: "EACCES"},
		{name: "an agent's socket outside", req: "DENY-01", try: func() error { return connect(out("agent.sock"))() }, want: "EACCES"},
		{name: "an agent's socket by its descriptor", req: "DENY-01", want: "EACCES", try: func() error {
			return withFile("agent.sock", oPath, func(fd int) error { return connect(fmt.Sprintf("/proc/self/fd/%d", fd))() })
		}},
		{name: "docker, dbus, display and name services", req: "DENY-01", want: "EACCES", try: func() error {
			return anyOf(strings.Fields("/var/run/docker.sock /run/dbus/system_bus_socket /run/user/1000/bus /tmp/.X11-unix/X0 /run/user/1000/wayland-0 /run/nscd/socket /run/systemd/private"),
				func(p string) error { return connect(p)() })
		}},
		{name: "an agent's socket opened as a file", req: "DENY-01", want: "ENXIO EACCES", try: func() error { return withFile("agent.sock", syscall.O_RDWR, func(int) error { return nil }) }},
		{name: "add_key", req: "DENY-01", try: call(248, 217, cstr("user"), cstr("k"), cstr("v"), 1, ^uintptr(2)), want: "EPERM"},
		{name: "request_key", req: "DENY-01", try: call(249, 218, cstr("user"), cstr("corpus"), 0, 0), want: "EPERM"},
		{name: "keyctl read the session", req: "DENY-01", try: keyctl(11, ^uintptr(2), 0), want: "EPERM"},
		{name: "keyctl read the user's keys", req: "DENY-01", try: keyctl(11, ^uintptr(3), 0), want: "EPERM"},
		{name: "keyctl search", req: "DENY-01", try: keyctl(10, ^uintptr(3), cstr("user")), want: "EPERM"},
		{name: "keyctl join a session", req: "DENY-01", try: keyctl(1, 0, 0), want: "EPERM"},
		{name: "keyctl link the parent's", req: "DENY-01", try: keyctl(18, 0, 0), want: "EPERM"},
		{name: "keyctl with high bits", req: "DENY-01", try: keyctl(1<<32|11, ^uintptr(2), 0), want: "EPERM"},
		{name: "standard input is not the Broker's", req: "DENY-01", want: "ok", try: func() error {
			target, err := os.Readlink("/proc/self/fd/0")
			if target != "/dev/null" {
				return errors.New(target)
			}
			return err
		}},
		{name: "accounts of the host", req: "DENY-01", want: "ok", try: func() error {
			b, err := os.ReadFile("/etc/passwd")
			if strings.Count(string(b), "\n") != 1 || !strings.HasPrefix(string(b), "agent:") {
				return fmt.Errorf("%s", b)
			}
			return err
		}},
		{name: "resolver of the host", req: "NET-01", try: func() error { return read("/etc/resolv.conf") }, want: hidden},
	}
}
