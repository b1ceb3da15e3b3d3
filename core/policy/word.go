package policy

import (
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// What people read of rights and operations.
const (
	keyRead    text.Key = "right.read"
	keyWrite   text.Key = "right.write"
	keyExecute text.Key = "right.execute"
	keyDelete  text.Key = "right.delete"
	keyNothing text.Key = "right.nothing"

	keyOpRead     text.Key = "op.read"
	keyOpList     text.Key = "op.list"
	keyOpWrite    text.Key = "op.write"
	keyOpMkdir    text.Key = "op.mkdir"
	keyOpDelete   text.Key = "op.delete"
	keyOpRmdir    text.Key = "op.rmdir"
	keyOpMove     text.Key = "op.move"
	keyOpMoveFrom text.Key = "op.move_from"
	keyOpExecute  text.Key = "op.execute"
	keyOpConnect  text.Key = "op.connect"
)

// Word is the operation as an argument of a text.
func (o Op) Word() text.Word {
	keys := map[Op]text.Key{
		OpRead: keyOpRead, OpList: keyOpList, OpWrite: keyOpWrite, OpMkdir: keyOpMkdir, OpDelete: keyOpDelete, OpRmdir: keyOpRmdir,
		OpMove: keyOpMove, OpMoveFrom: keyOpMoveFrom, OpExecute: keyOpExecute, OpConnect: keyOpConnect,
	}
	return text.Word{Plain: o.String(), Key: keys[o]}
}

// Words are rights as the configuration calls them, and as people read them: "read, write"; "nothing" when empty.
func Words(s rights.Set) text.Words {
	var out text.Words
	for _, w := range []struct {
		right rights.Set
		word  text.Word
	}{
		{rights.Read, text.Word{Plain: "read", Key: keyRead}},
		{rights.Write, text.Word{Plain: "write", Key: keyWrite}},
		{rights.Execute, text.Word{Plain: "execute", Key: keyExecute}},
		{rights.Delete, text.Word{Plain: "delete", Key: keyDelete}},
	} {
		if s.Has(w.right) {
			out = append(out, w.word)
		}
	}
	if out == nil {
		out = text.Words{{Plain: "nothing", Key: keyNothing}}
	}
	return out
}
