package sign

import (
	"github.com/agent-mcp/agent-mcp/core/canon"
)

// Profile is a kind of Signed Document. Its name is also that of its schema and of documentKind in admission records.
type Profile string

// The nine profiles (section 6.4). No other document of the protocol is signed.
const (
	AgentCard        Profile = "agent-card"
	Approval         Profile = "approval"
	Artifact         Profile = "artifact"
	Command          Profile = "command"
	ContextPackage   Profile = "context-package"
	Event            Profile = "event"
	Evidence         Profile = "evidence"
	ExtensionProfile Profile = "extension-profile"
	GroupSnapshot    Profile = "group-snapshot"
)

// Profiles are all of them, in order.
func Profiles() []Profile {
	return []Profile{AgentCard, Approval, Artifact, Command, ContextPackage, Event, Evidence, ExtensionProfile, GroupSnapshot}
}

// layout says where a profile keeps what verification needs: the member of the protected time, the member that names the
// signer, and one that no other profile requires.
type layout struct{ time, by, mark string }

func (p Profile) layout() (layout, bool) {
	switch p {
	case AgentCard:
		return layout{"issuedAt", "", "cardVersion"}, true
	case Approval:
		return layout{"occurredAt", "approver", "approvalId"}, true
	case Artifact:
		return layout{"createdAt", "producer", "artifactId"}, true
	case Command:
		return layout{"issuedAt", "actor", "actionId"}, true
	case ContextPackage:
		return layout{"generatedAt", "generatedBy", "contextPackageId"}, true
	case Event:
		return layout{"occurredAt", "acceptedBy", "eventId"}, true
	case Evidence:
		return layout{"createdAt", "generatedBy", "evidenceId"}, true
	case ExtensionProfile:
		return layout{"approvedAt", "approvedBy", "profileUri"}, true
	case GroupSnapshot:
		return layout{"createdAt", "createdBy", "snapshotId"}, true
	}
	return layout{}, false
}

// TimeMember is the name of the top-level member that holds the protected signed time, "" for no profile.
func (p Profile) TimeMember() string {
	l, _ := p.layout()
	return l.time
}

// Detect finds the one profile whose own member a document has; ok is false for none or several. It is a help for people who
// did not say what they have: whoever receives documents knows their profile from where they arrive.
func Detect(d *canon.Doc) (p Profile, ok bool) {
	for _, candidate := range Profiles() {
		l, _ := candidate.layout()
		if _, has := d.Member(canon.Root, l.mark); has {
			if ok {
				return "", false
			}
			p, ok = candidate, true
		}
	}
	return p, ok
}

// signer reads the principal that a document says signs it. anyone is true for an Agent Card, which names none: any service of
// the Organization may sign one. ok is false when the members are not there, which the schema excludes.
func (l layout) signer(p Profile, d *canon.Doc) (kind, id []byte, anyone, ok bool) {
	if p == AgentCard {
		return nil, nil, true, true
	}
	at, ok := d.Member(canon.Root, l.by)
	if !ok {
		return nil, nil, false, false
	}
	if p == Artifact {
		id, ok = text(d, at, "agentId")
		return []byte(Agent), id, false, ok
	}
	kind, ok = text(d, at, "type")
	if ok {
		id, ok = text(d, at, "id")
	}
	return kind, id, false, ok
}

// text is a member that is a string.
func text(d *canon.Doc, n int, name string) ([]byte, bool) {
	at, ok := d.Member(n, name)
	if !ok || d.Kind(at) != canon.String {
		return nil, false
	}
	return d.Text(at), true
}
