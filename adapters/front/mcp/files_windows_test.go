package mcp_test

// openFiles is how many sockets a test takes at most.
func openFiles() int { return 2000 }
