package stamp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/stamp"
)

// D2.
func TestParse_ReadsTheProfileAndNothingElse(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-07-15T00:00:00Z":             true,
		"2026-07-15t00:00:00z":             true,
		"0001-01-01T00:00:00+23:59":        true,
		"9999-12-31T23:59:59.999-23:59":    true,
		"2024-02-29T12:00:00+00:00":        true,
		"2000-02-29T00:00:00Z":             true,
		"2026-07-15T00:00:00.0000000001Z":  true,
		"2026-07-15T00:00:00.000Z":         true,
		"2026-07-15T00:00:00-00:01":        true,
		"":                                 false,
		"2026-07-15":                       false,
		"2026-07-15T00:00:00":              false,
		"2026-07-15T00:00:00.":             false,
		"2026-07-15T00:00:00.Z":            false,
		"2026-07-15T00:00:00,5Z":           false,
		"2026-07-15 00:00:00Z":             false,
		"2026-07-15T00:00:00 Z":            false,
		"2026-07-15T00:00:00ZZ":            false,
		"2026-07-15T00:00:00Z\n":           false,
		" 2026-07-15T00:00:00Z":            false,
		"2026-07-15T00:00:60Z":             false, // leap second
		"2016-12-31T23:59:60Z":             false,
		"2026-07-15T24:00:00Z":             false,
		"2026-07-15T00:60:00Z":             false,
		"0000-01-01T00:00:00Z":             false,
		"2026-00-15T00:00:00Z":             false,
		"2026-13-15T00:00:00Z":             false,
		"2026-07-00T00:00:00Z":             false,
		"2026-07-32T00:00:00Z":             false,
		"2026-06-31T00:00:00Z":             false,
		"2023-02-29T00:00:00Z":             false,
		"1900-02-29T00:00:00Z":             false,
		"2026-07-15T00:00:00-00:00":        false, // unknown local time
		"2026-07-15T00:00:00+24:00":        false,
		"2026-07-15T00:00:00+23:60":        false,
		"2026-07-15T00:00:00+0100":         false,
		"2026-07-15T00:00:00+01":           false,
		"2026-07-15T00:00:00+01:0":         false,
		"2026-07-15T00:00:00\u221201:00":   false, // not an ASCII minus
		"+2026-07-15T00:00:00Z":            false,
		"2026-07-15T00:00:0/Z":             false,
		"２026-07-15T00:00:00Z":             false,
		"20260715T000000Z":                 false,
		"not-a-timestamp":                  false,
		"2026-07-15T00:00:00.123\u0660Z":   false,
		"2026-07-15T00:00:00.5+01:00[UTC]": false,
	} {
		_, ok := stamp.Parse(text)
		assert.Equal(t, want, ok, "%q", text)
		assert.Equal(t, want, stamp.Valid([]byte(text)), "%q", text)
	}
}

// instants are compared, not texts, and no digit is lost.
func TestInstant_Compare(t *testing.T) {
	same := [][]string{
		{"2026-07-15T00:00:00Z", "2026-07-15T08:00:00+08:00", "2026-07-14t16:00:00.000-08:00", "2026-07-15T00:00:00.0z"},
		{"2026-07-15T00:00:00.0000000001Z"},
		{"2026-07-15T00:00:00.1Z", "2026-07-15T00:00:00.10000Z"},
		{"2026-07-15T00:00:00.10000000000000000001Z"},
		{"2026-07-15T00:00:00.9Z"},
		{"2026-07-15T00:00:01Z"},
		{"9999-12-31T23:59:59.9-23:59"},
	}
	for i, group := range same {
		for k, other := range same {
			for _, a := range group {
				for _, b := range other {
					x, ok := stamp.Parse(a)
					require.True(t, ok)
					y, ok := stamp.Parse(b)
					require.True(t, ok)
					want := 0
					if i < k {
						want = -1
					} else if i > k {
						want = 1
					}
					assert.Equal(t, want, x.Compare(y), "%s %s", a, b)
				}
			}
		}
	}
	assert.True(t, stamp.UTC("2026-07-15T00:00:00Z"))
	assert.False(t, stamp.UTC("2026-07-15T00:00:00z"))
	assert.False(t, stamp.UTC(""))
}

// The calendar is that of package time, from its first to its last day.
func TestParse_CountsAsTimeDoes(t *testing.T) {
	day := time.Date(1, 1, 1, 5, 6, 7, 0, time.UTC)
	var before stamp.Instant
	for n := 0; day.Year() < 10000; n, day = n+1, day.AddDate(0, 0, 17) {
		text := day.Format(time.RFC3339)
		at, ok := stamp.Parse(text)
		require.True(t, ok, text)
		shifted, ok := stamp.Parse(day.In(time.FixedZone("", -(n%1439+1)*60)).Format(time.RFC3339))
		if ok { // the year may have become 0
			require.Zero(t, at.Compare(shifted), text)
		}
		back, _ := stamp.Parse(time.Unix(day.Unix(), 0).UTC().Format(time.RFC3339))
		require.Zero(t, at.Compare(back), text)
		require.True(t, n == 0 || before.Compare(at) < 0, text)
		before = at
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2026-07-15T00:00:00.5+01:00")
	f.Add("2026-07-15t00:00:60z")
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := stamp.Parse(s)
		if ok != stamp.Valid(s) || !ok && at != (stamp.Instant{}) {
			t.Fatalf("%q: two verdicts or a result without one", s)
		}
		when, err := time.Parse(time.RFC3339, strings.ToUpper(s))
		if ok && err != nil {
			t.Fatalf("%q is no RFC 3339 timestamp: %v", s, err)
		}
		if ok && len(s) > 0 {
			again, _ := stamp.Parse(when.UTC().Format("2006-01-02T15:04:05Z"))
			if c := at.Compare(again); c < 0 {
				t.Fatalf("%q is before its own second", s)
			}
		}
	})
}
