package wire

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// CodeListen means that an address cannot be listened on; args: address, detail.
const CodeListen fault.Code = "server.listen"

// listen opens every address of mcp.http.listen. One that this machine does not have, as ::1 where IPv6 is off, is passed over
// with a warning as long as another one is there.
func (s *server) listen() (all []net.Listener, err error) {
	var missing []*fault.Error
	for _, address := range s.eff.Config.MCP.HTTP.Listen {
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		l, err := net.Listen(network, address)
		if err == nil {
			all = append(all, l)
			continue
		}
		f := fault.Wrap(err, CodeListen, "address", address, "detail", reason(err))
		if !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT) {
			for _, l := range all {
				_ = l.Close()
			}
			return nil, f
		}
		missing = append(missing, f)
	}
	if len(all) == 0 {
		return nil, missing[0]
	}
	s.warnings(missing)
	for _, l := range all {
		s.endpoints = append(s.endpoints, s.eff.Config.MCP.HTTP.URL(l.Addr().String()))
	}
	return all, nil
}

// ready is called once the loop really serves (OBS-02).
func (s *server) ready() {
	about := map[string]any{"protocol": "stdio", "pid": os.Getpid(), "log": s.trace.AppLog()}
	if len(s.endpoints) == 0 {
		s.say(keyReady, about)
		return
	}
	about["endpoints"], about["protocol"] = strings.Join(s.endpoints, ", "), "2026-07-28"
	s.say(keyReadyHTTP, about)
}
