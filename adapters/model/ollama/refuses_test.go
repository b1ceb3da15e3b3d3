package ollama

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A version that does not say so is not trusted to refuse what is too long.
func TestRefuses(t *testing.T) {
	for version, want := range map[string]bool{
		"0.24.0": true, "0.13.0": true, "v0.13.1": true, "1.0.0": true, "0.40.2-rc1": true,
		"0.12.6": false, "0.9.6": false, "0.0.0": false, "": false, "main": false, "-1.2": false,
	} {
		require.Equal(t, want, refuses(version), version)
	}
}
