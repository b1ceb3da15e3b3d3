package windows

import "github.com/agent-mcp/agent-mcp/ports/fault"

// Codes of what only Windows has. Preflight's say with their hints how to help.
const (
	CodeNotAdministrator fault.Code = "sandbox.not_administrator"
	CodeOldWindows       fault.Code = "sandbox.old_windows"     // args: have, want (build numbers)
	CodeFilterService    fault.Code = "sandbox.filter_service"  // args: state — the Base Filtering Engine does not run
	CodeFirewall         fault.Code = "sandbox.firewall"        // args: step, detail — filters cannot be added or deleted
	CodeProfile          fault.Code = "sandbox.profile"         // args: profile, detail — it cannot be made, or is another's
	CodeProbe            fault.Code = "sandbox.probe"           // args: step, detail — a confined program does not start
	CodeNotConfined      fault.Code = "sandbox.not_confined"    // args: detail — the program's token is not what was asked for; it was ended
	CodeRootKind         fault.Code = "sandbox.root_kind"       // args: path, kind — rights cannot be given there
	CodeGrant            fault.Code = "sandbox.grant"           // args: path, owner — its list of rights may not be changed
	CodeForeignGrant     fault.Code = "sandbox.foreign_grant"   // args: path, have, sid — more than the policy gives, and not by us
	CodeStoreApp         fault.Code = "sandbox.store_app"       // args: path
	CodeResource         fault.Code = "sandbox.resource"        // args: step, detail — a call failed; nothing ran
	CodeLeft             fault.Code = "sandbox.left"            // args: step, detail — what a run needed could not be taken back
	NotePowerShell       fault.Code = "sandbox.note_powershell" // Windows PowerShell 5.1 needs COM
	NoteResolver         fault.Code = "sandbox.note_resolver"   // names are asked of the system's resolver
	NoteFlows            fault.Code = "sandbox.note_flows"      // connections are neither counted nor reported
	NoteLoopback         fault.Code = "sandbox.note_loopback"   // no loopback of its own under none
	NoteAncestors        fault.Code = "sandbox.note_ancestors"  // names and times of directories above a root
)
