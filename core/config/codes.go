package config

import "github.com/agent-mcp/agent-mcp/ports/fault"

// Codes of validation. All but the first three carry `key` (dotted path, list items as [n] from 0) and `place`
// (file:line), and arrive as Reasons of CodeInvalid.
const (
	CodeInvalid      fault.Code = "config.invalid"       // args: path, count; Reasons: every problem, in the files' order
	CodeMigrate      fault.Code = "config.migrate"       // args: path, found, example — schema 1 or an older shape (CFG-01)
	CodeNewerVersion fault.Code = "config.newer_version" // args: path, place, version

	CodeNoVersion    fault.Code = "config.no_version"  // schema_version is missing in a file that has no older shape
	CodeBadVersion   fault.Code = "config.bad_version" // args: value — no number that any version ever had
	CodeClient       fault.Code = "config.client"      // an MCP client's configuration; alone when nothing else is there
	CodeRequired     fault.Code = "config.required"
	CodeNull         fault.Code = "config.null"              // a required path is null, perhaps written as a bare ~
	CodeNoStateHome  fault.Code = "config.no_state_home"     // args: variable — not set, so state_dir has no default
	CodeUnknownKey   fault.Code = "config.unknown_key"       // args: nearest
	CodeUnknownPlain fault.Code = "config.unknown_key_plain" // no known key is near
	CodeWantMap      fault.Code = "config.want_map"          // args: value
	CodeWantList     fault.Code = "config.want_list"         // args: value
	CodeWantText     fault.Code = "config.want_text"         // args: value
	CodeWantBool     fault.Code = "config.want_bool"         // args: value
	CodeWantInteger  fault.Code = "config.want_integer"      // args: value
	CodeWantNumber   fault.Code = "config.want_number"       // args: value
	CodeWantDuration fault.Code = "config.want_duration"     // args: value
	CodeRange        fault.Code = "config.out_of_range"      // args: value, min, max
	CodeChoice       fault.Code = "config.choice"            // args: value, choices
	CodeBadTag       fault.Code = "config.bad_tag"           // args: value
	CodeBadURL       fault.Code = "config.bad_url"           // args: value
	CodeBadURLPath   fault.Code = "config.bad_url_path"      // args: value
	CodeBadListen    fault.Code = "config.bad_listen"        // args: value — no host:port
	CodeNotLoopback  fault.Code = "config.not_loopback"      // args: value
	CodeFinite       fault.Code = "config.not_finite"        // args: value — NaN or an infinity
	CodeBadKeepAlive fault.Code = "config.bad_keep_alive"    // args: value
	CodeBadPath      fault.Code = "config.bad_path"          // args: value — NUL or another control character
	CodeNoHome       fault.Code = "config.no_home"           // args: value — `~` without a home directory, or ~user
	CodeNoVariable   fault.Code = "config.no_variable"       // args: value, name — %NAME% is not set
	CodeOverflow     fault.Code = "config.list_too_long"     // args: count, max
	CodeBackoffOrder fault.Code = "config.backoff_order"     // args: value, min
	CodeImageOrder   fault.Code = "config.image_order"       // args: value, min
	CodeBadName      fault.Code = "config.bad_name"          // args: value — characters or length
	CodeBadCache     fault.Code = "config.bad_cache"         // args: value — characters or length
	CodeReservedName fault.Code = "config.reserved_name"     // args: value
	CodeSameName     fault.Code = "config.same_name"         // args: value, first — two mounts of one name
	CodeSameAlias    fault.Code = "config.same_alias"        // args: value, first — two entries of one alias
	CodeNeedsList    fault.Code = "config.endpoints_empty"   // args: mode — NET-04
	CodeNeedsNoList  fault.Code = "config.endpoints_unused"  // endpoints given while the mode is none (NET-04)
	CodeBadPort      fault.Code = "config.bad_port"          // args: value
	CodeBadEndpoint  fault.Code = "config.bad_endpoint"      // args: value — not one host:port
	CodeLocalHost    fault.Code = "config.endpoint_local"    // args: value — an address in restricted that sandbox.MayReach never lets through
	CodeSameEndpoint fault.Code = "config.same_endpoint"     // args: value
)

// Codes of warnings: the configuration is usable, the owner should know. Args as above.
const (
	WarnExtraKnown fault.Code = "config.extra_known"  // extra_options names a known option, which loses (OLL-05)
	WarnExtraNear  fault.Code = "config.extra_near"   // args: known — extra_options names what is a known option but for a slip
	WarnCloud      fault.Code = "config.cloud_model"  // args: model — prompts leave the machine through the local server
	WarnRemote     fault.Code = "config.remote_model" // args: url — the Ollama server is on another machine
	WarnNoEntries  fault.Code = "config.no_entries"   // nothing can be started
)
