// Package config gives raw configuration layers their meaning: schema version 2 with defaults, the merge of the local
// file over the base file, and a validation that collects every problem with its key and its place (spec sections 8 and
// 9, agent.yaml schema). It never reads a file or the environment: layers and the host's facts arrive as values, and a
// path stays what the owner wrote, made absolute; resolving it is somebody else's job (FS-02).
package config

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// SchemaVersion is the only schema this package reads (CFG-01).
const SchemaVersion = 2

// Config is one whole validated configuration. Every path in it is absolute and clean, and not resolved through
// symlinks; "" means "not set" where the comment says so. Sizes are bytes.
type Config struct {
	Path        string // the base file, absolute
	Dir         string // its directory: what relative paths are relative to (CFG-03)
	Fingerprint string // lower-case hex SHA-256 over the bytes of all layers (CFG-05)

	Application Application
	MCP         MCP
	Ollama      Ollama
	Agent       Agent
	Skills      Skills
	Sandbox     Sandbox
	Logging     Logging
}

// Application is `application`.
type Application struct {
	Language   string // BCP 47 tag; default "en"
	LocalesDir string // extra *.json locales; "" = locales/ beside the executable, then the built-in ones
	StateDir   string // never empty; default $XDG_STATE_HOME/agent-mcp, ~/.local/state/agent-mcp, %LOCALAPPDATA%\agent-mcp
}

// Transports of `mcp.transport`.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
)

// MCP is `mcp`.
type MCP struct {
	Transport string // "stdio" (default) or "http"
	HTTP      HTTP
	Tasks     Tasks
	MaxQueued int // Tasks accepted while one runs; 0..10000, default 64
}

// Endpoints are the URLs that clients connect to; none over stdio.
func (m MCP) Endpoints() (all []string) {
	if m.Transport == TransportHTTP {
		for _, at := range m.HTTP.Listen {
			all = append(all, m.HTTP.URL(at))
		}
	}
	return all
}

// URL is the endpoint at one address.
func (h HTTP) URL(at string) string { return "http://" + at + h.Path }

// HTTP is `mcp.http`.
type HTTP struct {
	Listen       []string // 127.0.0.1 or [::1] with a port (MCP-TR-02); default 127.0.0.1:8765 and [::1]:8765
	Path         string   // URL path, starts with "/"; default "/mcp"
	MaxBodyBytes int64    // 1 KiB..1 GiB, default 32 MiB
}

// Tasks is `mcp.tasks` (MCP-2026-07).
type Tasks struct {
	TTL          time.Duration // 1m..720h, default 24h
	PollInterval time.Duration // 100ms..5m, default 2s
	MaxKept      int           // 1..1000000, default 1000
}

// Ollama is `ollama`.
type Ollama struct {
	BaseURL           string        // http or https, no user, query or fragment; default http://127.0.0.1:11434
	Model             string        // required
	Think             model.Think   // unset = server default (OLL-14)
	KeepAlive         string        // duration, or seconds as an integer (-1 = for ever); default "5m"
	ConnectTimeout    time.Duration // 100ms..5m, default 5s
	FirstChunkTimeout time.Duration // 1s..24h, default 10m
	IdleTimeout       time.Duration // 1s..24h, default 2m
	Retry             Retry
	Options           model.Options // known options, range-checked; Extra holds extra_options without known names (OLL-05)
}

// Retry is `ollama.retry` (OLL-12, REC-01).
type Retry struct {
	Attempts   int           // retries after the first call; 0..20, default 3
	Backoff    time.Duration // first pause; 1ms..5m, default 500ms
	MaxBackoff time.Duration // Backoff..1h, default 10s
}

// Agent is `agent`.
type Agent struct {
	UserSystemPrompt string  // path of a Markdown file; "" = none
	MaxIterations    int     // 1..10000, default 128 (AGT-02)
	MaxTasks         int     // Planner Tasks; 1..1000, default 32 (PLN-02)
	SameFailureLimit int     // 1..100, default 5 (AGT-03)
	MaxReplans       int     // 0..100, default 3 (AGT-08)
	SummarizeAt      float64 // share of num_ctx; 0.3..0.95, default 0.8 (SES-05)
	ToolOutput       ToolOutput
	Edit             Edit
	Vision           Vision
}

// ToolOutput is `agent.tool_output` (AGT-09).
type ToolOutput struct {
	ReadBytes     int // 1 KiB..16 MiB, default 64 KiB
	SearchMatches int // 1..100000, default 200
	TailLines     int // 1..100000, default 400
	ProcessBytes  int // of each stream; 1 KiB..16 MiB, default 64 KiB
}

// Edit is `agent.edit` (EDT-01).
type Edit struct {
	MemoryBackupBytes int64 // larger old contents go to scratch; 0..1 GiB, default 8 MiB
}

// Vision is `agent.vision` (OLL-09).
type Vision struct {
	MaxImages     int   // 0..64, default 4
	MaxImageBytes int64 // each; 1..100 MiB, default 5 MiB
	MaxTotalBytes int64 // MaxImageBytes..1 GiB, default 10 MiB
}

// Skills is `skills`.
type Skills struct {
	Directories []string // each holds <name>/SKILL.md
}

// Profiles of `sandbox.profile` (FS-08).
const (
	ProfileReadonly    = "readonly"
	ProfileDevelopment = "development"
)

// Accesses of a mount (FS-09).
const (
	AccessReadOnly        = "read_only"
	AccessReadWrite       = "read_write"
	AccessReadWriteDelete = "read_write_delete"
)

// Sandbox is `sandbox`: the User Sandbox Configuration.
type Sandbox struct {
	Profile   string  // "development" (default) or "readonly"
	Workspace string  // required
	Mounts    []Mount // in the file's order
	Entries   []Entry // in the file's order; `sandbox.execution.entries`
	Network   Network
	Resources Resources
	Require   sandbox.Strength // least enforcement for memory and process count; Approximate (default) or Exact

	// Cache names a directory of this workspace that programs keep between Tasks; 1..32 of a-z 0-9 -, "" = none.
	Cache string
}

// Mount is one record of `sandbox.mounts`; never executable.
type Mount struct {
	Name   string // 1..64 of a-z 0-9 - _ .; unique
	Path   string
	Access string // one of the Access constants; required
	Place  string // file:line of the record
}

// Entry is one record of `sandbox.execution.entries` (CFG-04).
type Entry struct {
	Alias       string // 1..64 of a-z 0-9 - _ . +; unique
	Path        string
	RuntimeRoot string // "" = none
	Place       string // file:line of the record
}

// Network is `sandbox.network` (NET-01..04).
type Network struct {
	Mode  sandbox.NetworkMode // default none
	Ports []uint16            // mode local, ascending
	Hosts []string            // mode restricted, "host:port" in lower case, sorted
}

// Resources is `sandbox.resources`: the profile's numbers with the overrides already in them (RES-01).
type Resources struct {
	Profile   string        // constrained 1024/4/300s, normal 4096/16/1800s (default), extended 8192/32/3600s
	MemoryMiB int           // 1..16777216
	Processes int           // 1..1000000
	Timeout   time.Duration // 1s..168h
}

// Logging is `logging`.
type Logging struct {
	Level        string // debug, info (default), warn, error
	Dir          string // never empty; default StateDir/logs
	MaxFileBytes int64  // 64 KiB..1 TiB, default 20 MiB
	MaxFiles     int    // 1..1000, default 5
	LLM          bool   // the LLM log; default true
	HTTP         bool   // the HTTP request log; default true
}

// Host is what the configuration needs to know about the machine. The caller collects it once.
type Host struct {
	Home         string            // "" = unknown: then `~` is a problem
	StateHome    string            // $XDG_STATE_HOME, "" = unset
	LocalAppData string            // %LOCALAPPDATA% on Windows
	Windows      bool              // %NAME% is expanded, and the default state_dir is LocalAppData's
	Env          map[string]string // for %NAME% on Windows, names in upper case
}
