package windows

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
)

// Options of a Sandbox. The zero value is right for a Broker.
type Options struct {
	// Scratch is the directory in which temporary directories of runs are made; it exists, or can be made. Default: one in the
	// user's own. UseScratch sets it later.
	Scratch string
	// Resolver finds the addresses of the names of network restricted before a program starts. Default net.DefaultResolver.
	Resolver Resolver
	// Own are this machine's addresses, which are never reached. Default: those of its interfaces.
	Own func() ([]netip.Addr, error)
}

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

func (o Options) withDefaults() Options {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Own == nil {
		o.Own = ownAddresses
	}
	if o.Scratch == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			o.Scratch = filepath.Join(dir, "agent-mcp", "runs")
		}
	}
	return o
}

func ownAddresses() (out []netip.Addr, err error) {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, addr.Unmap())
			}
		}
	}
	return out, err
}
