//go:build race

package compiled_test

// raceDetector: it makes a sync.Pool forget at random, so allocations are not to be counted.
const raceDetector = true
