package linux

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// briefThreads makes threads that end at once, each of them waited for, from several threads.
const briefThreads = `exec /usr/bin/python3 -c '
import ctypes, threading, sys
c = ctypes.CDLL(None)
c.getppid.restype = ctypes.c_void_p
failed = []
def many(n):
    for _ in range(n):
        t = ctypes.c_ulong()
        e = c.pthread_create(ctypes.byref(t), None, c.getppid, None)
        if e:
            failed.append(e)
            return
        c.pthread_join(t, None)
many(2000)
all = [threading.Thread(target=many, args=(500,)) for _ in range(8)]
[t.start() for t in all]; [t.join() for t in all]
print(failed or "all made")'`

// standingThreads makes many threads at once that stay, and forks while they do.
const standingThreads = `exec /usr/bin/python3 -c '
import os, threading, time
stop = threading.Event()
made = []
def stay(): made.append(1); stop.wait()
def fork():
    until = time.time() + 10
    while True:
        try: return os.fork()
        except BlockingIOError:
            if time.time() > until: raise
            time.sleep(0.01)
pids = []
all = []
for i in range(7):
    for _ in range(40):
        t = threading.Thread(target=stay, daemon=True); t.start(); all.append(t)
    time.sleep(0.1)
    pid = fork()
    if pid == 0:
        time.sleep(0.5); os._exit(0)
    pids.append(pid)
while len(made) < 280: time.sleep(0.01)
stop.set(); [t.join() for t in all]
print([os.waitpid(p, 0)[1] for p in pids])'`

// RES-01: threads that stay take no process's place, however fast they are made: here all of the limit is used,
// where a fork may be refused that a moment later is not.
func TestSandbox_StandingThreads(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, _ sandbox.Level) {
		spec := shellSpec(t, host{}.TempDir(t), standingThreads)
		spec.Limits.Processes, spec.Limits.WallClock = 8, time.Minute
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, "[0, 0, 0, 0, 0, 0, 0]\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
	})
}

// RES-01: one process, whose threads alone are many, at its limit.
func TestSandbox_ThreadsOfTheOnlyProcess(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, _ sandbox.Level) {
		spec := shellSpec(t, host{}.TempDir(t), `exec /usr/bin/python3 -c '
import threading
stop = threading.Event()
all = [threading.Thread(target=stop.wait) for _ in range(50)]
[t.start() for t in all]; stop.set(); [t.join() for t in all]; print("all made")'`)
		spec.Limits.Processes = 1
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, "all made\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
	})
}

// RES-01: threads that are over before anybody has seen them take no place for long.
func TestSandbox_BriefThreads(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, _ sandbox.Level) {
		spec := shellSpec(t, host{}.TempDir(t), briefThreads)
		spec.Limits.Processes, spec.Limits.WallClock = 8, 2*time.Minute
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, "all made\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
	})
}
