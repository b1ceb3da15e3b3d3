// Package auditor keeps the end of this process's audit chain and hands each record's line to the ledger before what it
// records goes on (LOG-03). Form, redaction and chain are core/audit's; storage is ports/ledger's.
package auditor

import (
	"context"
	"sync"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

// Auditor is one chain that grows. Safe for concurrent use.
type Auditor struct {
	mu  sync.Mutex
	log audit.Log
	to  ledger.Ledger
}

// New starts a chain. name is the instance; previous is the head of the chain that it follows, "" when there is none.
func New(to ledger.Ledger, name, previous string) *Auditor {
	return &Auditor{log: audit.Begin(name, previous), to: to}
}

// Record stores one record. On ledger.CodeFailed the chain is as it was, and what the record says must not go on.
func (a *Auditor) Record(r audit.Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	line, next := a.log.Next(r)
	// A cancelled Task is recorded too, so no caller's context is used.
	if err := a.to.Append(context.Background(), line); err != nil {
		return err
	}
	a.log = next
	return nil
}

// Head is the hash of the last record: what to keep elsewhere to see a cut tail.
func (a *Auditor) Head() (records uint64, hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.log.Head()
	return h.Seq, h.Hash
}
