//go:build !race

package compiled_test

const raceDetector = false
