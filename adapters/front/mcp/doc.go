// Package mcp is the MCP server: the tools agent_run and agent_status over stdio, for clients of protocol 2026-07-28
// (server/discover, per-request _meta) and for clients that initialize (spec sections 2 and 9, design/mcp.md).
//
// One core serves every transport:
//
//	parse (internal/wire) → era → prechecks → tasks | listen | mcp-go HandleMessage → fix-up
//
// mcp-go describes the tools and answers discover, initialize and tools/list; a tool is called here. It is only ever given
// a message that this package built, never a client's bytes, so its lenient decoding, its handling of ids and its lack of
// limits reach nobody. Arguments are decoded here, strictly, and travel in the context.
//
// What it never does: decide about a Task (ports/service.Runner does), log to a global logger, write anything but MCP to
// the output, return a Task result (the Tasks extension joins at the tasks interface in seam.go).
//
// Duties of the caller (main): ignore SIGPIPE, so that a client that closed our stdout is an EPIPE and with it an
// ordinary end; hand the real stdout to ServeStdio and to nobody else; keep the child processes' stdin and stdout apart.
//
// Decisions:
//   - An image is Base64 (standard or URL alphabet, with or without padding); a "data:…;base64," prefix, which many
//     clients send, is dropped. The kind of image is judged by the Runner from the bytes, never from that prefix.
//   - An optional argument that is null counts as absent. Unknown, repeated and ill-typed arguments are results with
//     isError, each named.
//   - A client that cancels agent_run before its answer was sent could never learn the Task's id, so that Task is cancelled.
//   - A request without any of the four io.modelcontextprotocol/ keys of 2026-07-28 in _meta is served as a legacy one,
//     except for methods that only 2026-07-28 has.
package mcp
