package windows

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func codes(faults []*fault.Error) (out []fault.Code) {
	for _, f := range faults {
		out = append(out, f.Code)
	}
	return out
}

// OBS-01: each thing that is missing is named, those that follow from another are not.
func TestPreflight_NamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(w *world)
		want []fault.Code
	}{
		{"nothing", func(*world) {}, nil},
		{"administrator", func(w *world) { w.self.Admin = false }, []fault.Code{CodeNotAdministrator}},
		{"service", func(w *world) { w.self.Filtering = "stopped" }, []fault.Code{CodeFilterService}},
		{"windows 10", func(w *world) { w.self.Build = 19045 }, []fault.Code{CodeOldWindows}},
		{"arm", func(w *world) { w.self.Arch = "arm64" }, []fault.Code{sandbox.CodeArchitecture}},
		{"all of it", func(w *world) { w.self.Admin, w.self.Filtering, w.self.Build = false, "disabled", 1 }, []fault.Code{CodeOldWindows, CodeNotAdministrator, CodeFilterService}},
		{"probe exits otherwise", func(w *world) { w.probe = &does{code: 0xc0000142} }, []fault.Code{CodeProbe}},
		{"probe does not start", func(w *world) { w.probe = &does{refused: errors.New("access is denied")} }, []fault.Code{CodeProbe}},
		{"probe is not confined", func(w *world) { w.probe = &does{facts: func(t *tokenFacts) { t.LowBox = 3 }} }, []fault.Code{CodeProbe}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			c.bend(w)
			box := newSandbox(Options{Scratch: `C:\agent\runs`}, w)
			r, err := box.Preflight(context.Background())
			require.NoError(t, err)
			assert.Equal(t, c.want, codes(r.Missing))
			assert.Equal(t, c.want == nil, r.Level == sandbox.L3)
			assert.Len(t, r.Abilities, len(sandbox.Items()))
			for _, a := range r.Abilities {
				assert.Equal(t, c.want == nil, a.Strength == sandbox.Exact, a)
			}
			require.NoError(t, box.Close())
			assert.Empty(t, w.handles)
			assert.Empty(t, w.filters)
			if c.want != nil {
				_, err = newSandbox(Options{}, w).Run(context.Background(), testSpec(root(`C:\work`, rw)))
				assert.Error(t, err)
				assert.Empty(t, w.handles)
			}
		})
	}
}

// OBS-01: whatever call fails, the start is refused or whole, and nothing is left.
func TestPreflight_EveryCallFails(t *testing.T) {
	probe := newWorld()
	_, err := newSandbox(Options{}, probe).Preflight(context.Background())
	require.NoError(t, err)
	total := probe.calls
	require.Greater(t, total, 25)
	for at := 1; at <= total; at++ {
		w := newWorld()
		w.fail = failure{at: at}
		box := newSandbox(Options{}, w)
		r, err := box.Preflight(context.Background())
		require.NoError(t, err)
		if r.Level == sandbox.LevelNone {
			assert.NotEmpty(t, r.Missing, "call %d", at)
		}
		assert.Empty(t, w.layers, "call %d", at)
		assert.Empty(t, w.filters)
		for _, j := range w.jobs {
			assert.Zero(t, j.now)
		}
	}
}

// PRF-01: the baseline is what the system's own lists give.
func TestPreflight_MeasuresTheBaseline(t *testing.T) {
	w := newWorld()
	w.self.ProgramFiles = append(w.self.ProgramFiles, `C:\Program Files (x86)`, `C:\nowhere`)
	w.dir(`C:\Program Files (x86)`) // inherits nothing for AppContainers
	r, err := newSandbox(Options{}, w).Preflight(context.Background())
	require.NoError(t, err)
	assert.Equal(t, []rights.Root{root(`C:\Program Files`, rx), root(`C:\Windows`, rx)}, r.Baseline)
	assert.True(t, r.Confines(sandbox.NetworkRestricted))
	assert.NotEmpty(t, r.Notes)
}

// A console host that counts in the job is not taken from the program's own number.
func TestPreflight_CountsTheConsole(t *testing.T) {
	w := newWorld()
	w.probe = &does{code: probeCode, kids: 1}
	box := newSandbox(Options{}, w)
	_, err := box.Preflight(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 17, limitsOf(sandbox.Limits{Processes: 16, MemoryBytes: 1}, box.host).Processes)
}

// On another system nothing runs, and the reason is named.
func TestNew_ElsewhereRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this is Windows")
	}
	box := New(Options{})
	r, err := box.Preflight(context.Background())
	require.NoError(t, err)
	assert.Equal(t, sandbox.LevelNone, r.Level)
	assert.Equal(t, []fault.Code{sandbox.CodePlatform}, codes(r.Missing))
	box.form = func(sandbox.Spec) *fault.Error { return nil }
	_, err = box.Run(context.Background(), testSpec(root(`C:\work`, rw)))
	assert.Equal(t, sandbox.CodeUnavailable, fault.CodeOf(err))
	require.NoError(t, box.Close())
	_, err = box.Run(context.Background(), testSpec(root(`C:\work`, rw)))
	assert.Equal(t, sandbox.CodeClosed, fault.CodeOf(err))
}

// PRC-08: what the system says of the token decides, item by item.
func TestConfined(t *testing.T) {
	o := startOrder{Package: pkg, Capabilities: []sid{"a", "b"}}
	good := tokenFacts{AppContainer: true, Package: pkg, Capabilities: []sid{"b", "a"}, LowBox: 2, Low: true, InJob: true}
	assert.Empty(t, confined(good, o))
	for _, bend := range []func(*tokenFacts){
		func(t *tokenFacts) { t.AppContainer = false },
		func(t *tokenFacts) { t.Package = "S-1-15-2-1" },
		func(t *tokenFacts) { t.Capabilities = append(t.Capabilities, "c") },
		func(t *tokenFacts) { t.Capabilities = []sid{"a"} },
		func(t *tokenFacts) { t.LowBox = 3 },
		func(t *tokenFacts) { t.LowBox = 0 },
		func(t *tokenFacts) { t.Low = false },
		func(t *tokenFacts) { t.Admin = true },
		func(t *tokenFacts) { t.InJob = false },
	} {
		f := good
		bend(&f)
		assert.NotEmpty(t, confined(f, o))
	}
}
