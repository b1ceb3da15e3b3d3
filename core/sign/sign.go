// Package sign verifies and makes Signed Documents: MissionWeave section 6.4, by the profile
// missionweaveprotocol.signed-document-verification.v0.1. It is the ground of Commands, Events and of every record or lease
// that one party signs and another one trusts.
//
// Verify runs the six stages in their order and stops at the first that fails:
//
//	1 parse               exactly one strict JSON value             RFC 8259, RFC 7493, D1
//	2 schema              the profile's schema, formats asserted   
//	3 signature-envelope  time text, signer rule, R and S          
//	4 key-resolution      the whole registry, then the one key     , D5
//	5 canonicalization    the bytes of RFC 8785                    , D7
//	6 signature           the equation of RFC 8032                 
//
// A verified document is authentic. It is neither admitted (core/admission) nor authorised: whoever uses this
// package decides those after it. Nothing here reads a clock, a file or a network, and nothing is repaired: no time is
// normalised, no encoding is made canonical, no scalar is reduced.
//
// On the wire a failure is its Wire code alone; its stage and reason are for the Organization's protected audit.
package sign

import (
	"errors"

	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Stage of verification.
type Stage uint8

// Stages in their order. Admission is no stage of cryptography; it is here because failures name it.
const (
	Parse Stage = iota + 1
	Schema
	Envelope
	Resolution
	Canonicalization
	Signature
	Complete
	Admission
)

// String is the stage's name in the profile.
func (s Stage) String() string {
	switch s {
	case Parse:
		return "parse"
	case Schema:
		return "schema"
	case Envelope:
		return "signature-envelope"
	case Resolution:
		return "key-resolution"
	case Canonicalization:
		return "canonicalization"
	case Signature:
		return "signature"
	case Complete:
		return "complete"
	case Admission:
		return "admission"
	}
	return "none"
}

// Wire is what the other side is told.
type Wire string

// Wire codes.
const (
	ProtocolViolation Wire = "PROTOCOL_VIOLATION"
	SchemaFailed      Wire = "SCHEMA_VALIDATION_FAILED"
	InvalidSignature  Wire = "AUTH_INVALID_SIGNATURE"
)

// Wire is the code of a failure at this stage.
func (s Stage) Wire() Wire {
	switch s {
	case Parse, Canonicalization:
		return ProtocolViolation
	case Schema:
		return SchemaFailed
	}
	return InvalidSignature
}

// Failure is why a document is not verified: the first stage that failed and its reason. Neither goes to the sender.
type Failure struct {
	Stage  Stage
	Reason *fault.Error
}

// Wire is what the sender is told.
func (f *Failure) Wire() Wire { return f.Stage.Wire() }

// Error implements error, for developers.
func (f *Failure) Error() string { return "sign: stage " + f.Stage.String() + ": " + f.Reason.Error() }

// Unwrap gives the reason, which has the text for people.
func (f *Failure) Unwrap() error { return f.Reason }

// FailureOf finds the Failure in an error, nil when there is none.
func FailureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}

func failed(s Stage, reason error) *Failure { return &Failure{s, fault.From(reason)} }

// Principal is who signs: type "agent", "human" or "service", and an identifier that is compared byte for byte.
type Principal struct{ Type, ID string }

// Types of principals.
const (
	Agent   = "agent"
	Human   = "human"
	Service = "service"
)

// Algorithm is the only one of protocol version 0.1: pure Ed25519.
const Algorithm = "Ed25519"

// Interval is when a key was valid: from From until before Until and Revoked.
type Interval struct {
	From           stamp.Instant
	Until, Revoked *stamp.Instant // nil = never; the earliest ever recorded
}

// Contains reports whether the key was valid at that instant. Equality with an end is outside.
func (v Interval) Contains(at stamp.Instant) bool {
	return v.From.Compare(at) <= 0 && (v.Until == nil || at.Compare(*v.Until) < 0) && (v.Revoked == nil || at.Compare(*v.Revoked) < 0)
}

// Verified is what is known of a document after the six stages.
type Verified struct {
	Profile      Profile
	Organization string
	KeyID        string
	Principal    Principal
	Time         string // protected signed time, as it is written
	Hash         string // signing hash: "sha256:" and 64 lower-case hexadecimal digits
	Interval     Interval
}
