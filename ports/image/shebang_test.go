package image_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// The first line as Linux takes it (execve(2)).
func TestShebang(t *testing.T) {
	for text, want := range map[string][2]string{
		"#!/bin/sh\n":              {"/bin/sh", ""},
		"#!/bin/sh":                {"/bin/sh", ""},
		"#! \t/bin/sh -e -u \r\nx": {"/bin/sh", "-e -u"},
		"#!/usr/bin/env\tpython3":  {"/usr/bin/env", "python3"},
		"#!/bin/sh\x00 x":          {"/bin/sh", ""},
		"#!\n/bin/sh":              {"", ""},
		"#!":                       {"", ""},
	} {
		interpreter, argument, ok := image.Shebang([]byte(text))
		assert.True(t, ok)
		assert.Equal(t, want, [2]string{interpreter, argument}, "%q", text)
	}
	_, _, ok := image.Shebang([]byte(" #!/bin/sh"))
	assert.False(t, ok)
}

// PRC-02: a plain name behind env is found as the sandbox's PATH finds it, in its order.
func TestInterpreters_EnvSearchesThePath(t *testing.T) {
	files := map[string]image.Identity{
		"/usr/bin/env":          {Path: "/usr/bin/coreutils", Regular: true, Executable: true, Format: image.FormatELF},
		"/usr/local/bin/python": {Path: "/usr/local/bin/python", Regular: true, Format: image.FormatELF}, // not executable
		"/usr/bin/python":       {Path: "/usr/bin/python3.11", Regular: true, Executable: true, Format: image.FormatELF},
		"/bin/python":           {Path: "/bin/python2", Regular: true, Executable: true, Format: image.FormatELF},
	}
	look := func(path string) (image.Identity, error) {
		if id, ok := files[path]; ok {
			return id, nil
		}
		return image.Identity{}, fault.New(image.CodeMissing, "path", path)
	}
	got, found, err := image.Interpreters(image.Identity{Interpreter: "/usr/bin/env", InterpreterArgument: "python"}, look)
	require.NoError(t, err)
	require.True(t, found)
	require.Len(t, got, 2)
	assert.Equal(t, "/usr/bin/coreutils", got[0].Path)
	assert.Equal(t, "/usr/bin/python3.11", got[1].Path)

	_, _, err = image.Interpreters(image.Identity{Interpreter: "/x"}, func(string) (image.Identity, error) { return image.Identity{}, errors.New("unreadable") })
	require.Error(t, err)
}
