package faulty

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Model wraps a model; call "model.chat". Short lets the inner call run and then loses its reply.
func Model(inner model.Model, s *Script) model.Model { return faultyModel{inner, s} }

type faultyModel struct {
	model.Model
	s *Script
}

func (m faultyModel) Chat(ctx context.Context, req model.Request, onChunk func(model.Chunk)) (reply model.Reply, err error) {
	do := func() (err error) { reply, err = m.Model.Chat(ctx, req, onChunk); return err }
	if err = m.s.call(ctx, "model.chat", do, do); err != nil {
		reply = model.Reply{}
	}
	return reply, err
}

// Sandbox wraps a sandbox; calls "sandbox.preflight", "sandbox.run". After is the worst case: the command ran and nobody
// learns its result.
func Sandbox(inner sandbox.Sandbox, s *Script) sandbox.Sandbox { return faultySandbox{inner, s} }

type faultySandbox struct {
	sandbox.Sandbox
	s *Script
}

func (f faultySandbox) Preflight(ctx context.Context) (rep sandbox.Report, err error) {
	err = f.s.call(ctx, "sandbox.preflight", func() (err error) { rep, err = f.Sandbox.Preflight(ctx); return err }, nil)
	return rep, err
}

func (f faultySandbox) Run(ctx context.Context, spec sandbox.Spec) (res sandbox.Result, err error) {
	err = f.s.call(ctx, "sandbox.run", func() (err error) { res, err = f.Sandbox.Run(ctx, spec); return err }, nil)
	if err != nil {
		res = sandbox.Result{}
	}
	return res, err
}

// Scratch wraps a scratch store; calls "scratch.keep" (Short: half of the data is kept under a name nobody learns),
// "scratch.load", "scratch.drop".
func Scratch(inner workspace.Scratch, s *Script) workspace.Scratch { return faultyScratch{inner, s} }

type faultyScratch struct {
	inner workspace.Scratch
	s     *Script
}

func (f faultyScratch) Keep(ctx context.Context, data []byte) (name string, err error) {
	err = f.s.call(ctx, "scratch.keep",
		func() (err error) { name, err = f.inner.Keep(ctx, data); return err },
		func() error { _, err := f.inner.Keep(ctx, data[:len(data)/2]); return err })
	if err != nil {
		name = ""
	}
	return name, err
}

func (f faultyScratch) Load(ctx context.Context, name string) (data []byte, err error) {
	err = f.s.call(ctx, "scratch.load", func() (err error) { data, err = f.inner.Load(ctx, name); return err }, nil)
	return data, err
}

func (f faultyScratch) Drop(ctx context.Context, name string) error {
	return f.s.call(ctx, "scratch.drop", func() error { return f.inner.Drop(ctx, name) }, nil)
}
